package session_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// maxFrame is the largest message that the world's server takes: gRPC's default.
const maxFrame = 4 << 20

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	return proto.Unmarshal(data.Materialize(), v.(proto.Message))
}

// rawStream is an agent's stream below the schema. Nothing reads it until it ends.
type rawStream struct {
	stream grpc.ClientStream
	cancel context.CancelFunc
}

func (w *world) raw(conn *grpc.ClientConn) *rawStream {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := conn.NewStream(ctx, desc, reprisev1.AgentService_Connect_FullMethodName, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		w.t.Fatal(err)
	}
	return &rawStream{stream, cancel}
}

// send sends frames; those that come after the stream's end are lost.
func (r *rawStream) send(frames ...[]byte) {
	for _, f := range frames {
		_ = r.stream.SendMsg(f)
	}
}

// end reads to the stream's end and returns its error; io.EOF is an end in order.
func (r *rawStream) end() error {
	for {
		if err := r.stream.RecvMsg(&reprisev1.ConnectResponse{}); err != nil {
			return err
		}
	}
}

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func helloFrame(t testing.TB, machineID string) []byte {
	return encode(t, &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: sessiontest.Hello(machineID, "spool")}})
}

func reportFrame(t testing.TB, r *reprisev1.Report) []byte {
	return encode(t, &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: r}})
}

// neighbour opens the stream of another machine, on the world's own connection.
func (w *world) neighbour() *sessiontest.Agent {
	w.t.Helper()
	mine := w.token
	w.token = auth.Identity{Role: auth.RoleAgent, Machine: "desk-2"}
	a, _ := sessiontest.Welcomed(w.t, w.t.Context(), w.conn, sessiontest.Hello("desk-2", "spool"))
	w.token = mine
	return a
}

// unharmed fails unless a neighbour's stream still answers.
func unharmed(t *testing.T, a *sessiontest.Agent) {
	t.Helper()
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 7}}})
	if n := a.Next().GetPong().GetNumber(); n != 7 {
		t.Errorf("another machine's stream has suffered: pong %d", n)
	}
}

// Each wrong frame ends its stream with a code that says what was wrong, settles
// nothing, and no other stream on the same connection notices.
func TestAWrongFrameEndsItsStreamAndNoOther(t *testing.T) {
	hello := helloFrame(t, machine)
	invalidText := encode(t, &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{
		ActionId: "r-1-1", State: reprisev1.ProgressState_PROGRESS_STATE_EXECUTING, Doing: "XX",
	}}})
	invalidText = []byte(strings.ReplaceAll(string(invalidText), "XX", "\xff\xfe"))
	done := &reprisev1.Report{ActionId: "r-1-1", Success: true, Completion: reprisev1.Completion_COMPLETION_COMPLETED}
	forAnother, nameless := proto.CloneOf(done), proto.CloneOf(done)
	forAnother.MachineId, nameless.ActionId = "desk-2", ""
	tests := []struct {
		name   string
		frames [][]byte
		code   codes.Code
		reason string
	}{
		{"the first message is not the hello", [][]byte{reportFrame(t, done)}, codes.InvalidArgument, "HELLO_EXPECTED"},
		{"a second hello", [][]byte{hello, hello}, codes.InvalidArgument, "HELLO_EXPECTED"},
		{"a hello for another machine than the token's", [][]byte{helloFrame(t, "desk-3")}, codes.PermissionDenied, auth.MachineForbidden},
		{"a hello for no machine", [][]byte{helloFrame(t, "")}, codes.InvalidArgument, "INVALID_FIELD"},
		{"a report for another machine", [][]byte{hello, reportFrame(t, forAnother)}, codes.InvalidArgument, "OTHER_MACHINE"},
		{"a report without an action id", [][]byte{hello, reportFrame(t, nameless)}, codes.InvalidArgument, "INVALID_FIELD"},
		{"a message that says nothing", [][]byte{hello, {}}, codes.InvalidArgument, "INVALID_FIELD"},
		{"nothing from the start", [][]byte{{}}, codes.InvalidArgument, "INVALID_FIELD"},
		{"invalid UTF-8", [][]byte{hello, invalidText}, codes.InvalidArgument, "INVALID_FIELD"},
		{"bytes that are no message", [][]byte{hello, {0xff, 0xff, 0xff}}, codes.InvalidArgument, "INVALID_MESSAGE"},
		{"a picture that nobody can be given", [][]byte{hello, encode(t, &reprisev1.ConnectRequest{
			Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: &reprisev1.CaptureResult{}},
		})}, codes.InvalidArgument, "INVALID_FIELD"},
		// gRPC itself answers this one: it has no reason of ours.
		{"a frame over the size limit", [][]byte{hello, make([]byte, maxFrame+1)}, codes.ResourceExhausted, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.submit("r-1", "one")
				other := w.neighbour()
				r := w.raw(w.conn)
				r.send(tt.frames...)
				refused(t, r.end(), tt.code, tt.reason)
				synctest.Wait()
				if w.connected() {
					t.Error("the machine is shown as connected")
				}
				if n := w.store.fold(t, "r-1").Settled; n != 0 {
					t.Errorf("%d actions are settled", n)
				}
				unharmed(t, other)
			})
		})
	}
}

// What is no fault of an older schema's reader goes on: fields it does not know,
// and captures it never asked for.
func TestFramesOfANewerAgentAreTaken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		novel := protowire.AppendString(protowire.AppendTag(helloFrame(t, machine), 4711, protowire.BytesType), "novel")
		_, picture := sessiontest.PNG(t, 1, 1)
		r := w.raw(w.conn)
		r.send(novel, encode(t, &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: &reprisev1.CaptureResult{
			CaptureId: "of yesterday", Picture: picture,
		}}}))
		synctest.Wait()
		if !w.connected() {
			t.Fatal("the stream has ended")
		}
		if err := r.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if err := r.end(); !errors.Is(err, io.EOF) {
			t.Errorf("it ended with %v", err)
		}
	})
}
