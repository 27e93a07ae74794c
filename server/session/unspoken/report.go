package unspoken

import (
	"encoding/hex"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Report decodes an agent's report for those who show it: every text in it is
// masked, and fields that this server does not know are left out, since they may
// be texts too. A field that is one of given, which are the ids that the server
// knows for its own, stays; so does the digest of a picture.
func (t Texts) Report(encoded []byte, given ...string) (*reprisev1.Report, error) {
	r := &reprisev1.Report{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(encoded, r); err != nil {
		return nil, err
	}
	if len(t) > 0 {
		t.message(r.ProtoReflect(), given)
	}
	return r, nil
}

// Picture masks the words of a reference to a picture, in place.
func (t Texts) Picture(ref *reprisev1.EvidenceRef) {
	if len(t) > 0 {
		t.message(ref.ProtoReflect(), nil)
	}
}

func (t Texts) message(m protoreflect.Message, given []string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList():
			for i, list := 0, v.List(); i < list.Len(); i++ {
				if masked, ok := t.value(f, list.Get(i), given); ok {
					list.Set(i, masked)
				}
			}
		case f.IsMap(): // a report has none; a test says when it has
		default:
			if masked, ok := t.value(f, v, given); ok {
				m.Set(f, masked)
			}
		}
		return true
	})
}

// value returns what to put in the place of a text; it masks a message in place.
func (t Texts) value(f protoreflect.FieldDescriptor, v protoreflect.Value, given []string) (masked protoreflect.Value, ok bool) {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		t.message(v.Message(), given)
	case protoreflect.StringKind:
		text := v.String()
		if slices.Contains(given, text) || f.Name() == "sha256" && isDigest(text) {
			return v, false
		}
		return protoreflect.ValueOfString(t.Mask(text)), true
	}
	return v, false
}

func isDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == 32
}
