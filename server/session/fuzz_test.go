package session_test

import (
	"context"
	"io"
	"os"
	"regexp"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

var reasonRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| `[A-Z_]+` \\|")

// documented returns the reasons that docs/errors.md has.
func documented(t testing.TB) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range reasonRow.FindAllStringSubmatch(string(page), -1) {
		all[m[1]] = true
	}
	return all
}

// Whatever bytes come: nothing panics or hangs, the stream goes on or ends with a
// documented error that is not the server's fault, no other stream notices, and the
// journal can be read.
func FuzzFrames(f *testing.F) {
	reasons := documented(f)
	for _, seed := range frameSeeds(f) {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	f.Fuzz(func(t *testing.T, hello bool, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			w := newCore(t)
			w.submit("r-1", "one", "two")
			other := w.connect("desk-2")
			other.in <- helloFrame(t, "desk-2")
			frames := split(data)
			if hello {
				frames = append([][]byte{helloFrame(t, machine)}, frames...)
			}
			err := w.connect(machine).say(frames)
			if fault := undocumented(err, reasons); fault != "" {
				t.Errorf("the stream ended with %v: %s", err, fault)
			}
			other.in <- encode(t, &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 7}}})
			synctest.Wait()
			if !other.heardPong(7) {
				t.Error("another machine's stream has suffered")
			}
			if err := other.say(nil); err != nil {
				t.Errorf("another machine's stream ended with %v", err)
			}
			w.store.fold(t, "r-1")
		})
	})
}

// undocumented says what is wrong with the way a stream has ended.
func undocumented(err error, reasons map[string]bool) string {
	reason := reasonOf(err)
	switch code := status.Code(err); {
	case err == nil:
		return ""
	case code == codes.PermissionDenied && reason == auth.MachineForbidden:
		return ""
	case code != codes.InvalidArgument && code != codes.FailedPrecondition:
		return "it is no fault of the agent's"
	case !reasons[reason]:
		return "its reason is not documented"
	}
	return ""
}

// bareStream is a stream without gRPC's transport: what its codec and interceptors
// do to a frame, and no more. So the fuzzer sees the session and not HTTP/2.
type bareStream struct {
	grpc.ServerStream
	ctx   context.Context
	valid *validation.Validation
	in    chan []byte
	out   chan *reprisev1.ConnectResponse
	ended chan error
}

// connect opens a stream of a machine's agent.
func (w *world) connect(machineID string) *bareStream {
	ctx, cancel := context.WithCancel(auth.With(w.t.Context(), auth.Identity{Role: auth.RoleAgent, Machine: machineID}))
	b := &bareStream{
		ctx: ctx, valid: w.valid, in: make(chan []byte, 100), out: make(chan *reprisev1.ConnectResponse, 1000), ended: make(chan error, 1),
	}
	go func() {
		err := w.service.Connect(b)
		cancel() // as gRPC does
		b.ended <- err
	}()
	return b
}

// say sends frames, closes the agent's side and returns how the stream has ended.
func (b *bareStream) say(frames [][]byte) error {
	for _, f := range frames {
		b.in <- f
	}
	close(b.in)
	return <-b.ended
}

func (b *bareStream) heardPong(number uint64) bool {
	for {
		select {
		case m := <-b.out:
			if m.GetPong().GetNumber() == number {
				return true
			}
		default:
			return false
		}
	}
}

func (b *bareStream) Context() context.Context { return b.ctx }

func (b *bareStream) Send(m *reprisev1.ConnectResponse) error {
	b.out <- m
	return nil
}

func (b *bareStream) Recv() (*reprisev1.ConnectRequest, error) {
	select {
	case raw, ok := <-b.in:
		if !ok {
			return nil, io.EOF
		}
		m := &reprisev1.ConnectRequest{}
		if err := validation.Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, m); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		return m, b.valid.Check(m)
	case <-b.ctx.Done():
		return nil, context.Cause(b.ctx)
	}
}

// split cuts fuzzed bytes into frames: each has its length before it.
func split(data []byte) (frames [][]byte) {
	for len(data) > 0 && len(frames) < 50 {
		length, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return append(frames, data)
		}
		data = data[n:]
		size := min(length, uint64(len(data)))
		frames, data = append(frames, data[:size]), data[size:]
	}
	return frames
}

// joined is what split splits.
func joined(frames ...[]byte) (data []byte) {
	for _, f := range frames {
		data = protowire.AppendBytes(data, f)
	}
	return data
}

func frameSeeds(f *testing.F) [][]byte {
	f.Helper()
	report := &reprisev1.Report{ActionId: "r-1-1", Success: true, Completion: reprisev1.Completion_COMPLETION_COMPLETED, Warnings: []reprisev1.Warning{99}}
	failed := &reprisev1.Report{ActionId: "r-1-1", Error: &reprisev1.ActionError{Code: 77, Message: "novel"}}
	hello := sessiontest.Hello(machine, "spool")
	hello.Results, hello.Executing = []*reprisev1.Report{report}, &reprisev1.ActionRef{ActionId: "r-1-2"}
	hello.Unfinished = []*reprisev1.ActionRef{{ActionId: "r-0-1"}}
	seeds := [][]byte{nil, joined(nil), joined([]byte{0xff}), joined(reportFrame(f, report), reportFrame(f, failed), reportFrame(f, report))}
	for _, m := range []*reprisev1.ConnectRequest{
		{Message: &reprisev1.ConnectRequest_Hello{Hello: hello}},
		{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{ActionId: "r-1-1", State: 2, Doing: "something"}}},
		{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: &reprisev1.DesktopState{Kind: 2, Detail: "Win+L"}}},
		{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{Kind: 1, ReplayId: "r-1"}}},
		{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 1}}},
		{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: 1}}},
		{Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: &reprisev1.CaptureResult{CaptureId: "c", Error: &reprisev1.ActionError{Code: 5}}}},
	} {
		seeds = append(seeds, joined(encode(f, m)), joined(encode(f, m), encode(f, m)))
	}
	return seeds
}
