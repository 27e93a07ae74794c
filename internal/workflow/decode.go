package workflow

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// maxDepth bounds the nesting of flow collections, and of sequences on one
// line: the YAML parser recurses, and the schema needs no more than ten.
const maxDepth = 64

// decoder turns YAML nodes into a workflow and remembers where each field
// stands. Paths are protovalidate's: `actions[0].click.count`.
type decoder struct {
	file     string
	holds    string // what the file should hold, for people
	workflow *reprisev1.Workflow
	at       map[string]Position
	extent   extent
	damage   damage
	faults   Faults
}

func decode(name, holds string, data []byte) *decoder {
	text := strings.TrimPrefix(string(data), "\ufeff")
	d := &decoder{
		file: name, holds: holds, workflow: &reprisev1.Workflow{}, at: map[string]Position{"": {Line: 1, Column: 1}},
		extent: extentOf(text), damage: damage{},
	}
	root := d.parse(text)
	if root == nil {
		d.damage.add("", whole)
		return d
	}
	d.message("", root, d.workflow.ProtoReflect())
	return d
}

// unread is a fault of what stands at path, which is therefore not in the workflow.
func (d *decoder) unread(path string, at Position, format string, args ...any) {
	d.damage.add(path, whole)
	d.fault(at, format, args...)
}

func (d *decoder) fault(at Position, format string, args ...any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, Fault{File: d.file, Position: d.extent.hold(at), Message: fmt.Sprintf(format, args...)})
	}
}

// parse returns the root of the only document, or nil after a fault.
func (d *decoder) parse(text string) ast.Node {
	if at, odd := unreadable(text); odd {
		d.fault(at, "not YAML: not a character of UTF-8, or a control character; write special characters as escapes in double quotes")
		return nil
	}
	tokens := lexer.Tokenize(text)
	if deep := tooDeep(tokens); deep != nil {
		d.fault(positionOf(deep), "nested too deep")
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		at, message := Position{Line: 1, Column: 1}, err.Error()
		if located := yaml.Error(nil); errors.As(err, &located) {
			at, message = positionOf(located.GetToken()), located.GetMessage()
		}
		d.fault(at, "not YAML: %s", message)
		return nil
	}
	switch {
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		d.fault(Position{Line: 1, Column: 1}, "the file is empty: %s needed", d.holds)
		return nil
	case len(file.Docs) > 1:
		d.fault(positionOf(file.Docs[1].Start), "a second document: a file holds one")
		return nil
	}
	return file.Docs[0].Body
}

// unreadable returns the first place that holds no character which YAML allows.
// The YAML scanner does not look for them, and some let it run for ever.
func unreadable(text string) (Position, bool) {
	at := Position{Line: 1, Column: 1}
	for i, r := range text {
		switch {
		case r == '\n':
			at = Position{Line: at.Line + 1}
		case r == '\t' || r == '\r':
		case r < ' ' || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			return at, true
		}
		at.Column++
	}
	return Position{}, false
}

// tooDeep returns the token at which the nesting passes maxDepth, or nil.
func tooDeep(tokens token.Tokens) *token.Token {
	flow, line, entries := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		}
		if flow > maxDepth || entries > maxDepth {
			return t
		}
	}
	return nil
}

// message fills m from a mapping.
func (d *decoder) message(path string, node ast.Node, m protoreflect.Message) {
	entries, ok := d.mapping(path, node, "a mapping of fields is needed")
	if !ok {
		return
	}
	fields := m.Descriptor().Fields()
	for _, e := range entries {
		key, ok := d.key(path, e)
		if !ok {
			continue
		}
		field := fields.ByJSONName(key)
		if field == nil {
			field = fields.ByTextName(key)
		}
		if field == nil {
			d.damage.add(path, aKey)
			d.fault(positionOf(e.Key.GetToken()), "unknown field %q%s", key, suggestion(key, fields))
			continue
		}
		at, path := positionOf(e.Key.GetToken()), join(path, field.TextName())
		if d.taken(path, at, field, m) {
			continue
		}
		d.at[path] = at
		d.field(path, e.Value, field, m)
	}
}

// taken reports a field that is there already, under its other name or as
// another choice of its oneof.
func (d *decoder) taken(path string, at Position, field protoreflect.FieldDescriptor, m protoreflect.Message) bool {
	if _, before := d.at[path]; before {
		d.fault(at, "%s is given twice", field.JSONName())
		return true
	}
	choice := field.ContainingOneof()
	if choice == nil || choice.IsSynthetic() {
		return false
	}
	if other := m.WhichOneof(choice); other != nil {
		d.fault(at, "%s and %s exclude each other", other.JSONName(), field.JSONName())
		return true
	}
	return false
}

// field sets one field of m from a key's value.
func (d *decoder) field(path string, value ast.Node, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	if _, null := value.(*ast.NullNode); null {
		if isKind(field) {
			m.Mutable(field) // `screenshot:` is the empty message
			return
		}
		d.unread(path, d.at[path], "%s has no value: give one or leave the line out", field.JSONName())
		return
	}
	switch {
	case field.IsMap():
		d.mapField(path, value, field, m)
	case field.IsList():
		d.listField(path, value, field, m)
	case isComposite(field):
		d.message(path, value, m.Mutable(field).Message())
	default:
		d.at[path] = positionOf(value.GetToken())
		if v, ok := d.scalar(path, value, field); ok {
			m.Set(field, v)
		}
	}
}

// isKind says whether a field is a kind of action, which says something by being there.
// Of other choices none does: a point without a value is no place.
func isKind(field protoreflect.FieldDescriptor) bool {
	choice := field.ContainingOneof()
	return choice != nil && choice.Name() == "kind" && choice.Parent() == (&reprisev1.Action{}).ProtoReflect().Descriptor()
}

func (d *decoder) listField(path string, value ast.Node, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	seq, ok := value.(*ast.SequenceNode)
	if !ok {
		d.unread(path, positionOf(value.GetToken()), "a list is needed, %s", found(value))
		return
	}
	list := m.Mutable(field).List()
	for i, item := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.at[at] = startOf(item)
		if isComposite(field) {
			d.message(at, item, list.AppendMutable().Message())
			continue
		}
		v, ok := d.scalar(at, item, field)
		if !ok {
			v = list.NewElement() // keeps the positions of those that follow
		}
		list.Append(v)
	}
}

// mapField fills a map from text to scalars; the schema has no other maps.
func (d *decoder) mapField(path string, value ast.Node, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	entries, ok := d.mapping(path, value, "a mapping is needed")
	if !ok {
		return
	}
	out := m.Mutable(field).Map()
	for _, e := range entries {
		key, ok := d.key(path, e)
		if !ok {
			continue
		}
		at := fmt.Sprintf("%s[%q]", path, key)
		d.at[at] = positionOf(e.Key.GetToken())
		if v, ok := d.scalar(at, e.Value, field.MapValue()); ok {
			out.Set(protoreflect.ValueOfString(key).MapKey(), v)
		}
	}
}

func (d *decoder) mapping(path string, node ast.Node, need string) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	d.unread(path, startOf(node), "%s, %s", need, found(node))
	return nil, false
}

func (d *decoder) key(path string, e *ast.MappingValueNode) (string, bool) {
	if key, ok := e.Key.(*ast.StringNode); ok {
		return key.Value, true
	}
	d.damage.add(path, aKey)
	d.fault(positionOf(e.Key.GetToken()), "a plain name is needed as key; put it in quotes if it is one")
	return "", false
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}
