package workflow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
)

// Whatever the bytes are, they are a workflow that reads back the same, or
// faults that lie in the file, in its order.
func FuzzWorkflow(f *testing.F) {
	for _, seed := range []string{
		"", "name: w\nactions:\n  - screenshot: {}\n", "name: w\nlabels: {a: b}\nactions: [{wait: {duration: 1.5s}}]",
		"a: &x [*x]", "? a\n: b\n", "<<: {a: b}", "name: |2-\n   x\n", "\ufeffname: 'it''s'\r\n", "- - - -", "{{[[", "!!x y", "%YAML 1.2\n---\n",
		valid("click: {count: 4}"), valid("type: {text: \"\\ud83d\\ude00\"}"), "name:\tw", "--- >\n a\n...\n",
		"name: w\nmasks: [{width: 2, height: wide}]\nactions: [{klick: }]",
	} {
		f.Add([]byte(seed))
	}
	paths, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse("w.yaml", data)
		if err != nil {
			insideFile(t, data, err)
			return
		}
		text, err := protojson.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("w.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, again, protocmp.Transform()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// insideFile fails unless err is faults that lie in the file: at a character of it, or
// right after the last one of a line.
func insideFile(t *testing.T, data []byte, err error) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("no faults, but %v", err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n"), "\n")
	last := Position{}
	for _, f := range faults {
		switch {
		case f.Message == "":
			t.Errorf("a fault without message: %+v", f)
		case f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > utf8.RuneCountInString(lines[f.Line-1])+1:
			t.Errorf("a fault outside of the file: %v", f)
		case f.Line < last.Line || f.Line == last.Line && f.Column < last.Column:
			t.Errorf("%v comes after line %d", f, last.Line)
		}
		last = f.Position
	}
}
