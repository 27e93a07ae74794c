package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/reprise-rpa/reprise/"

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	GoFiles    []string
}

// rule says what a package may not import. Paths are relative to the module; a
// trailing slash means the folder and all below it.
type rule struct {
	name   string
	of     []string // packages that the rule is about
	except []string
	forbid []string
}

var rules = []rule{
	{name: "server never imports agent", of: []string{"server/"}, forbid: []string{"agent/"}},
	{name: "agent never imports server", of: []string{"agent/"}, forbid: []string{"server/"}},
	{
		name: "only demo, cases and sim see both sides", of: []string{"internal/", "interceptors/"},
		except: []string{"internal/demo/", "internal/stage/", "internal/cases/", "internal/sim/", "internal/bench/", "internal/archtest/"}, forbid: []string{"agent/", "server/"},
	},
	{
		name: "generated types stop at the edges of the server", of: []string{"server/"},
		except: []string{
			"server/session/", "server/control/", "server/journal/", "server/evidence/", "server/handlers/", "server/host/",
			"server/servertest/", "server/cmd/",
		},
		forbid: []string{"gen/"},
	},
	{
		// The helper's schema is private to both ends of one connection, and stops there.
		name: "generated types stop at the agent's link and at the helper's connection", of: []string{"agent/"},
		except: []string{"agent/link/", "agent/helper/", "agent/agenttest/", "agent/cmd/"}, forbid: []string{"gen/"},
	},
	{
		name: "the helper and the server share no schema", of: []string{"agent/helper/"}, forbid: []string{"gen/reprise/v1", "gen/reprise/journal/"},
	},
	{
		name: "the helper's schema is the helper's", of: []string{"agent/", "server/", "internal/", "interceptors/"},
		except: []string{"agent/helper/"}, forbid: []string{"gen/reprise/helper/"},
	},
	{name: "a benchmark sees the server alone", of: []string{"internal/bench/"}, forbid: []string{"agent/"}},
	{name: "only winapi calls Windows", of: []string{"agent/", "server/", "internal/"}, except: []string{"agent/winapi/"}, forbid: []string{"golang.org/x/sys/windows", "github.com/lxn/win"}},
}

func TestPackagesImportInTheAllowedDirections(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		for _, r := range rules {
			if !within(path, r.of) || within(path, r.except) {
				continue
			}
			for _, imported := range p.Imports {
				if within(strings.TrimPrefix(imported, module), r.forbid) {
					t.Errorf("%s imports %s: %s", path, imported, r.name)
				}
			}
		}
		for _, imported := range p.Imports {
			rel := strings.TrimPrefix(imported, module)
			if strings.Contains(rel, "/cmd/") && rel != imported && !strings.HasPrefix(rel, strings.SplitAfter(path, "/cmd/")[0]) {
				t.Errorf("%s imports %s: nothing imports a command", path, imported)
			}
			if strings.HasSuffix(rel, "test") && rel != imported && !strings.HasSuffix(path, "test") && !strings.HasPrefix(path, rel+"/") && !within(path, []string{"internal/cases/", "internal/demo/"}) {
				t.Errorf("%s imports %s: production imports no test package", path, imported)
			}
		}
	}
}

// The core decides and touches nothing.
func TestTheCoreImportsOnlyThePureStandardLibrary(t *testing.T) {
	impure := []string{"os", "net", "sync", "log", "syscall", "unsafe", "context", "io"}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if path != "server/replay" && path != "server/pending" {
			continue
		}
		for _, imported := range p.Imports {
			top, _, _ := strings.Cut(imported, "/")
			if strings.Contains(top, ".") || slices.Contains(impure, top) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}

func TestUnsafeIsInWinapiAlone(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !within(path, []string{"agent/winapi/", "gen/"}) && slices.Contains(p.Imports, "unsafe") {
			t.Errorf("%s imports unsafe", path)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, module+"gen/") && len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// A test that sleeps outside a bubble of synctest is slow on a good day and wrong
// on a bad one.
func TestOnlyTestsInABubbleSleep(t *testing.T) {
	bubbles := map[string]bool{}
	for _, file := range testFilesWith(t, `"testing/synctest"`) {
		bubbles[filepath.Dir(file)] = true
	}
	for _, file := range testFilesWith(t, `time\.Sleep(`) {
		if dir := filepath.Dir(file); !bubbles[dir] && dir != "internal/archtest" {
			t.Errorf("%s sleeps, and its package has no bubbles", file)
		}
	}
}

// testFilesWith returns the test files that hold a text.
func testFilesWith(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "grep", "-l", pattern, "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("git grep %s: %v", pattern, err)
	}
	return strings.Fields(string(out))
}

func within(path string, list []string) bool {
	return slices.ContainsFunc(list, func(l string) bool {
		return path == strings.TrimSuffix(l, "/") || strings.HasSuffix(l, "/") && strings.HasPrefix(path, l)
	})
}

// packages lists those of Linux and those of Windows: a package may import other things
// there.
func packages(t *testing.T) []pkg {
	t.Helper()
	return append(packagesOf(t, "linux"), packagesOf(t, "windows")...)
}

func packagesOf(t *testing.T, goos string) []pkg {
	t.Helper()
	// -e: what is for the other system alone has no files here.
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Doc,Imports,GoFiles", module+"...")
	list.Env = append(list.Environ(), "GOOS="+goos)
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 20 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}
