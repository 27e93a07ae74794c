package workflow

import (
	"errors"
	"fmt"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/runnable"
)

// check adds the faults of what could be read: the schema's limits, and what
// the schema says in words. What may be missing only because something could
// not be read is no fault of its own.
func (d *decoder) check() {
	if d.damage[""] == whole {
		return
	}
	d.limits(func(string) bool { return true })
	if len(d.workflow.GetActions()) == 0 && !d.missing("", "actions") {
		d.fault(d.position("actions"), "actions: at least one is needed")
	}
	d.checkRules()
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

// limits adds what breaks the schema's limits at the paths that count.
func (d *decoder) limits(counts func(path string) bool) {
	err := protovalidate.Validate(d.workflow)
	invalid := (*protovalidate.ValidationError)(nil)
	switch {
	case errors.As(err, &invalid):
		for _, v := range invalid.Violations {
			if counts(protovalidate.FieldPathString(v.Proto.GetField())) {
				d.violation(v.Proto)
			}
		}
	case err != nil:
		d.fault(d.position(""), "cannot be checked: %v", err)
	}
}

// checkRules adds why rules for popups could not be followed.
func (d *decoder) checkRules() {
	for _, f := range runnable.PopupFaults(d.workflow) {
		if !d.damage.within(f.Path) {
			d.fault(d.position(f.Path), "%s", f.Why)
		}
	}
}

// checkPopups adds the faults of rules for popups alone.
func (d *decoder) checkPopups() {
	d.limits(func(path string) bool { return strings.HasPrefix(path, popups) })
	d.checkRules()
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

// checkAction adds why an action could not be run, unless that comes from what could
// not be read.
func (d *decoder) checkAction(path string, a *reprisev1.Action) {
	for _, f := range runnable.Faults(a) {
		at := path + "." + f.Path
		parent, field := at[:strings.LastIndex(at, ".")], at[strings.LastIndex(at, ".")+1:]
		if f.Missing && d.missing(parent, field) || d.damage.within(at) {
			continue
		}
		if f.Missing {
			at = parent
		}
		d.fault(d.position(at), "%s%s", f.Why, needed(f.Needed))
	}
	for _, anchor := range anchors(path, a) {
		if anchor.image.GetPath() == "" && anchor.image.GetSha256() == "" && !d.damage.within(anchor.path) {
			d.fault(d.position(anchor.path), "the picture's path is needed, or its sha256")
		}
	}
}

// needed says which fields would help, by their names in a file.
func needed(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	target := (&reprisev1.Target{}).ProtoReflect().Descriptor().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = target.ByName(protoreflect.Name(f)).JSONName()
	}
	last := len(names) - 1
	return " (" + strings.Join(names[:last], ", ") + " or " + names[last] + " would do)"
}
