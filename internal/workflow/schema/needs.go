package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/runnable"
)

// needsPlace are the kinds that mean nothing without a target, which the schema
// says in words.
var needsPlace = map[protoreflect.FullName]bool{
	"reprise.v1.Action.click": true, "reprise.v1.Action.move": true, "reprise.v1.Action.drag": true,
	"reprise.v1.Action.scroll": true, "reprise.v1.Action.wait_for_target": true,
}

// toBeSeen are the fields of a target of which waiting for it needs one.
var toBeSeen = []protoreflect.Name{"by_text", "vlm_description", "anchor_image", "window_title", "uia_target"}

// besideKind is what an action of the kind that is given needs beside it; nil for
// nothing, and for a field that is no kind.
func besideKind(field protoreflect.FieldDescriptor) *node {
	action := (&reprisev1.Action{}).ProtoReflect().Descriptor()
	if field.Parent() != action {
		return nil
	}
	n := &node{Properties: map[string]*node{}}
	if needsPlace[field.FullName()] {
		n.Required = []string{"target"}
	}
	if field.Name() == "wait_for_target" {
		target := action.Fields().ByName("target").Message()
		var fields []protoreflect.FieldDescriptor
		for _, name := range toBeSeen {
			fields = append(fields, target.Fields().ByName(name))
		}
		n.Properties["target"] = &node{AnyOf: given(fields)}
	}
	if slices.Contains(runnable.SendsNothing(), string(field.Name())) {
		effect := action.Fields().ByName("expected_effect")
		values := effect.Enum().Values()
		none := &node{Pattern: "^(" + strings.Join([]string{
			anyCase("none"), anyCase("unspecified"), string(values.ByNumber(0).Name()), string(values.ByName("EXPECTED_EFFECT_NONE").Name()),
		}, "|") + ")$"}
		n.Properties[effect.JSONName()], n.Properties[effect.TextName()] = none, none
	}
	if len(n.Required)+len(n.Properties) == 0 {
		return nil
	}
	return n
}

// oneNeeded are the messages of which at least one of some fields is needed. The
// first is an expression in the schema; the others are said in words.
var oneNeeded = map[protoreflect.FullName][]protoreflect.Name{
	"reprise.v1.WindowSelector": {"title", "class_name", "process"},
	"reprise.v1.AnchorImage":    {"path", "sha256"},
}

// needs is what a message must hold.
type needs struct {
	fields map[protoreflect.FieldNumber]bool
	oneOf  [][]protoreflect.FieldDescriptor // of each exactly one
	anyOf  []protoreflect.FieldDescriptor   // at least one of them
}

// none says that the empty message is sound.
func (n needs) none() bool { return len(n.fields)+len(n.oneOf)+len(n.anyOf) == 0 }

// needsOf finds out what a message needs by asking what is wrong with an empty
// one, so that every way to say so in the schema counts.
func needsOf(desc protoreflect.MessageDescriptor) (needs, error) {
	n := needs{fields: map[protoreflect.FieldNumber]bool{}}
	for _, name := range oneNeeded[desc.FullName()] {
		n.anyOf = append(n.anyOf, desc.Fields().ByName(name))
	}
	err := protovalidate.Validate(dynamicpb.NewMessage(desc))
	var invalid *protovalidate.ValidationError
	if err == nil {
		return n, nil
	}
	if !errors.As(err, &invalid) {
		return needs{}, fmt.Errorf("schema: %w", err)
	}
	for _, v := range invalid.Violations {
		elements := v.Proto.GetField().GetElements()
		if len(elements) == 0 && len(n.anyOf) > 0 {
			continue // the expression that stands in oneNeeded
		}
		if len(elements) != 1 {
			return needs{}, fmt.Errorf("schema: %s has a rule that has no words here: %s", desc.FullName(), v.Proto.GetMessage())
		}
		name := protoreflect.Name(elements[0].GetFieldName())
		if choice := desc.Oneofs().ByName(name); choice != nil {
			n.oneOf = append(n.oneOf, fieldsOf(choice.Fields()))
			continue
		}
		n.fields[desc.Fields().ByName(name).Number()] = true
	}
	return n, nil
}

func fieldsOf(list protoreflect.FieldDescriptors) []protoreflect.FieldDescriptor {
	fields := make([]protoreflect.FieldDescriptor, list.Len())
	for i := range fields {
		fields[i] = list.Get(i)
	}
	return fields
}
