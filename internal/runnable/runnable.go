// Package runnable says why an action could never be run although it keeps to the
// schema's own limits. Who writes workflow files and who takes replays ask the same
// questions here; in which words and at which place they answer is theirs. What an
// agent cannot do yet, or a machine does not have, is not decided here.
package runnable

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/controltype"
	"github.com/reprise-rpa/reprise/internal/keyname"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// Fault is one reason why an action cannot be run. It never repeats what an action
// types.
type Fault struct {
	Path    string   // the field, from the action on, by its names in the schema
	Missing bool     // the field is not there, or says nothing
	Why     string   // in a sentence without a full stop
	Needed  []string // fields of the one at Path of which at least one would help; empty: none would
}

var (
	waysToSee = []string{"by_text", "vlm_description", "anchor_image", "window_title", "uia_target"}
	ways      = append(slices.Clone(waysToSee), "point")
)

// Faults returns why an action cannot be run; none: it can, as far as the action
// alone tells. An action without a kind has none: the schema refuses it.
func Faults(a *reprisev1.Action) []Fault {
	var all []Fault
	add := func(path, why string, needed ...string) {
		all = append(all, Fault{Path: path, Why: why, Needed: needed})
	}
	target := a.GetTarget()
	switch {
	case NeedsPlace(a) && !hasWay(target):
		all = append(all, Fault{Path: "target", Missing: true, Why: "a target is needed that says where", Needed: ways})
	case a.GetWaitForTarget() != nil && !CanBeSeen(target):
		add("target", "there is nothing to wait for: a point is there at once", waysToSee...)
	}
	if a.GetDrag() != nil && !hasWay(a.GetDrag().GetTo()) {
		add("drag.to", "it says nowhere", ways...)
	}
	if k := kind.Of(a).Name; slices.Contains(SendsNothing(), k) && checksEffect(a) {
		add("expected_effect", k+" sends no input, so its effect is never looked at: leave this out, or say none")
	}
	checkIDs(a, add)
	checkTarget("target", target, add)
	checkTarget("drag.to", a.GetDrag().GetTo(), add)
	checkKeys("key_combo.keys", a.GetKeyCombo().GetKeys(), add)
	checkKeys("click.modifiers", a.GetClick().GetModifiers(), add)
	if err := keyname.CheckText(a.GetType().GetText()); err != nil {
		add("type.text", fmt.Sprintf("it cannot be typed: %v", err))
	}
	checkTitle("wait_for_window.window.title", a.GetWaitForWindow().GetWindow(), add)
	checkTitle("focus_window.window.title", a.GetFocusWindow().GetWindow(), add)
	checkTitle("screenshot.window.title", a.GetScreenshot().GetWindow(), add)
	if w, limit := a.GetWait().GetDuration().AsDuration(), a.GetTimeout(); limit != nil && w > limit.AsDuration() {
		add("timeout", fmt.Sprintf("the wait of %v takes longer than that", w))
	}
	return all
}

// PopupFaults returns why rules for popups could never be followed; none: they can, as
// far as the rules alone tell. Paths are from the workflow on.
func PopupFaults(w *reprisev1.Workflow) []Fault {
	var all []Fault
	add := func(path, why string, _ ...string) { all = append(all, Fault{Path: path, Why: why}) }
	for i, p := range w.GetPopups() {
		checkKeys(fmt.Sprintf("popups[%d].keys.keys", i), p.GetKeys().GetKeys(), add)
		if at := p.GetPoint(); at != nil && at.GetX() == 0 && at.GetY() == 0 {
			add(fmt.Sprintf("popups[%d].point", i), "the corner of a window closes nothing: x and y are needed")
		}
		title := fmt.Sprintf("popups[%d].window.title", i)
		checkTitle(title, p.GetWindow(), add)
		if matchesAny(p.GetWindow()) {
			add(title, "it matches almost any window: say more of the title, or the class or process as well")
		}
	}
	return all
}

