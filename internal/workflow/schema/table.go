package schema

import (
	"fmt"
	"strconv"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	wf "github.com/reprise-rpa/reprise/internal/workflow"
)

// Markdown writes the tables of every field and every value of a workflow file.
// Source is the generated Go file of action.proto, which has its comments.
func Markdown(source []byte) (string, error) {
	told, err := read(source)
	if err != nil {
		return "", err
	}
	w := writer{told: told, definitions: map[string]*node{}}
	var out strings.Builder
	messages, enums := reachable(workflow())
	for _, m := range messages {
		if m.Fields().Len() == 0 {
			continue
		}
		if err := w.table(&out, m); err != nil {
			return "", err
		}
	}
	for _, e := range enums {
		w.values(&out, e)
	}
	return out.String(), nil
}

// reachable lists what a message can hold, in the order in which a reader meets it.
func reachable(root protoreflect.MessageDescriptor) (messages []protoreflect.MessageDescriptor, enums []protoreflect.EnumDescriptor) {
	met := map[protoreflect.FullName]bool{root.FullName(): true}
	messages = append(messages, root)
	for at := 0; at < len(messages); at++ {
		for _, f := range fieldsOf(messages[at].Fields()) {
			switch {
			case f.Enum() != nil && !met[f.Enum().FullName()]:
				met[f.Enum().FullName()] = true
				enums = append(enums, f.Enum())
			case f.Message() != nil && !f.IsMap() && f.Message().FullName() != durationName && !met[f.Message().FullName()]:
				met[f.Message().FullName()] = true
				messages = append(messages, f.Message())
			}
		}
	}
	return messages, enums
}

func (w *writer) table(out *strings.Builder, desc protoreflect.MessageDescriptor) error {
	needs, err := needsOf(desc)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n### Fields of %s\n\n%s\n\n| field | value | limits | meaning |\n| --- | --- | --- | --- |\n", desc.Name(), w.told[string(desc.Name())])
	for _, f := range fieldsOf(desc.Fields()) {
		n, err := w.field(f)
		if err != nil {
			return err
		}
		limits, err := limitsOf(f, n, needs)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", f.JSONName(), valueOf(f), cell(limits), cell(n.Description))
	}
	return nil
}

func (w *writer) values(out *strings.Builder, desc protoreflect.EnumDescriptor) {
	fmt.Fprintf(out, "\n### Values of %s\n\n%s\n\n| value | meaning |\n| --- | --- |\n", desc.Name(), w.told[string(desc.Name())])
	for i, short := range wf.EnumNames(desc) {
		value := desc.Values().Get(i)
		if value.Number() == 0 {
			short = "not given"
		} else {
			short = "`" + short + "`"
		}
		fmt.Fprintf(out, "| %s | %s |\n", short, cell(w.told[string(value.Name())]))
	}
}

func valueOf(f protoreflect.FieldDescriptor) string {
	if f.IsMap() {
		return "a mapping of texts"
	}
	one := map[protoreflect.Kind]string{
		protoreflect.StringKind: "text", protoreflect.BoolKind: "`true` or `false`",
		protoreflect.Int32Kind: "whole number", protoreflect.DoubleKind: "number",
	}[f.Kind()]
	switch {
	case f.Enum() != nil:
		one = link("values", f.Enum().Name())
	case f.Message() != nil && f.Message().FullName() == durationName:
		one = "duration"
	case f.Message() != nil && f.Message().Fields().Len() == 0:
		one = "nothing"
	case f.Message() != nil:
		one = link("fields", f.Message().Name())
	}
	if f.IsList() {
		return "list: " + one
	}
	return one
}

func link(of string, name protoreflect.Name) string {
	return fmt.Sprintf("[%s](#%s-of-%s)", name, of, strings.ToLower(string(name)))
}

// limitsOf says in words what the JSON schema of a field says.
func limitsOf(f protoreflect.FieldDescriptor, n *node, needs needs) (string, error) {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case needs.fields[f.Number()], f.FullName() == "reprise.v1.Workflow.actions":
		say("required")
	case among(f, needs.oneOf...):
		say("exactly one of these")
	case among(f, needs.anyOf):
		say("at least one of these")
	}
	if needsPlace[f.FullName()] {
		say("needs a `target`")
	}
	if r := count(n.MinItems, n.MaxItems, "items"); r != "" {
		say("%s", r)
	}
	if n.MaxProperties != nil {
		say("up to %d pairs", *n.MaxProperties)
	}
	if n.UniqueItems {
		say("each once")
	}
	for _, of := range []*node{n, n.Items} {
		if of == nil {
			continue
		}
		if len(of.Enum) > 0 {
			say("`%s`", strings.Join(of.Enum, "`, `"))
		}
		if r := count(of.MinLength, of.MaxLength, "characters"); r != "" {
			say("%s", r)
		}
		if of.Type == "integer" || of.Type == "number" {
			say("%s", between(of))
		}
	}
	d, err := durationLimits(f)
	if err != nil {
		return "", err
	}
	if d != "" {
		say("%s", d)
	}
	return strings.Join(parts, "; "), nil
}

func among(f protoreflect.FieldDescriptor, groups ...[]protoreflect.FieldDescriptor) bool {
	for _, group := range groups {
		for _, one := range group {
			if one.Number() == f.Number() {
				return true
			}
		}
	}
	return false
}

func count(least, most *uint64, of string) string {
	switch {
	case least != nil && *least > 0 && most != nil:
		return fmt.Sprintf("%d to %d %s", *least, *most, of)
	case most != nil:
		return fmt.Sprintf("up to %d %s", *most, of)
	case least != nil && *least > 0:
		return fmt.Sprintf("at least %d %s", *least, of)
	}
	return ""
}

func between(n *node) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case n.ExclusiveMinimum != nil && n.Maximum != nil:
		return "above " + number(*n.ExclusiveMinimum) + ", up to " + number(*n.Maximum)
	case n.Minimum != nil && n.Maximum != nil:
		return number(*n.Minimum) + " to " + number(*n.Maximum)
	}
	return ""
}

func durationLimits(f protoreflect.FieldDescriptor) (string, error) {
	rules, err := protovalidate.ResolveFieldRules(f)
	if err != nil {
		return "", fmt.Errorf("schema: %s: %w", f.FullName(), err)
	}
	d := rules.GetDuration()
	if d == nil || !d.HasLte() {
		return "", nil
	}
	most := d.GetLte().AsDuration()
	if d.HasGt() {
		return fmt.Sprintf("longer than %s, up to %s", d.GetGt().AsDuration(), most), nil
	}
	return fmt.Sprintf("%s to %s", d.GetGte().AsDuration(), most), nil
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
