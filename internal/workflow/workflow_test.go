package workflow

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// valid wraps the lines of one action, indented by four.
func valid(action string) string { return "name: w\nactions:\n  - " + action + "\n" }

func TestSpellingsThatMeanTheSame(t *testing.T) {
	at := &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 1}}
	right := &reprisev1.Action{Target: at, Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{Button: reprisev1.MouseButton_MOUSE_BUTTON_RIGHT}}}
	text := &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: "é\n a\n"}, ClearFirst: true}}}
	wait := func(d time.Duration) *reprisev1.Action {
		return &reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(d)}}}
	}
	shot := &reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}
	tests := []struct {
		name, action string
		want         *reprisev1.Action
	}{
		{"an enum by its full name", "click: {button: MOUSE_BUTTON_RIGHT}\n    target: {point: {x: 0.5, y: 1}}", right},
		{"an enum by its short name", "click: {button: right}\n    target: {point: {x: 0.5, y: 1}}", right},
		{"an enum by its short name, shouted", "click: {button: RIGHT}\n    target: {point: {x: 5e-1, y: 1.0}}", right},
		{"a text as a block, a field by its JSON name", "type:\n      text: |\n        é\n         a\n      clearFirst: true", text},
		{"a text in quotes, a field by its schema name", `type: {text: "\u00e9\n a\n", clear_first: true}`, text},
		{"a duration with a fraction", "wait: {duration: 1.5s}", wait(1500 * time.Millisecond)},
		{"a duration in milliseconds", "wait: {duration: 250ms}", wait(250 * time.Millisecond)},
		{"a duration in minutes", "wait: {duration: 2m}", wait(2 * time.Minute)},
		{"an empty kind as JSON has it", "screenshot: {}", shot},
		{"an empty kind as a bare key", "screenshot:", shot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse("w.yaml", []byte(valid(tt.action)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.GetActions()[0], protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLineEndsAndByteOrderMarkDoNotChangeAWorkflow(t *testing.T) {
	plain := "name: w\nactions:\n  - type:\n      text: |\n        select 1\n        from t\n"
	want, err := Parse("w.yaml", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("w.yaml", []byte("\ufeff"+strings.ReplaceAll(plain, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestEachFaultNamesItsPlace(t *testing.T) {
	click := "click: {}\n    target: {point: {x: 0.5, y: 0.5}}\n    "
	const one, somewhere, shot = "actions: [{screenshot: }]\n", "\n    target: {point: {}}", "\n    screenshot:"
	tests := []struct{ name, file, want string }{
		{"syntax", "name: [w\n", "1:7: not YAML: sequence end token ']' not found"},
		{"nothing", "# only a comment\n", "1:1: the file is empty: a workflow is needed"},
		{"a list as root", "- a\n", "1:1: a mapping of fields is needed, found a list"},
		{"two documents", "name: w\n---\nname: v\n", "2:1: a second document: a file holds one"},
		{"nested too deep", "name: " + strings.Repeat("[", 65), "1:71: nested too deep"},
		{"no UTF-8", "name: w\n# caf\xe9\n", "2:6: not YAML: not a character of UTF-8, or a control character; write special characters as escapes in double quotes"},
		{"a control character", "name: \"a\x00\"\n", "1:9: not YAML: not a character of UTF-8, or a control character; write special characters as escapes in double quotes"},
		{"an unknown field", valid("klick: {}"), `3:5: unknown field "klick"; click is meant?`},
		{"an unknown field unlike any", valid("xyzzy: {}"), `3:5: unknown field "xyzzy"`},
		{"a number for a text", "name: 5\n" + one, "1:7: a text is needed, found a number; put it in quotes if it is one"},
		{"a mapping for a text", "name: {a: b}\n" + one, "1:7: a text is needed, found a mapping"},
		{"a text for a number", valid("click: {count: two}" + somewhere), "3:20: a whole number from -2147483648 to 2147483647 is needed, found a text"},
		{"a number in quotes", valid(`click: {count: "2"}` + somewhere), "3:20: a whole number from -2147483648 to 2147483647 is needed, found a text"},
		{"a number that does not fit", valid("click: {count: 3000000000}" + somewhere), "3:20: a whole number from -2147483648 to 2147483647 is needed, found a number"},
		{"a hexadecimal number", valid("click: {count: 0x2}" + somewhere), "3:20: a whole number from -2147483648 to 2147483647 is needed, found a number"},
		{"no number", valid("target: {point: {x: .nan}}" + shot), "3:25: a number is needed, found a number"},
		{"a text for a truth", valid("successStrict: yes" + shot), "3:20: true or false is needed, found a text"},
		{"a scalar for a list", valid("keyCombo: {keys: f11}"), "3:22: a list is needed, found a text"},
		{"a scalar for a message", valid("target: here" + shot), "3:13: a mapping of fields is needed, found a text"},
		{"a bad enum", valid("click: {button: rihgt}" + somewhere), `3:21: "rihgt" is none of left, right, middle`},
		{"a number for an enum", valid("click: {button: 2}" + somewhere), "3:21: one of left, right, middle is needed, found a number"},
		{"a bad duration", valid("wait: {duration: 5 seconds}"), "3:22: a duration such as 1.5s, 500ms or 2m is needed"},
		{"a number for a duration", valid("wait: {duration: 5}"), "3:22: a duration such as 1.5s, 500ms or 2m is needed"},
		{"a key without value", valid(click + "intention:"), "5:5: intention has no value: give one or leave the line out"},
		{"a label without value", "name: w\nlabels: {a: }\n" + one, "2:12: a text is needed, found nothing"},
		{"a key that is no text", "name: w\nlabels: {1: a}\n" + one, "2:10: a plain name is needed as key; put it in quotes if it is one"},
		{"both names of a field", valid("successStrict: false\n    success_strict: false" + shot), "4:5: successStrict is given twice"},
		{"a choice without value that is no kind", "name: w\npopups:\n  - window: {title: x}\n    point:\n" + one, "4:5: point has no value: give one or leave the line out"},
		{"two kinds", valid("click: {}\n    move: {}" + somewhere), "4:5: click and move exclude each other"},
		{"a YAML anchor", valid("target: &here {}" + shot), "3:13: a mapping of fields is needed, and YAML anchors are not taken"},
		{"a YAML alias", valid("name: *here" + shot), "3:11: a text is needed, and YAML aliases are not taken"},
		{"a YAML tag", "name: !!str 5\n" + one, "1:7: a text is needed, and YAML tags are not taken"},

		{"no name", "actions:\n  - screenshot: {}\n", "1:1: name: must be at least 1 characters"},
		{"no actions", "name: w\n", "1:1: actions: at least one is needed"},
		{"too many clicks", valid("click: {count: 4}\n    target: {point: {x: 0.5, y: 0.5}}"), "3:20: actions[0].click.count: must be greater than or equal to 0 and less than or equal to 3"},
		{"a fraction above one", valid("move: {}\n    target:\n      point:\n        x: 1.5"), "6:12: actions[0].target.point.x: must be greater than or equal to 0 and less than or equal to 1"},
		{"no kind", valid("name: a"), "3:5: actions[0]: one of click, move, drag, type, paste, keyCombo, scroll, wait, waitForTarget, waitForWindow, focusWindow, screenshot, pauseForHuman, extractText, decision, pasteAndExecute, condition is needed"},
		{"no text", valid("type: {}"), "3:5: actions[0].type: one of text, secret is needed"},
		{"no window", valid("focusWindow: {window: {}}"), "3:19: actions[0].focusWindow.window: title, class_name or process must be set"},
		{"no actions in a list", "name: w\nactions: []\n", "2:1: actions: at least one is needed"},
		{"a mask beyond the edge", "name: w\nmasks:\n  - {left: 0.5, top: 1.25, width: 0.1, height: 0.1}\n" + one, "3:22: masks[0].top: must be greater than or equal to 0 and less than or equal to 1"},
		{"a mask without size", "name: w\nmasks:\n  - {left: 0.5, width: 0.1}\n" + one, "3:5: masks[0].height: must be greater than 0 and less than or equal to 1"},
		{"an unknown field of a mask", "name: w\nmasks: [{widht: 0.1, height: 1}]\n" + one, `2:10: unknown field "widht"; width is meant?`},
		{"an empty label key", "name: w\nlabels: {\"\": a}\nactions: [{screenshot: {}}]\n", `2:10: labels[""]: must be at least 1 characters`},

		{"a name twice", valid("name: a\n    screenshot: {}\n  - name: a\n    screenshot: {}"), "5:11: actions[0] has this name already"},
		{"a check id twice", valid("screenshot: {}\n    safetyChecks:\n      - {id: a, label: b}\n      - {id: a, label: c}"), "6:14: another check of this action has this id"},
		{"a click nowhere", valid("click: {}"), "3:5: a target is needed that says where" + ways},
		{"a drag to nowhere", valid("drag: {to: {}}\n    target: {point: {}}"), "3:12: it says nowhere" + ways},
		{"no such key", valid("keyCombo: {keys: [ctrl, entr]}"), `3:29: no key has the name "entr"`},
		{"no such function key", valid("keyCombo: {keys: [f25]}"), `3:23: no key has the name "f25"`},
		{"a bad expression", valid("waitForWindow: {window: {titleMatch: regexp, title: '('}}"), "3:57: not a regular expression: error parsing regexp: missing closing ): `(`"},
		{"waiting for a place that is always there", valid("waitForTarget:\n    target: {point: {x: 0.5, y: 0.5}}"), "4:5: there is nothing to wait for: a point is there at once (byText, vlmDescription, anchorImage, windowTitle or uiaTarget would do)"},
		{"an effect of waiting", valid("wait: {duration: 1s}\n    expectedEffect: required"), "4:21: wait sends no input, so its effect is never looked at: leave this out, or say none"},
		{"a wait beyond its time", valid("wait: {duration: 10s}\n    timeout: 5s"), "4:14: the wait of 10s takes longer than that"},
		{"an effect of looking", valid("expectedEffect: change\n    screenshot:"), "3:21: screenshot sends no input, so its effect is never looked at: leave this out, or say none"},
		{"an anchor without picture", valid("waitForTarget:\n    target: {anchorImage: {minScore: 0.9}}"), "4:14: the picture's path is needed, or its sha256"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("w.yaml", []byte(tt.file))
			if err == nil {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff("w.yaml:"+tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllFaultsAreReportedInOrder(t *testing.T) {
	_, err := Parse("w.yaml", []byte("nam: w\nactions:\n  - klick: {}\n  - wait: {duration: soon}\n"))
	want := strings.Join([]string{
		`w.yaml:1:1: unknown field "nam"; name is meant?`,
		`w.yaml:3:5: unknown field "klick"; click is meant?`,
		`w.yaml:4:22: a duration such as 1.5s, 500ms or 2m is needed`,
	}, "\n")
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	_, err = Parse("w.yaml", []byte("name: w\nactions:\n"+strings.Repeat("  - klick: {}\n", 1000)))
	if faults := (Faults)(nil); !errors.As(err, &faults) || len(faults) != maxFaults {
		t.Errorf("%d faults, want %d", len(faults), maxFaults)
	}
}

// What could be read is checked although something else could not, and nothing
// is said twice.
func TestFaultsDoNotHideEachOther(t *testing.T) {
	file := `name: ""
masks: [{width: 2, height: wide}]
actions:
  - name: one
    intention: 5
    click: {count: 9}
  - name: one
    retryPolicy: {maxRetries: many}
  - wait: {duration: soon}
    timeout: 48h
  - type: {text: [a]}
  - keyCombo: {keys: [ctrl, 5, entr]}
  - move:
    target: {poin: {x: 0.5}}
  - focusWindow: {window: {title: 5}}
  - waitForTarget:
    target: {anchorImage: {path: 7}}
`
	want := []string{
		"1:7: name: must be at least 1 characters",
		"2:17: masks[0].width: must be greater than 0 and less than or equal to 1",
		"2:28: a number is needed, found a text",
		"4:5: a target is needed that says where" + ways,
		"5:16: a text is needed, found a number; put it in quotes if it is one",
		"6:20: actions[0].click.count: must be greater than or equal to 0 and less than or equal to 3",
		"7:5: actions[1]: one of click, move, drag, type, paste, keyCombo, scroll, wait, waitForTarget, waitForWindow, focusWindow, " +
			"screenshot, pauseForHuman, extractText, decision, pasteAndExecute, condition is needed",
		"7:11: actions[0] has this name already",
		"8:31: a whole number from -2147483648 to 2147483647 is needed, found a text",
		"9:22: a duration such as 1.5s, 500ms or 2m is needed",
		"10:14: actions[2].timeout: must be greater than 0s and less than or equal to 86400s",
		"11:18: a text is needed, found a list",
		"12:29: a text is needed, found a number; put it in quotes if it is one",
		`12:32: no key has the name "entr"`,
		`14:14: unknown field "poin"; point is meant?`,
		"15:35: a text is needed, found a number; put it in quotes if it is one",
		"17:34: a text is needed, found a number; put it in quotes if it is one",
	}
	_, err := Parse("w.yaml", []byte(file))
	if err == nil {
		t.Fatal("no fault")
	}
	if diff := cmp.Diff(want, strings.Split(strings.ReplaceAll(err.Error(), "w.yaml:", ""), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestMasksAreRead(t *testing.T) {
	w, err := Parse("w.yaml", []byte("name: w\nmasks:\n  - {monitor: 1, left: 0.25, top: 0.5, width: 0.5, height: 1}\nactions: [{screenshot: }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*reprisev1.Mask{{Monitor: 1, Left: 0.25, Top: 0.5, Width: 0.5, Height: 1}}
	if diff := cmp.Diff(want, w.GetMasks(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsNeverRepeatTypedText(t *testing.T) {
	const secret = "hunter2-secret"
	for _, file := range []string{
		valid(`type: {text: "` + secret + `", clearFirst: maybe}`),
		valid(`type: {text: ["` + secret + `"]}`),
		valid(`paste: {text: {"a": "` + secret + `"}}`),
		valid(`type: "` + secret + `"`),
		valid(`type: {text: "` + secret),
		valid(`paste: {text: "` + strings.Repeat(secret, 10000) + `"}`),
	} {
		_, err := Parse("w.yaml", []byte(file))
		if err == nil {
			t.Fatalf("no fault in %.80s", file)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("repeated: %v", err)
		}
	}
}

const ways = " (byText, vlmDescription, anchorImage, windowTitle, uiaTarget or point would do)"