// checkIDs adds safety checks that could not be told apart.
func checkIDs(a *reprisev1.Action, add func(path, why string, needed ...string)) {
	ids := map[string]bool{}
	for i, c := range a.GetSafetyChecks() {
		if c.GetId() != "" && ids[c.GetId()] {
			add(fmt.Sprintf("safety_checks[%d].id", i), "another check of this action has this id")
		}
		ids[c.GetId()] = true
	}
}

// matchesAny says whether windows match whatever they are: by a title that even a blank
// one has, and by nothing else.
func matchesAny(w *reprisev1.WindowSelector) bool {
	if w.GetTitle() == "" || w.GetClassName() != "" || w.GetProcess() != "" {
		return false
	}
	if w.GetTitleMatch() != reprisev1.TitleMatch_TITLE_MATCH_REGEXP {
		return strings.TrimSpace(w.GetTitle()) == ""
	}
	e, err := regexp.Compile(w.GetTitle())
	return err == nil && (e.MatchString("") || e.MatchString(" "))
}

// checkTarget adds what no desktop can look for, or what says two places at once.
func checkTarget(path string, t *reprisev1.Target, add func(path, why string, needed ...string)) {
	if u := t.GetUiaTarget(); u != nil {
		switch _, known := controltype.ID(u.GetControlType()); {
		case u.GetName() == "" && u.GetAutomationId() == "" && u.GetControlType() == "":
			add(path+".uia_target", "it means any element: a name, an automation id or a control type is needed")
		case u.GetControlType() != "" && !known:
			add(path+".uia_target.control_type", fmt.Sprintf("UI Automation has no control type %.40q", u.GetControlType()))
		}
	}
	if t.GetPoint() != nil && t.GetPicturePoint() != nil {
		add(path+".picture_point", "a point is there as well: give one of both")
	}
}

// checkKeys adds keys that there are not, and those that no hand can press as they are
// held already.
func checkKeys(path string, names []string, add func(path, why string, needed ...string)) {
	seen := map[keyname.Key]bool{}
	for i, name := range names {
		key, err := keyname.Parse(name)
		switch at := fmt.Sprintf("%s[%d]", path, i); {
		case name == "": // the schema refuses it
		case err != nil:
			add(at, fmt.Sprintf("no key has the name %.40q", name))
		case seen[key]:
			add(at, fmt.Sprintf("the key %.40q is named twice", name))
		}
		seen[key] = err == nil
	}
}

func checkTitle(path string, w *reprisev1.WindowSelector, add func(path, why string, needed ...string)) {
	if w.GetTitleMatch() != reprisev1.TitleMatch_TITLE_MATCH_REGEXP {
		return
	}
	if _, err := regexp.Compile(w.GetTitle()); err != nil {
		add(path, fmt.Sprintf("not a regular expression: %v", err))
	}
}

// NeedsPlace says whether an action of this kind means nothing without a target.
func NeedsPlace(a *reprisev1.Action) bool {
	switch a.GetKind().(type) {
	case *reprisev1.Action_Click, *reprisev1.Action_Move, *reprisev1.Action_Drag, *reprisev1.Action_Scroll, *reprisev1.Action_WaitForTarget:
		return true
	}
	return false
}

func hasWay(t *reprisev1.Target) bool {
	return CanBeSeen(t) || t.GetPoint() != nil || t.GetPicturePoint() != nil
}

// CanBeSeen says whether a target says what to look for.
func CanBeSeen(t *reprisev1.Target) bool {
	return t.GetByText() != "" || t.GetVlmDescription() != "" || t.GetAnchorImage() != nil ||
		t.GetWindowTitle() != "" || t.GetUiaTarget() != nil
}

// SendsNothing are the kinds, by their names in the schema, that wait or look and
// send no input: what comes of them is not looked at.
func SendsNothing() []string {
	names := []string{"wait", "wait_for_target", "wait_for_window", "screenshot"}
	for _, k := range kind.All() {
		if k.ServerSide {
			names = append(names, k.Name)
		}
	}
	return names
}

// checksEffect says whether an action asks for a look at what it has changed.
func checksEffect(a *reprisev1.Action) bool {
	switch a.GetExpectedEffect() {
	case reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE, reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED:
		return true
	}
	return false
}
