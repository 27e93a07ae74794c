package runnable

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestWhatCannotBeRunIsTold(t *testing.T) {
	point := &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.5}}
	click := &reprisev1.Action_Click{Click: &reprisev1.Click{}}
	combo := func(keys ...string) *reprisev1.Action {
		return &reprisev1.Action{Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: keys}}}
	}
	text := func(text string) *reprisev1.Action {
		return &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}}}
	}
	seen := func(u *reprisev1.UiaTarget) *reprisev1.Action {
		return &reprisev1.Action{Kind: click, Target: &reprisev1.Target{UiaTarget: u}}
	}
	for name, tt := range map[string]struct {
		action *reprisev1.Action
		paths  []string
	}{
		"a click at a point":  {&reprisev1.Action{Kind: click, Target: point}, nil},
		"a click nowhere":     {&reprisev1.Action{Kind: click}, []string{"target"}},
		"a click at no place": {&reprisev1.Action{Kind: click, Target: &reprisev1.Target{}}, []string{"target"}},
		"waiting for a point": {
			&reprisev1.Action{Kind: &reprisev1.Action_WaitForTarget{WaitForTarget: &reprisev1.WaitForTarget{}}, Target: point}, []string{"target"},
		},
		"a drag to nowhere": {
			&reprisev1.Action{Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: &reprisev1.Target{}}}, Target: point}, []string{"drag.to"},
		},
		"keys": {
			&reprisev1.Action{Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"CTRL", "é", "f24", "banana", "f25"}}}},
			[]string{"key_combo.keys[3]", "key_combo.keys[4]"},
		},
		"a title that is no expression": {
			&reprisev1.Action{Kind: &reprisev1.Action_WaitForWindow{WaitForWindow: &reprisev1.WaitForWindow{Window: &reprisev1.WindowSelector{
				Title: "(", TitleMatch: reprisev1.TitleMatch_TITLE_MATCH_REGEXP,
			}}}}, []string{"wait_for_window.window.title"},
		},
		"a title that is no expression and need not be": {
			&reprisev1.Action{Kind: &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{Window: &reprisev1.WindowSelector{Title: "("}}}}, nil,
		},
		"an expression that is too large": {
			&reprisev1.Action{Kind: &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{Window: &reprisev1.WindowSelector{
				Title: "((((a{1,999}){1,999}){1,999}))", TitleMatch: reprisev1.TitleMatch_TITLE_MATCH_REGEXP,
			}}}}, []string{"focus_window.window.title"},
		},
		"a wait within its time": {
			&reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(time.Second)}}, Timeout: durationpb.New(time.Second)}, nil,
		},
		"a wait beyond its time": {
			&reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(time.Hour)}}, Timeout: durationpb.New(time.Second)},
			[]string{"timeout"},
		},
		"checks with one id": {
			&reprisev1.Action{Kind: &reprisev1.Action_Screenshot{}, SafetyChecks: []*reprisev1.SafetyCheck{{Id: "a"}, {Id: "b"}, {Id: "a"}}},
			[]string{"safety_checks[2].id"},
		},
		"a key twice":                   {combo("ctrl", "a", "CTRL", "A", "a"), []string{"key_combo.keys[2]", "key_combo.keys[4]"}},
		"a blank, which is the space":   {combo("space", " "), []string{"key_combo.keys[1]"}},
		"a mark, which is no character": {combo("\u0301"), []string{"key_combo.keys[0]"}},
		"a modifier twice": {
			&reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{Modifiers: []string{"ctrl", "shift", "ctrl"}}}, Target: point},
			[]string{"click.modifiers[2]"},
		},
		"text, lines and tabs":          {text("a\tb\né€😀"), nil},
		"a control character":           {text("a\x01b"), []string{"type.text"}},
		"a line of Windows":             {text("a\r\n"), []string{"type.text"}},
		"an element":                    {seen(&reprisev1.UiaTarget{Name: "OK", ControlType: "button"}), nil},
		"any element":                   {seen(&reprisev1.UiaTarget{}), []string{"target.uia_target"}},
		"an element of an unknown type": {seen(&reprisev1.UiaTarget{ControlType: "Buton"}), []string{"target.uia_target.control_type"}},
		"a drag to any element": {
			&reprisev1.Action{Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: &reprisev1.Target{UiaTarget: &reprisev1.UiaTarget{}}}}, Target: point},
			[]string{"drag.to.uia_target"},
		},
		"two places": {
			&reprisev1.Action{Kind: click, Target: &reprisev1.Target{Point: point.GetPoint(), PicturePoint: &reprisev1.PicturePoint{Scale: 1, Geometry: "g"}}},
			[]string{"target.picture_point"},
		},
		"no kind":   {&reprisev1.Action{}, nil},
		"no action": {nil, nil},
	} {
		var paths []string
		for _, f := range Faults(tt.action) {
			paths = append(paths, f.Path)
			if f.Why == "" {
				t.Errorf("%s: %s is refused without a word", name, f.Path)
			}
		}
		if diff := cmp.Diff(tt.paths, paths); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// What nobody looks at must not be asked for; what is looked at may be.
func TestARuleForPopupsThatNobodyCanFollowIsTold(t *testing.T) {
	keys := func(names ...string) *reprisev1.PopupRule_Keys {
		return &reprisev1.PopupRule_Keys{Keys: &reprisev1.KeyCombo{Keys: names}}
	}
	var paths []string
	for _, f := range PopupFaults(&reprisev1.Workflow{Popups: []*reprisev1.PopupRule{
		{Window: &reprisev1.WindowSelector{Title: "("}},
		{Window: &reprisev1.WindowSelector{Title: "(", TitleMatch: reprisev1.TitleMatch_TITLE_MATCH_REGEXP}, Way: keys("alt", "f4")},
		{Window: &reprisev1.WindowSelector{Title: "Update"}, Way: keys("alt", "f99")},
		{Window: &reprisev1.WindowSelector{Title: "Update"}, Way: keys("alt", "Alt")},
		{Window: &reprisev1.WindowSelector{Title: "Update"}, Way: &reprisev1.PopupRule_Point{Point: &reprisev1.Point{X: 0.9}}},
		{Window: &reprisev1.WindowSelector{Title: "Update"}, Way: &reprisev1.PopupRule_Point{Point: &reprisev1.Point{}}},
	}}) {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{"popups[1].window.title", "popups[2].keys.keys[1]", "popups[3].keys.keys[1]", "popups[5].point"}, paths); diff != "" {
		t.Error(diff)
	}
}

func TestAnEffectMayBeExpectedOfInputAndOfNothingElse(t *testing.T) {
	looks := map[string]bool{"click": true, "move": true, "drag": true, "type": true, "paste": true, "key_combo": true, "scroll": true, "focus_window": true}
	fields := (&reprisev1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range fields.Len() {
		for effect := range reprisev1.ExpectedEffect_name {
			a := &reprisev1.Action{ExpectedEffect: reprisev1.ExpectedEffect(effect)}
			a.ProtoReflect().Mutable(fields.Get(i))
			refused := false
			for _, f := range Faults(a) {
				refused = refused || f.Path == "expected_effect"
			}
			asks := a.GetExpectedEffect() == reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE || a.GetExpectedEffect() == reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED
			if name := string(fields.Get(i).Name()); refused != (asks && !looks[name]) {
				t.Errorf("%s with %v: refused %v", name, a.GetExpectedEffect(), refused)
			}
		}
	}
}

func TestARuleForPopupsThatMatchesAlmostAnyWindowIsRefused(t *testing.T) {
	const expression, exact = reprisev1.TitleMatch_TITLE_MATCH_REGEXP, reprisev1.TitleMatch_TITLE_MATCH_EXACT
	for _, tt := range []struct {
		window  *reprisev1.WindowSelector
		refused bool
	}{
		{&reprisev1.WindowSelector{Title: "Update"}, false},
		{&reprisev1.WindowSelector{Title: "Update.*", TitleMatch: expression}, false},
		{&reprisev1.WindowSelector{ClassName: "#32770"}, false},
		{&reprisev1.WindowSelector{Title: ".*", TitleMatch: expression, Process: "toast.exe"}, false},
		{&reprisev1.WindowSelector{Title: " ", ClassName: "#32770"}, false},
		{&reprisev1.WindowSelector{Title: ".*"}, false},
		{&reprisev1.WindowSelector{Title: ".*", TitleMatch: expression}, true},
		{&reprisev1.WindowSelector{Title: ".", TitleMatch: expression}, true},
		{&reprisev1.WindowSelector{Title: "^$", TitleMatch: expression}, true},
		{&reprisev1.WindowSelector{Title: "Update|", TitleMatch: expression}, true},
		{&reprisev1.WindowSelector{Title: " "}, true},
		{&reprisev1.WindowSelector{Title: "\t", TitleMatch: exact}, true},
	} {
		faults := PopupFaults(&reprisev1.Workflow{Popups: []*reprisev1.PopupRule{{Window: tt.window}}})
		if refused := len(faults) == 1 && faults[0].Path == "popups[0].window.title"; refused != tt.refused || len(faults) > 1 {
			t.Errorf("%v: %v", tt.window, faults)
		}
	}
}
