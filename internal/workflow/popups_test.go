package workflow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileOfPopupsHoldsTheRulesOfOneMachine(t *testing.T) {
	load := func(content string) (int, string) {
		path := filepath.Join(t.TempDir(), "popups.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		rules, err := LoadPopups(path)
		if err != nil {
			return len(rules), err.Error()
		}
		return len(rules), ""
	}
	if n, err := load("popups:\n  - window: {title: Update}\n  - window: {process: toast.exe}\n    point: {x: 0.9, y: 0.1}\n"); n != 2 || err != "" {
		t.Errorf("%d rules, %s", n, err)
	}
	for content, want := range map[string]string{
		"popups:\n  - window: {}\n":                                     "popups.yaml:2",
		"popups:\n  - window: {title: x}\n    keys: {keys: [banana]}\n": "banana",
		"popups:\n  - window: {title: (, titleMatch: regexp}\n":         "regular expression",
		"popups:\n  - window: {title: x}\nactions:\n  - screenshot:\n":  "nothing but popups",
		"popups:\n  - windw: {title: x}\n":                              "windw",
	} {
		if _, err := load(content); !strings.Contains(err, want) {
			t.Errorf("%q: %s", content, err)
		}
	}
	if _, err := LoadPopups(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there is read")
	}
}
