package docscheck

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const root = "../.."

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// names lists what matches in a text, each once, in order.
func names(re, text string) []string {
	all := regexp.MustCompile(re).FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryMetricHasAMeaningAndEveryMeaningAMetric(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "server/telemetry/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var source strings.Builder
	for _, file := range files {
		if rel, err := filepath.Rel(root, file); err == nil && !strings.HasSuffix(file, "_test.go") {
			source.WriteString(text(t, rel))
		}
	}
	made := names(`"rpa_[a-z_]+"`, source.String())
	if len(made) < 15 {
		t.Fatalf("only %d metrics in server/telemetry", len(made))
	}
	for i := range made {
		made[i] = strings.Trim(made[i], `"`)
	}
	told := names(`rpa_[a-z_]+`, text(t, "docs/operators.md"))
	for _, name := range made {
		if !slices.Contains(told, name) {
			t.Errorf("docs/operators.md does not say what %s is", name)
		}
	}
	for _, name := range told {
		if !slices.Contains(made, name) {
			t.Errorf("docs/operators.md tells of %s, which nobody makes", name)
		}
	}
}

func TestTheServicePageNamesEveryCall(t *testing.T) {
	page := text(t, "docs/services.md")
	for _, file := range []protoreflect.FileDescriptor{
		reprisev1.File_reprise_v1_replay_service_proto, reprisev1.File_reprise_v1_machine_service_proto,
		reprisev1.File_reprise_v1_evidence_service_proto, reprisev1.File_reprise_v1_agent_service_proto,
	} {
		for s := range file.Services().Len() {
			service := file.Services().Get(s)
			for m := range service.Methods().Len() {
				if name := string(service.Methods().Get(m).Name()); !strings.Contains(page, "`"+name+"`") {
					t.Errorf("docs/services.md does not name %s.%s", service.Name(), name)
				}
			}
		}
	}
}

// A page that nothing leads to is not read.
func TestEveryPageIsReachedFromTheReadme(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	readme := text(t, "README.md")
	for _, page := range pages {
		if name := "docs/" + filepath.Base(page); !strings.Contains(readme, "]("+name) {
			t.Errorf("README.md does not lead to %s", name)
		}
	}
}

// A room that the map leaves out is not found.
func TestTheMapNamesEveryRoom(t *testing.T) {
	readme := text(t, "README.md")
	for _, pattern := range []string{"server/*", "agent/*", "internal/*", "interceptors", "tools", "docs", "proto", "gen"} {
		rooms, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(rooms) == 0 {
			t.Fatalf("%s: %d rooms, %v", pattern, len(rooms), err)
		}
		for _, room := range rooms {
			name, err := filepath.Rel(root, room)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(readme, "`"+name+"`") && !strings.Contains(readme, "`"+name+"/`") {
				t.Errorf("README.md does not say what %s is", name)
			}
		}
	}
	examples, err := filepath.Glob(filepath.Join(root, "examples/*"))
	if err != nil || len(examples) < 3 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, example := range examples {
		if name := "examples/" + filepath.Base(example); !strings.Contains(text(t, "docs/services.md")+text(t, "docs/workflows.md"), name) {
			t.Errorf("no page leads to %s", name)
		}
	}
}

func TestEveryTypeOfOutputIsListedForPrograms(t *testing.T) {
	_, comment, found := strings.Cut(text(t, "server/cmd/reprisectl/cli/lines.go"), "// line is one object")
	comment, _, ended := strings.Cut(comment, "type line struct")
	_, section, listed := strings.Cut(text(t, "docs/operators.md"), "\n## Output for programs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found || !ended || !listed {
		t.Fatal("the types, or the place where they are listed, are not found")
	}
	types := regexp.MustCompile(`(?m)^//\t([a-z_]+) `).FindAllStringSubmatch(comment, -1)
	for _, m := range types {
		if !strings.Contains(section, "`"+m[1]+"`") {
			t.Errorf("docs/operators.md does not list the type %s", m[1])
		}
	}
	if len(types) < 15 {
		t.Errorf("only %d types were found", len(types))
	}
}

// Pages that name a reason name one that the page of errors explains.
func TestEveryReasonThatAPageNamesIsExplained(t *testing.T) {
	explained := names("(?m)^\\| `[A-Z_]+`", text(t, "docs/errors.md"))
	reason := regexp.MustCompile("reason `([A-Z_]+)`")
	for _, page := range []string{"docs/services.md", "docs/operators.md", "docs/deploy.md", "docs/grpcurl.md"} {
		for _, m := range reason.FindAllStringSubmatch(text(t, page), -1) {
			if !slices.Contains(explained, "| `"+m[1]+"`") {
				t.Errorf("%s names the reason %s, which docs/errors.md does not explain", page, m[1])
			}
		}
	}
	if len(explained) < 20 {
		t.Errorf("only %d reasons are explained", len(explained))
	}
}
