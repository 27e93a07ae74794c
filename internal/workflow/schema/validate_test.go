//go:build schema

package schema

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	wf "github.com/reprise-rpa/reprise/internal/workflow"
)

const examples = "../../../examples/workflows"

// valid wraps the lines of one action, indented by four.
func valid(action string) string { return "name: w\nactions:\n  - " + action + "\n" }

// place is a target that says where.
const place = "\n    target: {point: {x: 0.5, y: 1}}"

// good are files that an author may write; every spelling that is taken.
var good = []string{
	valid("screenshot:"), valid("screenshot: {}"), valid("click:" + place), valid("click: {button: RIGHT, count: 3, modifiers: [ctrl]}" + place),
	valid("click: {button: MOUSE_BUTTON_MIDDLE, activates_tab: true}" + place), valid("move:" + place), valid("pauseForHuman:"),
	valid("drag: {to: {windowTitle: W}, button: left}" + place), valid("type: {text: a, clearFirst: true}"), valid("type: {secret: s}"),
	valid("key_combo: {keys: [Ctrl, F12, ß, ' ']}"), valid("scroll: {vertical: -3}" + place), valid("wait: {duration: 1h30m}"),
	valid("wait: {duration: 1.5s}\n    timeout: 11500ms\n    onGiveUp: continue\n    expectedEffect: none"), valid("screenshot:\n    expected_effect: NONE"),
	valid("waitForTarget:\n    target: {windowTitle: w, point: {x: 0.5, y: 1}}"), valid("focusWindow: {window: {title: w}}\n    expectedEffect: required"),
	valid("waitForWindow: {window: {title: '^a', titleMatch: regexp}}"), valid("focusWindow: {window: {className: X}}"),
	valid("screenshot:\n    retryPolicy: {maxRetries: 0, retryExecuted: true, onExhausted: fail}"),
	valid("screenshot:\n    safetyChecks: [{id: a, label: b, required: true}]"),
	valid("waitForTarget:\n    target: {anchorImage: {path: a.png, minScore: 1, offset: {x: 0, y: 1}}, resolveOrder: [template, OCR]}"),
	valid("condition: {expression: a}"), valid("decision: {prompt: a}"), valid("extractText: {variable: a}"), valid("pasteAndExecute: {text: a}"),
	"name: w\nlabels: {a: b}\nmasks: [{monitor: 1, left: 0.1, top: 0, width: 1, height: 0.5}]\nmonitorResolution: {index: 0, width: 10}\nactions: [{screenshot: }]\n",
	`{"name": "as JSON", "actions": [{"paste": {"text": "x"}}]}`,
}

// bad are files that nobody may write.
var bad = []string{
	"name: [w\n", "- a\n", "name: w\n", "name: w\nactions: []\n", "actions: [{screenshot: }]\n", "name: \"\"\nactions: [{screenshot: }]\n",
	"name: 5\nactions: [{screenshot: }]\n", "nam: w\nname: w\nactions: [{screenshot: }]\n", "name: w\nlabels: {a: 5}\nactions: [{screenshot: }]\n",
	"name: w\nlabels: {\"\": a}\nactions: [{screenshot: }]\n", "name: " + strings.Repeat("n", 201) + "\nactions: [{screenshot: }]\n",
	"name: w\nmasks: [{width: 2, height: 1}]\nactions: [{screenshot: }]\n", "name: w\nmasks: [{width: 0.5}]\nactions: [{screenshot: }]\n",
	"name: w\nmasks: [{width: 0, height: 1}]\nactions: [{screenshot: }]\n",
	valid("klick:"), valid("name: a"), valid("screenshot:\n    move:" + place), valid("click:"), valid("click: {count: 4}" + place),
	valid("click: {count: two}" + place), valid("click: {button: rihgt}" + place), valid("click: {button: 2}" + place),
	valid("click: {modifiers: [hyper]}" + place), valid("move:\n    target: {point: {x: 1.5}}"), valid("drag: {}" + place), valid("type:"),
	valid("type: {text: a, secret: b}"), valid("type: {text: \"\"}"), valid("keyCombo: {keys: []}"), valid("keyCombo: {keys: [entr]}"),
	valid("keyCombo: {keys: [f25]}"), valid("wait:"), valid("wait: {duration: 5}"), valid("wait: {duration: soon}"), valid("wait: {duration: -1s}"),
	valid("focusWindow: {window: {}}"), valid("waitForTarget:\n    target: {anchorImage: {minScore: 0.9}}"), valid("screenshot:\n    intention:"),
	valid("waitForTarget:\n    target: {anchorImage: {sha256: beef}}"), valid("waitForTarget:\n    target: {windowTitle: w, resolveOrder: [ocr, ocr]}"),
	valid("screenshot:\n    successStrict: maybe"), valid("screenshot:\n    retryPolicy: {maxRetries: 101}"), valid("screenshot:\n    onGiveUp: pray"),
	valid("screenshot:\n    safetyChecks: [{label: b}]"), valid("screenshot:\n    target: here"),
	valid("waitForTarget:" + place), valid("wait: {duration: 1s}\n    expectedEffect: required"), valid("pauseForHuman:\n    expectedEffect: CHANGE"),
	valid("screenshot:\n    expected_effect: EXPECTED_EFFECT_REQUIRED"), valid("wait_for_window: {window: {title: w}}\n    expectedEffect: required"),
	valid("wait_for_target:\n    target: {point: {x: 1}}"),
}

// verdicts asks a validator that is not ours what it says of each file.
func verdicts(t *testing.T, files []string) map[string]bool {
	t.Helper()
	args := append([]string{"tool", "-modfile=../../../tools/jsonschema/go.mod", "jv", schemaFile}, files...)
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	said := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^instance (.*): (ok|failed)$`).FindAllStringSubmatch(string(out), -1) {
		said[m[1]] = m[2] == "ok"
	}
	if len(said) != len(files) {
		t.Fatalf("%v: %d verdicts on %d files:\n%s", err, len(said), len(files), out)
	}
	return said
}

func write(t *testing.T, contents []string) []string {
	t.Helper()
	dir := t.TempDir()
	files := make([]string, len(contents))
	for i, content := range contents {
		files[i] = filepath.Join(dir, fmt.Sprintf("%02d.yaml", i))
		if err := os.WriteFile(files[i], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestAnEditorTakesWhatValidateTakes(t *testing.T) {
	files := write(t, good)
	paths, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	said := verdicts(t, append(files, paths...))
	for _, path := range paths {
		if !said[path] {
			t.Errorf("the schema refuses %s", path)
		}
	}
	for i, content := range good {
		if !said[files[i]] {
			t.Errorf("the schema refuses\n%s", content)
		}
		if _, err := wf.Parse("w.yaml", []byte(content)); err != nil {
			t.Errorf("validate refuses\n%s%v", content, err)
		}
	}
}

func TestAnEditorRefusesWhatValidateRefuses(t *testing.T) {
	files := write(t, bad)
	said := verdicts(t, files)
	for i, content := range bad {
		if said[files[i]] {
			t.Errorf("the schema takes\n%s", content)
		}
		if _, err := wf.Parse("w.yaml", []byte(content)); err == nil {
			t.Errorf("validate takes\n%s", content)
		}
	}
}
