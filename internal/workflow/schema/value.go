package schema

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/reprise-rpa/reprise/internal/keyname"
	wf "github.com/reprise-rpa/reprise/internal/workflow"
)

const durationName = protoreflect.FullName("google.protobuf.Duration")

// goDuration is what time.ParseDuration reads, without a sign.
const goDuration = `^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

func (w *writer) field(field protoreflect.FieldDescriptor) (*node, error) {
	rules, err := protovalidate.ResolveFieldRules(field)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", field.FullName(), err)
	}
	var n *node
	switch {
	case field.IsMap():
		n = mapNode(rules.GetMap())
	case field.IsList():
		n, err = w.list(field, rules.GetRepeated())
	default:
		n, err = w.value(field, rules)
	}
	if err != nil {
		return nil, err
	}
	if n.Ref != "" {
		n = &node{AllOf: []*node{n}} // draft 7 ignores what stands beside a $ref
	}
	n.Description = w.told[string(field.Parent().Name())+"."+field.TextName()]
	return n, nil
}

// mapNode is a map from text to text; the schema has no other.
func mapNode(rules *validate.MapRules) *node {
	return &node{
		Type: "object", MaxProperties: rules.MaxPairs, //nolint:protogetter // unset is no limit
		PropertyNames:        text(rules.GetKeys().GetString()),
		AdditionalProperties: text(rules.GetValues().GetString()),
	}
}

func (w *writer) list(field protoreflect.FieldDescriptor, rules *validate.RepeatedRules) (*node, error) {
	item, err := w.value(field, rules.GetItems())
	if err != nil {
		return nil, err
	}
	if field.FullName() == "reprise.v1.KeyCombo.keys" {
		item = keyNode()
	}
	return &node{
		Type: "array", Items: item, UniqueItems: rules.GetUnique(),
		MinItems: rules.MinItems, MaxItems: rules.MaxItems, //nolint:protogetter // unset is no limit
	}, nil
}

func (w *writer) value(field protoreflect.FieldDescriptor, rules *validate.FieldRules) (*node, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return text(rules.GetString()), nil
	case protoreflect.BoolKind:
		return &node{Type: "boolean"}, nil
	case protoreflect.Int32Kind:
		return whole(rules.GetInt32()), nil
	case protoreflect.DoubleKind:
		return fraction(rules.GetDouble()), nil
	case protoreflect.EnumKind:
		return w.enum(field.Enum(), rules.GetEnum()), nil
	case protoreflect.MessageKind:
		if field.Message().FullName() == durationName {
			return &node{Type: "string", Pattern: goDuration}, nil
		}
		return w.choice(field)
	}
	return nil, fmt.Errorf("schema: %s: a %s has no words here", field.FullName(), field.Kind())
}

// choice is a message; as one choice of several it may be a key without a value
// where nothing in it is needed.
func (w *writer) choice(field protoreflect.FieldDescriptor) (*node, error) {
	n, err := w.ref(field.Message())
	if err != nil || field.ContainingOneof() == nil {
		return n, err
	}
	needs, err := needsOf(field.Message())
	if err != nil || !needs.none() {
		return n, err
	}
	return &node{AnyOf: []*node{n, {Type: "null"}}}, nil
}

func text(rules *validate.StringRules) *node {
	return &node{
		Type: "string", MinLength: rules.MinLen, MaxLength: rules.MaxLen, //nolint:protogetter // unset is no limit
		Pattern: rules.GetPattern(), Enum: rules.GetIn(),
	}
}

func whole(rules *validate.Int32Rules) *node {
	n := &node{Type: "integer", Minimum: new(float64(math.MinInt32)), Maximum: new(float64(math.MaxInt32))}
	if rules.HasGte() {
		n.Minimum = new(float64(rules.GetGte()))
	}
	if rules.HasLte() {
		n.Maximum = new(float64(rules.GetLte()))
	}
	return n
}

func fraction(rules *validate.DoubleRules) *node {
	n := &node{Type: "number"}
	if rules.HasGte() {
		n.Minimum = new(rules.GetGte())
	}
	if rules.HasGt() {
		n.ExclusiveMinimum = new(rules.GetGt())
	}
	if rules.HasLte() {
		n.Maximum = new(rules.GetLte())
	}
	return n
}

// enum offers the short names and takes all spellings: the short ones in any
// case, and the full ones.
func (w *writer) enum(desc protoreflect.EnumDescriptor, rules *validate.EnumRules) *node {
	offer, spellings := &node{}, []string{}
	for i, short := range wf.EnumNames(desc) {
		value := desc.Values().Get(i)
		if refused(rules, int32(value.Number())) {
			continue
		}
		spellings = append(spellings, anyCase(short), string(value.Name()))
		if value.Number() != 0 {
			offer.Enum = append(offer.Enum, short)
			offer.EnumDescriptions = append(offer.EnumDescriptions, w.told[string(value.Name())])
		}
	}
	return &node{Type: "string", AnyOf: []*node{offer, {Pattern: "^(" + strings.Join(spellings, "|") + ")$"}}}
}

func refused(rules *validate.EnumRules, number int32) bool {
	for _, n := range rules.GetNotIn() {
		if n == number {
			return true
		}
	}
	return false
}

// keyNode is a key's name: a character, or a name in any case.
func keyNode() *node {
	names, spellings := keyname.Names(), []string{"."}
	for _, name := range names {
		spellings = append(spellings, anyCase(name))
	}
	return &node{Type: "string", AnyOf: []*node{{Enum: names}, {Pattern: "^(" + strings.Join(spellings, "|") + ")$"}}}
}

// anyCase is an expression for a name in any case: patterns of JSON schema have
// no flag for it.
func anyCase(name string) string {
	var out strings.Builder
	for _, r := range name {
		if upper := unicode.ToUpper(r); upper != r {
			fmt.Fprintf(&out, "[%c%c]", r, upper)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
