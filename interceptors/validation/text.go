package validation

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// invalidText returns the path of the first string of a message on the wire that
// is no valid UTF-8; empty: there is none, or the message is broken before it.
func invalidText(raw []byte, d protoreflect.MessageDescriptor) string {
	seen := map[protowire.Number]int{} // how many elements of a repeated field came
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return ""
		}
		value := raw[n:]
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return ""
		}
		value, raw = value[:n], value[n:]
		f := d.Fields().ByNumber(number)
		if f == nil || kind != protowire.BytesType {
			continue
		}
		content, _ := protowire.ConsumeBytes(value)
		name := string(f.Name())
		if f.IsList() {
			name = fmt.Sprintf("%s[%d]", name, seen[number])
			seen[number]++
		}
		if path := invalidIn(content, f, name); path != "" {
			return path
		}
	}
	return ""
}

// invalidIn looks into one value of a field.
func invalidIn(content []byte, f protoreflect.FieldDescriptor, name string) string {
	switch {
	case f.Kind() == protoreflect.StringKind && !utf8.Valid(content):
		return name
	case f.Kind() == protoreflect.MessageKind:
		inner := invalidText(content, f.Message())
		switch {
		case inner == "":
			return ""
		case f.IsMap(): // which entry cannot be said: its key may be the fault
			return name
		}
		return name + "." + inner
	}
	return ""
}
