package workflow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warnings loads a file of one action and returns what it is warned of.
func warnings(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range f.Warnings {
		lines = append(lines, strings.TrimPrefix(w.String(), filepath.Dir(path)+"/"))
	}
	return strings.Join(lines, "\n")
}

func TestWhatNobodySupportsYetIsWarnedOfAtItsPlace(t *testing.T) {
	digest := "anchorImage: {sha256: " + strings.Repeat("ab", 32) + "}"
	const (
		point     = "point: {x: 0.5, y: 0.5}"
		orPoint   = " is not supported yet: no agent finds the target; give it an anchorImage, a uiaTarget or a point"
		noPoint   = " is not supported yet: no agent finds the target; give it an anchorImage or a uiaTarget"
		leftOut   = "resolveOrder leaves out template and uia: no agent finds the target in another way yet"
		refused   = " is not supported yet: the server refuses a replay with it"
		atTarget  = "w.yaml:4:5: warning: "
		atTheKind = "w.yaml:3:5: warning: "
	)
	target := func(fields string) string { return valid("click: {}\n    target: {" + fields + "}") }
	tests := []struct{ name, file, want string }{
		{"reading text", valid("extractText: {variable: v}"), atTheKind + "extractText" + refused},
		{"a decision", valid("decision: {prompt: p}"), atTheKind + "decision" + refused},
		{"pasting by the server", valid("pasteAndExecute: {text: t}"), atTheKind + "pasteAndExecute" + refused},
		{"a condition, second", valid("name: a\n    condition: {expression: e}"), "w.yaml:4:5: warning: condition" + refused},
		{"a kind that looks for nothing here", valid("decision: {prompt: p}\n    target: {byText: a}"), atTheKind + "decision" + refused},
		{"a pause", valid("pauseForHuman: {message: m}"), ""},

		{"text alone", target("byText: a"), atTarget + "byText" + orPoint},
		{"a description alone", target("vlmDescription: a"), atTarget + "vlmDescription" + orPoint},
		{"an element", target("uiaTarget: {name: a}"), ""},
		{"an element that is left out", target("uiaTarget: {name: a}, resolveOrder: [ocr]"), atTarget + leftOut},
		{"both", target("byText: a, vlmDescription: b"), atTarget + "byText, vlmDescription" + orPoint},
		{"both, and an element", target("byText: a, vlmDescription: b, uiaTarget: {name: c}"), ""},
		{"a place on a picture", target("picturePoint: {x: 1, y: 1, scale: 1, geometry: g}"), ""},
		{"text in a window", target("byText: a, windowTitle: w"), atTarget + "byText" + orPoint},
		{"text and a point", target("byText: a, " + point), ""},
		{"text and a picture", target("byText: a, " + digest), ""},
		{"a picture", target(digest), ""},
		{"a window", target("windowTitle: w"), ""},
		{"a point", target(point), ""},
		{"a picture that is left out", target(digest + ", resolveOrder: [ocr]"), atTarget + leftOut},
		{"a picture that is left out, and text", target(digest + ", byText: a, windowTitle: w, resolveOrder: [ocr]"), atTarget + leftOut},
		{"a picture that is left out, in a window", target(digest + ", windowTitle: w, resolveOrder: [ocr]"), ""},
		{"text that is left out, in a window", target("byText: a, windowTitle: w, resolveOrder: [template]"), ""},

		{"waiting for text at a point", valid("waitForTarget:\n    target: {byText: a, " + point + "}"), atTarget + "byText" + noPoint},
		{"waiting for a window", valid("waitForTarget:\n    target: {windowTitle: w, " + point + "}"), ""},
		{"typing at text", valid("type: {text: t}\n    target: {byText: a}"), atTarget + "byText" + orPoint},
		{"typing where the focus is", valid("type: {text: t}"), ""},
		{"a target that its kind ignores", valid("screenshot:\n    target: {byText: a}"), ""},
		{"dragging from text to text", valid("drag: {to: {byText: b}}\n    target: {byText: a}"),
			"w.yaml:3:12: warning: byText" + orPoint + "\n" + atTarget + "byText" + orPoint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, warnings(t, tt.file)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWarningsAreBoundedAsFaultsAre(t *testing.T) {
	got := warnings(t, "name: w\nactions:\n"+strings.Repeat("  - {click: {}, target: {byText: secret}}\n", 2*maxFaults))
	if n := strings.Count(got, "\n") + 1; n != maxFaults {
		t.Errorf("%d warnings, want %d", n, maxFaults)
	}
	if strings.Contains(got, "secret") {
		t.Errorf("content is repeated: %s", got)
	}
}

func TestNoExampleAsksForWhatNobodySupports(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		f, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range f.Warnings {
			t.Error(w)
		}
	}
}
