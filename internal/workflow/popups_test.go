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
		"popups:\n  - window: {title: x}\nmasks: []\n":                  "popups.yaml:3:1: a file of rules for popups says nothing but popups",
		"popups:\n  - window: {title: x}\n    point:\n":                 "popups.yaml:3:5: point has no value",
		"popups:\n  - window: {title: x}\n    point: {}\n":              "popups.yaml:3:5: the corner of a window closes nothing",
		"popups:\n  - window: {title: x}\n    keys:\n":                  "popups.yaml:3:5: keys has no value",
		"": "popups.yaml:1:1: the file is empty: rules for popups are needed",
		"popups:\n" + strings.Repeat("  - window: {title: x}\n", 33): "popups.yaml:1:1: popups: must contain no more than 32 item",
	} {
		if n, err := load(content); !strings.Contains(err, want) || n != 0 || strings.Contains(err, "workflow") {
			t.Errorf("%q: %d rules, %s", content, n, err)
		}
	}
	if n, err := load("popups:\n" + strings.Repeat("  - window: {title: x}\n", 32)); n != 32 || err != "" {
		t.Errorf("as many as a workflow may have: %d rules, %s", n, err)
	}
	if _, err := LoadPopups(filepath.Join(t.TempDir(), "none.yaml")); err == nil || strings.Contains(err.Error(), "workflow") {
		t.Errorf("a file that is not there: %v", err)
	}
}
