package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// fill sets a random part of m's fields, whatever the schema has.
func fill(t *rapid.T, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		choice := field.ContainingOneof()
		if choice != nil && m.WhichOneof(choice) != nil || rapid.IntRange(0, 2).Draw(t, "set") == 0 {
			continue
		}
		switch {
		case field.IsMap():
			for range rapid.IntRange(0, 3).Draw(t, "pairs") {
				key := protoreflect.ValueOfString(rapid.String().Draw(t, "key")).MapKey()
				m.Mutable(field).Map().Set(key, value(t, field.MapValue()))
			}
		case field.IsList():
			list := m.Mutable(field).List()
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				if isComposite(field) {
					fill(t, list.AppendMutable().Message())
				} else {
					list.Append(value(t, field))
				}
			}
		case isComposite(field):
			fill(t, m.Mutable(field).Message())
		default:
			m.Set(field, value(t, field))
		}
	}
}

// text is any text, and often one of several lines.
var text = rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.StringMatching(`[ -~éß€:#"'-]*`)), func(lines []string) string {
	return strings.Join(lines, "\n")
}))

func value(t *rapid.T, field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text.Draw(t, "text"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, "double"))
	case protoreflect.EnumKind:
		n := rapid.IntRange(0, field.Enum().Values().Len()-1).Draw(t, "enum")
		return protoreflect.ValueOfEnum(field.Enum().Values().Get(n).Number())
	case protoreflect.MessageKind:
		span := time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "duration"))
		return protoreflect.ValueOfMessage(durationpb.New(span).ProtoReflect())
	}
	panic(fmt.Sprintf("the schema has a new kind: %v", field.FullName()))
}

// block writes a JSON tree the way people write YAML: collections as indented
// blocks, a text of printable lines as a literal block, the rest quoted.
func block(out *strings.Builder, tree any, indent string) {
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out.WriteString("\n" + indent + quoted(key) + ":")
			block(out, v[key], indent+"  ")
		}
		if len(v) == 0 {
			out.WriteString(" {}")
		}
	case []any:
		for _, item := range v {
			out.WriteString("\n" + indent + "-")
			block(out, item, indent+"  ")
		}
	case string:
		out.WriteString(" " + literal(v, indent))
	default:
		out.WriteString(" " + quoted(v))
	}
}

func literal(text, indent string) string {
	body := strings.TrimRight(text, "\n")
	odd := func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) || r == utf8.RuneError || r == '\ufeff' }
	if body == "" || unicode.IsSpace(rune(body[0])) || strings.HasSuffix(body, " ") || strings.ContainsFunc(body, odd) {
		return quoted(text)
	}
	chomp := map[int]string{0: "|-", 1: "|"}[len(text)-len(body)]
	if chomp == "" {
		chomp = "|+"
	}
	return chomp + "\n" + indent + strings.ReplaceAll(body, "\n", "\n"+indent) + strings.Repeat("\n", max(len(text)-len(body)-1, 0))
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func reads(t *rapid.T, want *reprisev1.Workflow, file []byte) {
	d := decode("w.yaml", aWorkflow, file)
	if err := d.faults.err(); err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	if diff := cmp.Diff(want, d.workflow, protocmp.Transform()); diff != "" {
		t.Fatalf("%s in\n%s", diff, file)
	}
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	writers := map[string]func(*reprisev1.Workflow) ([]byte, error){
		"as JSON, which is YAML": func(w *reprisev1.Workflow) ([]byte, error) { return protojson.Marshal(w) },
		"as indented JSON with the schema's names": func(w *reprisev1.Workflow) ([]byte, error) {
			return protojson.MarshalOptions{Indent: "  ", UseProtoNames: true}.Marshal(w)
		},
		"as YAML with blocks": func(w *reprisev1.Workflow) ([]byte, error) {
			text, err := protojson.Marshal(w)
			if err != nil {
				return nil, err
			}
			var tree any
			if err := json.Unmarshal(text, &tree); err != nil {
				return nil, err
			}
			var out strings.Builder
			block(&out, tree, "")
			return []byte(out.String() + "\n"), nil
		},
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := &reprisev1.Workflow{}
				fill(t, want.ProtoReflect())
				file, err := write(want)
				if err != nil {
					t.Fatal(err)
				}
				if len(file) <= 3 {
					return // the empty workflow is an empty file, which is a fault
				}
				reads(t, want, file)
			})
		})
	}
}
