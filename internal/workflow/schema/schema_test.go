package schema

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var update = flag.Bool("update", false, "write docs/workflow.schema.json and the tables of docs/workflows.md")

const (
	sourceFile = "../../../gen/reprise/v1/action.pb.go"
	schemaFile = "../../../docs/workflow.schema.json"
	pageFile   = "../../../docs/workflows.md"
	begin      = "<!-- written by go test ./internal/workflow/schema -update -->\n"
	end        = "<!-- end -->\n"
)

func source(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(sourceFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same compares a file with what the code gives, or writes it.
func same(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run `go test ./internal/workflow/schema -update`:\n%s", diff)
	}
}

func TestTheJSONSchemaIsWhatTheSchemaGives(t *testing.T) {
	want, err := JSON(source(t))
	if err != nil {
		t.Fatal(err)
	}
	same(t, schemaFile, string(want))
}

func TestThePagesTablesAreWhatTheSchemaGives(t *testing.T) {
	tables, err := Markdown(source(t))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the tables", pageFile)
	}
	same(t, pageFile, before+begin+tables+"\n"+end+after)
}

// A field without a comment would stand in the tables without a meaning.
func TestEveryFieldAndValueHasAMeaning(t *testing.T) {
	told, err := read(source(t))
	if err != nil {
		t.Fatal(err)
	}
	messages, enums := reachable(workflow())
	for _, m := range messages {
		for _, f := range fieldsOf(m.Fields()) {
			if told[string(m.Name())+"."+f.TextName()] == "" {
				t.Errorf("%s has no comment", f.FullName())
			}
		}
	}
	for _, e := range enums {
		for i := range e.Values().Len() {
			if v := e.Values().Get(i); told[string(v.Name())] == "" {
				t.Errorf("%s has no comment", v.FullName())
			}
		}
	}
	if len(messages) < 20 || len(enums) < 6 {
		t.Errorf("%d messages and %d enums are reached", len(messages), len(enums))
	}
}

func TestAMessageIsNamedOnceAndEveryReferenceIsThere(t *testing.T) {
	text, err := JSON(source(t))
	if err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), `"#/definitions/`) {
		name, _, isRef := strings.Cut(part, `"`)
		if isRef && !strings.HasPrefix(part, "{") && tree.Definitions[name] == nil {
			t.Errorf("%s is referred to and not defined", name)
		}
	}
}

// What the schema says in words stands in tables here; they name its fields.
func TestTheRulesInWordsNameFieldsOfTheSchema(t *testing.T) {
	messages, _ := reachable(workflow())
	fields := map[protoreflect.FullName]bool{}
	for _, m := range messages {
		for _, f := range fieldsOf(m.Fields()) {
			fields[f.FullName()] = true
		}
	}
	for name := range needsPlace {
		if !fields[name] {
			t.Errorf("no field %s", name)
		}
	}
	for _, name := range toBeSeen {
		if full := "reprise.v1.Target." + protoreflect.FullName(name); !fields[full] {
			t.Errorf("no field %s", full)
		}
	}
	for message, names := range oneNeeded {
		for _, name := range names {
			if full := protoreflect.FullName(fmt.Sprintf("%s.%s", message, name)); !fields[full] {
				t.Errorf("no field %s", full)
			}
		}
	}
}
