package validation

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// read decodes raw as the server does and returns what the check says of it.
func read(t *testing.T, raw []byte, m proto.Message) error {
	t.Helper()
	if err := Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, m); err != nil {
		t.Fatalf("the codec itself fails: %v", err)
	}
	return newValidation(t).Check(m)
}

// encoded is a message with a marker in each of its texts that the test makes
// invalid afterwards.
func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(raw), "BAD", "\xff\xfe\xfd"))
}

func TestATextThatIsNoUTF8IsNamed(t *testing.T) {
	action := func(text string) *reprisev1.Action {
		return &reprisev1.Action{Name: "n", Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}}}
	}
	for want, m := range map[string]proto.Message{
		"machine_id": &reprisev1.CreateReplayRequest{MachineId: "BAD"},
		"workflow.actions[1].type.text": &reprisev1.CreateReplayRequest{
			MachineId: "desk-1", Workflow: &reprisev1.Workflow{Name: "w", Actions: []*reprisev1.Action{action("good"), action("BAD")}},
		},
		"labels":                    &reprisev1.CreateReplayRequest{Labels: map[string]string{"a": "BAD"}},
		"workflow.labels":           &reprisev1.CreateReplayRequest{Workflow: &reprisev1.Workflow{Labels: map[string]string{"BAD": "a"}}},
		"acknowledged_check_ids[2]": &reprisev1.ResumeReplayRequest{ReplayId: "r", AcknowledgedCheckIds: []string{"a", "b", "BAD"}},
		"hello.results[0].error.message": &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: &reprisev1.Hello{
			Results: []*reprisev1.Report{{Error: &reprisev1.ActionError{Message: "BAD"}}},
		}}},
	} {
		err := read(t, encoded(t, m), m.ProtoReflect().New().Interface())
		got := violations(err)
		if status.Code(err) != codes.InvalidArgument || len(got) != 1 || got[0].GetField() != want {
			t.Errorf("%v names %v, want %s", err, got, want)
		}
		if reason, _ := infoOf(err); reason != InvalidField {
			t.Errorf("%s has the reason %q", want, reason)
		}
	}
}

func TestWhatCannotBeReadIsTheCallersFault(t *testing.T) {
	whole, err := proto.Marshal(&reprisev1.CancelReplayRequest{ReplayId: "r-1", Reason: "enough"})
	if err != nil {
		t.Fatal(err)
	}
	mark := protowire.AppendString(protowire.AppendTag(nil, markNumber, protowire.BytesType), "the patient's name")
	for name, raw := range map[string][]byte{
		"cut": whole[:len(whole)-2], "no message at all": []byte("GET / HTTP/1.1\r\n"), "a mark of the caller's own": append(whole, mark...),
	} {
		err := read(t, raw, &reprisev1.CancelReplayRequest{})
		if reason, _ := infoOf(err); status.Code(err) != codes.InvalidArgument || reason != InvalidMessage || strings.Contains(err.Error(), "patient") {
			t.Errorf("%s: %v, %q", name, err, reason)
		}
	}
}

func TestAMessageOfANewerCallerIsRead(t *testing.T) {
	raw, err := proto.Marshal(&reprisev1.CancelReplayRequest{ReplayId: "r-1"})
	if err != nil {
		t.Fatal(err)
	}
	raw = protowire.AppendVarint(protowire.AppendTag(raw, 4711, protowire.VarintType), 1)
	got := &reprisev1.CancelReplayRequest{}
	if err := read(t, raw, got); err != nil || got.GetReplayId() != "r-1" {
		t.Errorf("%v, %v", got, err)
	}
}

// Arbitrary bytes never make the codec fail or panic, and what it hands on is
// either what the bytes say or refused.
func FuzzCodec(f *testing.F) {
	f.Add([]byte("\x0a\x03r-1"))
	f.Add([]byte("\x0a\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, plain := &reprisev1.CreateReplayRequest{}, &reprisev1.CreateReplayRequest{}
		if err := Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, m); err != nil {
			t.Fatal(err)
		}
		_, marked := markOf(m)
		if err := proto.Unmarshal(raw, plain); err != nil != marked {
			if _, theirs := markOf(plain); !theirs {
				t.Errorf("marked: %v, unmarshal says %v", marked, err)
			}
		}
	})
}
