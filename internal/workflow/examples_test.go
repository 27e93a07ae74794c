package workflow

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// isTyping says whether an action types.
func isTyping(a *reprisev1.Action) bool { return a.GetType() != nil }

const examples = "../../examples/workflows"

func TestEveryExampleIsGood(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		if _, err := Load(path); err != nil {
			t.Error(err)
		}
	}
}

func TestTheDatabaseExampleIsTheFieldsWorkflow(t *testing.T) {
	f, err := Load(filepath.Join(examples, "linux_db.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, a := range f.Workflow.GetActions() {
		m := a.ProtoReflect()
		kinds = append(kinds, m.WhichOneof(m.Descriptor().Oneofs().ByName("kind")).TextName())
		if a.GetName() == "" || a.GetIntention() == "" {
			t.Errorf("a step without name or intention: %v", a)
		}
	}
	want := []string{"click", "click", "click", "wait_for_target", "click", "click", "click", "key_combo", "paste", "key_combo"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if len(f.Pictures) != 7 {
		t.Errorf("%d pictures, want 7", len(f.Pictures))
	}
	sql := f.Workflow.GetActions()[8].GetPaste().GetText()
	if n := strings.Count(sql, "\n"); n < 40 || !strings.HasSuffix(sql, "p.nom;\n") || !strings.Contains(sql, "Señor Núñez") {
		t.Errorf("the query has %d lines", n)
	}
}

// What the terminal example types is executed here by a shell, so that the file
// beside it is known to be what a terminal would be left with.
func TestTheTerminalExampleWritesWhatItsExpectationSays(t *testing.T) {
	f, err := Load(filepath.Join(examples, "x11_terminal.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(f.Workflow.GetActions(), isTyping)
	command := f.Workflow.GetActions()[at].GetType().GetText()
	if strings.ContainsAny(command, "\n\t") {
		t.Errorf("Enter is a step of its own: %q", command)
	}
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	shell.Dir = t.TempDir()
	title, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(title) != "\x1b]0;reprise demo: written\a" {
		t.Errorf("the shell says %q", title)
	}
	got, err := os.ReadFile(filepath.Join(shell.Dir, "reprise-demo.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(examples, "x11_terminal.expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
