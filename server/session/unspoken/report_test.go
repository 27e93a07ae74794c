package unspoken_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/unspoken"
)

// fill puts a text into every field of a message that is one, and returns how many
// there are.
func fill(t *testing.T, m protoreflect.Message, text string) (filled int) {
	t.Helper()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap(), f.Kind() == protoreflect.BytesKind:
			t.Fatalf("%s is not masked", f.FullName())
		case f.Kind() == protoreflect.StringKind && f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfString(text))
			filled++
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(text))
			filled++
		case f.Kind() == protoreflect.MessageKind && f.IsList():
			filled += fill(t, m.Mutable(f).List().AppendMutable().Message(), text)
		case f.Kind() == protoreflect.MessageKind:
			filled += fill(t, m.Mutable(f).Message(), text)
		}
	}
	return filled
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The schema may grow: whatever field of a report is a text, it is masked.
func TestEveryTextOfAReportIsMasked(t *testing.T) {
	r := &reprisev1.Report{}
	if n := fill(t, r.ProtoReflect(), `it holds "hunter2"`); n < 30 {
		t.Fatalf("%d texts were filled", n)
	}
	got, err := unspoken.Of(typing("hunter2")).Report(encoded(t, r))
	if err != nil {
		t.Fatal(err)
	}
	if all := string(encoded(t, got)); strings.Contains(all, "hunter2") || !strings.Contains(all, `it holds "•••"`) {
		t.Errorf("%v", got)
	}
}

// A newer agent may have texts of which this server knows nothing.
func TestWhatIsNotKnownOfAReportIsNotShown(t *testing.T) {
	raw := protowire.AppendString(protowire.AppendTag(encoded(t, &reprisev1.Report{Success: true}), 999, protowire.BytesType), "hunter2")
	for _, typed := range []string{"hunter2", "something else"} {
		got, err := unspoken.Of(typing(typed)).Report(raw)
		if err != nil || !got.GetSuccess() || strings.Contains(string(encoded(t, got)), "hunter2") {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// An id or a digest is no text that an agent repeats, even if it holds what was
// typed; in their place nothing else can hide.
func TestIDsAndDigestsStay(t *testing.T) {
	digest := strings.Repeat("a1", 32)
	texts := unspoken.Of(typing("a1"))
	r := &reprisev1.Report{
		ActionId: "ra1-1", AttemptId: "ta1", SessionId: "a1",
		ScreenshotBefore: &reprisev1.EvidenceRef{Sha256: digest}, ScreenshotAfter: &reprisev1.EvidenceRef{Sha256: "a1"},
	}
	got, err := texts.Report(encoded(t, r), "ra1-1", "ta1")
	want := &reprisev1.Report{
		ActionId: "ra1-1", AttemptId: "ta1", SessionId: unspoken.Mask,
		ScreenshotBefore: &reprisev1.EvidenceRef{Sha256: digest}, ScreenshotAfter: &reprisev1.EvidenceRef{Sha256: unspoken.Mask},
	}
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheWordsOfAPictureAreMasked(t *testing.T) {
	ref := &reprisev1.EvidenceRef{Note: "it shows hunter2", Method: "hunter2"}
	unspoken.Of(typing("hunter2")).Picture(ref)
	unspoken.Of(typing("hunter2")).Picture(nil)
	if ref.GetNote() != "it shows •••" || ref.GetMethod() != "•••" {
		t.Errorf("%v", ref)
	}
}
