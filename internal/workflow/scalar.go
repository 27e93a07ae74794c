package workflow

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

const durationName = protoreflect.FullName("google.protobuf.Duration")

// isComposite says whether a field holds a message that is written as a
// mapping. A duration is written as a scalar.
func isComposite(field protoreflect.FieldDescriptor) bool {
	return field.Message() != nil && field.Message().FullName() != durationName
}

// scalar reads one value that is no collection; its kinds are those that the
// schema's workflow uses.
func (d *decoder) scalar(path string, node ast.Node, field protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	none := protoreflect.Value{}
	at := positionOf(node.GetToken())
	switch field.Kind() {
	case protoreflect.StringKind:
		if text, ok := textOf(node); ok {
			return protoreflect.ValueOfString(text), true
		}
		hint := ""
		switch node.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
			hint = "; put it in quotes if it is one"
		}
		d.unread(path, at, "a text is needed, %s%s", found(node), hint)
	case protoreflect.BoolKind:
		if b, ok := node.(*ast.BoolNode); ok {
			return protoreflect.ValueOfBool(b.Value), true
		}
		d.unread(path, at, "true or false is needed, %s", found(node))
	case protoreflect.Int32Kind:
		if n, err := strconv.ParseInt(rawNumber(node), 10, 32); err == nil {
			return protoreflect.ValueOfInt32(int32(n)), true
		}
		d.unread(path, at, "a whole number from %d to %d is needed, %s", math.MinInt32, math.MaxInt32, found(node))
	case protoreflect.DoubleKind:
		if f, err := strconv.ParseFloat(rawNumber(node), 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return protoreflect.ValueOfFloat64(f), true
		}
		d.unread(path, at, "a number is needed, %s", found(node))
	case protoreflect.EnumKind:
		return d.enum(path, node, field.Enum())
	case protoreflect.MessageKind:
		return d.duration(path, node)
	default:
		d.unread(path, at, "a %s cannot be written in a workflow file", field.Kind())
	}
	return none, false
}

func textOf(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// rawNumber returns a number as it is written, so that `010` is ten and `1e3`
// is a number. It returns nothing for what is quoted or no number.
func rawNumber(node ast.Node) string {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	case *ast.StringNode:
		if n.Token.Type == token.StringType {
			return n.Value
		}
	}
	return ""
}

// enum takes a value's full name, or its name without the prefix that all
// values of the type share, ignoring case.
func (d *decoder) enum(path string, node ast.Node, desc protoreflect.EnumDescriptor) (protoreflect.Value, bool) {
	at := positionOf(node.GetToken())
	names := EnumNames(desc)
	text, ok := textOf(node)
	if !ok {
		d.unread(path, at, "one of %s is needed, %s", strings.Join(names[1:], ", "), found(node))
		return protoreflect.Value{}, false
	}
	if v := desc.Values().ByName(protoreflect.Name(text)); v != nil {
		return protoreflect.ValueOfEnum(v.Number()), true
	}
	if i := slices.Index(names, strings.ToLower(text)); i >= 0 {
		return protoreflect.ValueOfEnum(desc.Values().Get(i).Number()), true
	}
	d.unread(path, at, "%q is none of %s", text, strings.Join(names[1:], ", "))
	return protoreflect.Value{}, false
}

// EnumNames returns the short names of an enum's values, in its order. The
// schema names the first value of each enum `PREFIX_UNSPECIFIED`.
func EnumNames(desc protoreflect.EnumDescriptor) []string {
	values := desc.Values()
	prefix := strings.TrimSuffix(string(values.Get(0).Name()), "UNSPECIFIED")
	names := make([]string, values.Len())
	for i := range names {
		names[i] = strings.ToLower(strings.TrimPrefix(string(values.Get(i).Name()), prefix))
	}
	return names
}

// duration reads `1.5s`, and what Go reads beside it: `500ms`, `2m`, `1h30m`.
func (d *decoder) duration(path string, node ast.Node) (protoreflect.Value, bool) {
	text, ok := textOf(node)
	if ok {
		if span, err := time.ParseDuration(text); err == nil {
			return protoreflect.ValueOfMessage(durationpb.New(span).ProtoReflect()), true
		}
	}
	d.unread(path, positionOf(node.GetToken()), "a duration such as 1.5s, 500ms or 2m is needed")
	return protoreflect.Value{}, false
}
