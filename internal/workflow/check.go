package workflow

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// check adds the faults of what could be read: the schema's limits, and what
// the schema says in words. What may be missing only because something could
// not be read is no fault of its own.
func (d *decoder) check() {
	if d.damage[""] == whole {
		return
	}
	err := protovalidate.Validate(d.workflow)
	invalid := (*protovalidate.ValidationError)(nil)
	if errors.As(err, &invalid) {
		for _, v := range invalid.Violations {
			d.violation(v.Proto)
		}
	} else if err != nil {
		d.fault(d.position(""), "cannot be checked: %v", err)
	}
	if len(d.workflow.GetActions()) == 0 && !d.missing("", "actions") {
		d.fault(d.position("actions"), "actions: at least one is needed")
	}
	names := map[string]int{}
	for i, a := range d.workflow.GetActions() {
		path := fmt.Sprintf("actions[%d]", i)
		if first, again := names[a.GetName()]; again && a.GetName() != "" {
			d.fault(d.position(path+".name"), "actions[%d] has this name already", first)
		}
		names[a.GetName()] = i
		d.checkAction(path, a)
	}
}

func (d *decoder) violation(v *validate.Violation) {
	path := protovalidate.FieldPathString(v.GetField())
	name, choices := display(v.GetField())
	if d.consequence(path, choices) {
		return
	}
	message := strings.TrimSuffix(v.GetMessage(), ".")
	if len(choices) > 0 {
		names := make([]string, len(choices))
		for i, choice := range choices {
			names[i] = choice.JSONName()
		}
		message = "one of " + strings.Join(names, ", ") + " is needed"
	}
	if name == "" {
		d.fault(d.position(path), "%s", message)
		return
	}
	d.fault(d.position(path), "%s: %s", name, message)
}

// display spells a path with the names that a file uses. When the path ends at
// a oneof it names the message that lacks a choice, and the choices.
func display(path *validate.FieldPath) (name string, choices []protoreflect.FieldDescriptor) {
	desc := (&reprisev1.Workflow{}).ProtoReflect().Descriptor()
	for _, e := range path.GetElements() {
		field := desc.Fields().ByName(protoreflect.Name(e.GetFieldName()))
		if field == nil {
			return name, choicesOf(desc, e.GetFieldName())
		}
		name = join(name, field.JSONName())
		switch e.WhichSubscript() {
		case validate.FieldPathElement_Index_case:
			name += fmt.Sprintf("[%d]", e.GetIndex())
		case validate.FieldPathElement_StringKey_case:
			name += fmt.Sprintf("[%q]", e.GetStringKey())
		}
		if field.Message() != nil {
			desc = field.Message()
		}
	}
	return name, nil
}

func choicesOf(desc protoreflect.MessageDescriptor, oneof string) []protoreflect.FieldDescriptor {
	choice := desc.Oneofs().ByName(protoreflect.Name(oneof))
	if choice == nil {
		return nil
	}
	fields := make([]protoreflect.FieldDescriptor, choice.Fields().Len())
	for i := range fields {
		fields[i] = choice.Fields().Get(i)
	}
	return fields
}

// position finds where a path stands in the file, or where the nearest part
// around it does.
func (d *decoder) position(path string) Position {
	for {
		if at, ok := d.at[path]; ok {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}

func (d *decoder) checkAction(path string, a *reprisev1.Action) {
	if needsPlace(a) && !hasWay(a.GetTarget()) && !d.missing(path, "target") {
		d.fault(d.position(path), "a target is needed that says where: %s", ways)
	}
	if a.GetWaitForTarget() != nil && hasWay(a.GetTarget()) && !canBeSeen(a.GetTarget()) && !d.damage.within(path+".target") {
		d.fault(d.position(path+".target"), "nothing to wait for: a point is there at once; %s is needed", waysToSee)
	}
	if sendsNothing(a) && checksEffect(a) {
		d.fault(d.position(path+".expected_effect"), "%s sends no input, so its effect is never looked at: leave this out, or say none", kindField(a).JSONName())
	}
	if to := a.GetDrag().GetTo(); to != nil && !hasWay(to) && !d.damage.within(path+".drag.to") {
		d.fault(d.position(path+".drag.to"), "says nowhere: %s", ways)
	}
	ids := map[string]bool{}
	for i, c := range a.GetSafetyChecks() {
		if c.GetId() != "" && ids[c.GetId()] {
			d.fault(d.position(fmt.Sprintf("%s.safety_checks[%d].id", path, i)), "another check of this action has this id")
		}
		ids[c.GetId()] = true
	}
	for i, key := range a.GetKeyCombo().GetKeys() {
		if key != "" && !isKey(key) {
			d.fault(d.position(fmt.Sprintf("%s.key_combo.keys[%d]", path, i)), "no key has the name %q", key)
		}
	}
	d.checkWindow(path+".wait_for_window.window", a.GetWaitForWindow().GetWindow())
	d.checkWindow(path+".focus_window.window", a.GetFocusWindow().GetWindow())
	for _, anchor := range anchors(path, a) {
		if anchor.image.GetPath() == "" && anchor.image.GetSha256() == "" && !d.damage.within(anchor.path) {
			d.fault(d.position(anchor.path), "the picture's path is needed, or its sha256")
		}
	}
}

func (d *decoder) checkWindow(path string, w *reprisev1.WindowSelector) {
	if w.GetTitleMatch() != reprisev1.TitleMatch_TITLE_MATCH_REGEXP {
		return
	}
	if _, err := regexp.Compile(w.GetTitle()); err != nil {
		d.fault(d.position(path+".title"), "not a regular expression: %v", err)
	}
}

const (
	ways      = "byText, vlmDescription, anchorImage, windowTitle, uiaTarget or point"
	waysToSee = "byText, vlmDescription, anchorImage, windowTitle or uiaTarget"
)

// needsPlace says whether an action of this kind means nothing without a target.
func needsPlace(a *reprisev1.Action) bool {
	switch a.GetKind().(type) {
	case *reprisev1.Action_Click, *reprisev1.Action_Move, *reprisev1.Action_Drag, *reprisev1.Action_Scroll, *reprisev1.Action_WaitForTarget:
		return true
	}
	return false
}

func hasWay(t *reprisev1.Target) bool { return canBeSeen(t) || t.GetPoint() != nil }

// canBeSeen says whether a target says what to look for.
func canBeSeen(t *reprisev1.Target) bool {
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

func sendsNothing(a *reprisev1.Action) bool { return slices.Contains(SendsNothing(), kind.Of(a).Name) }

// checksEffect says whether an action asks for a look at what it has changed.
func checksEffect(a *reprisev1.Action) bool {
	switch a.GetExpectedEffect() {
	case reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE, reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED:
		return true
	}
	return false
}
