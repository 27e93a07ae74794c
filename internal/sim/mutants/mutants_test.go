package mutants

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestEveryMutantHasItsPlaceInTheCode(t *testing.T) {
	if n := len(All()); n < 24 {
		t.Fatalf("%d mutants; 24 are the least", n)
	}
	for _, m := range All() {
		source, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(m.File)))
		if err != nil {
			t.Errorf("mutant %s: %v", m.Name, err)
			continue
		}
		changed, err := m.Apply(source)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, changed, 0); err != nil {
			t.Errorf("mutant %s: %v", m.Name, err)
		}
	}
}

func TestEveryMutantIsAnotherMistakeWithAPromise(t *testing.T) {
	names, changes := map[string]bool{}, map[[3]string]string{}
	word := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	for _, m := range All() {
		if !word.MatchString(m.Name) || names[m.Name] {
			t.Errorf("the name %q is taken, or is not words joined by hyphens", m.Name)
		}
		names[m.Name] = true
		if m.Promise == "" || m.Old == m.New {
			t.Errorf("mutant %s breaks no promise", m.Name)
		}
		change := [3]string{m.File, m.Old, m.New}
		if other := changes[change]; other != "" {
			t.Errorf("mutants %s and %s are one mistake", m.Name, other)
		}
		changes[change] = m.Name
	}
}

func TestAMutantNeedsItsPlaceOnce(t *testing.T) {
	m := Mutant{Name: "x", File: "f.go", Old: "a", New: "b"}
	for source, want := range map[string]string{"-a-": "-b-", "--": "", "a-a": ""} {
		got, err := m.Apply([]byte(source))
		if (err == nil) != (want != "") || string(got) != want {
			t.Errorf("Apply(%q) = %q, %v; want %q", source, got, err, want)
		}
	}
}
