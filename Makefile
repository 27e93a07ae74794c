# Everything a developer runs. `make help` lists it.
#
# make demo    the main job, end to end, with faults on the way
# make test    all tests, with the race detector; needs Go alone
# make check   format, vet, lint, schema, generated code and tables
SHELL       := /bin/bash -o pipefail
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN     := bin
DESKTOP ?= virtual
FUZZTIME ?= 30s
SEEDS    ?= 1000
SEED     ?=
BUF     := go tool -modfile=tools/go.mod buf
LINT    := go tool -modfile=tools/lint/go.mod golangci-lint
GO      := go
PROGRAMS := ./server/cmd/reprised ./server/cmd/reprisectl ./agent/cmd/reprise-agent

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 14

.PHONY: build
build: ## build the programs into bin/
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/ $(PROGRAMS)

.PHONY: demo
demo: ## run a workflow end to end, with faults on the way (DESKTOP=x11, DESKTOP=windows: under Wine)
	@tools/demo $(DESKTOP)

.PHONY: demo-can-fail
demo-can-fail: ## the demo with an agent that forgets what it did; it must see that (exit code 3)
	@tools/demo virtual --without-dedup; code=$$?; \
	if [ $$code = 3 ]; then echo "demo-can-fail: as it should, the demo fails with an agent without memory"; \
	else echo "demo-can-fail: the demo ended with $$code, and should have seen a doubled effect: 3" >&2; exit 1; fi

.PHONY: test
test: ## all tests with -race
	$(GO) test -race -timeout 60m ./...
	$(GO) test -race -timeout 60m -tags faultpoint ./internal/faultpoint/... ./agent/driver/virtualdesktop/... ./agent/driver/windesktop/... ./agent/runner/...

.PHONY: test-x11
test-x11: ## the driver suite and doctor on a real X display (installs xvfb and xterm where missing)
	@tools/apt-install Xvfb=xvfb xterm=xterm
	$(GO) test -race -timeout 60m -tags x11,faultpoint ./agent/driver/x11desktop/... ./agent/doctor

.PHONY: test-windows
test-windows: ## the tests of the Windows packages as Windows programs, under Wine (installed where missing)
	@tools/test-windows

.PHONY: test-service
test-service: ## the agent as a Windows service, under Wine's service control manager
	@tools/test-service

.PHONY: cases
cases: ## the contract's cases, one line each (DESKTOP=windows: those of the Windows agent, under Wine)
	@tools/cases $(DESKTOP)

.PHONY: sim
sim: ## SEEDS (1000) drawn plans of faults against the cores; SEED=n plays one and tells its story
	@$(GO) run ./internal/sim/cmd/sim $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

.PHONY: mutants
mutants: ## deliberate mistakes in the cores, each of which the simulation must catch
	@tools/mutants

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (30s), one line each
	@FUZZTIME=$(FUZZTIME) tools/fuzz

.PHONY: docs-check
docs-check: ## run the commands of the pages, read their snippets, follow their links
	@tools/docs-check

.PHONY: bench
bench: ## what must be fast, as ratios to what is measured in the same run, with a profile
	@tools/bench

.PHONY: bench-vision
bench-vision: ## finding a picture, against OpenCV on the same pictures (installed where missing)
	@tools/bench-vision

.PHONY: bench-go
bench-go: ## the packages' own benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: fmt
fmt: .protovalidate ## format Go and schema
	gofmt -w $$(git ls-files '*.go' ':!gen')
	$(BUF) format -w

.PHONY: generate
generate: .protovalidate ## write gen/ and the tables in the documents
	$(BUF) generate
	$(GO) test ./server/replay -run TestStateTable -update
	$(GO) test ./server/settings -update
	$(GO) test ./internal/workflow/schema -update

.PHONY: check
check: .protovalidate ## format, vet, lint, schema, generated code and tables
	@tools/check

.PHONY: breaking
breaking: .protovalidate ## the schema against the last tag, else against the parent commit
	@tools/breaking
	@tools/breaking-selftest

# protovalidate's schema, out of the module cache: nothing is asked of a registry.
.protovalidate: tools/protovalidate
	@tools/protovalidate $@

.PHONY: dist
dist: ## what is shipped for Windows, signed and verified, in dist/ (VERSION=v1.2.3; installs wixl, osslsigncode where missing)
	@tools/dist/build $(VERSION)

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN) .protovalidate .demo dist
