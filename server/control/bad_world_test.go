package control_test

import (
	"errors"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// someReplays leaves a running replay on a machine with two monitors and, behind
// it, one that is open and one that was cancelled; on another machine one that
// waits for a person's checks.
func (s *server) someReplays() (places, *sessiontest.Agent) {
	s.t.Helper()
	hello := sessiontest.Hello(machine, "spool")
	hello.Monitors = []*reprisev1.Monitor{{Index: 0, Primary: true}, {Index: 1}}
	a, _ := sessiontest.Welcomed(s.t, s.agents, s.conn, hello)
	var at places
	at.running = s.create(clicks("one")).GetReplayId()
	a.Dispatch()
	at.open = s.submit(&reprisev1.CreateReplayRequest{MachineId: machine, Workflow: clicks("one"), LeaveOpen: true}).GetReplayId()
	at.done = s.create(clicks("gone")).GetReplayId()
	if err := s.cancel(at.done); err != nil {
		s.t.Fatal(err)
	}
	w := gated()
	w.Actions = w.Actions[1:]
	agents := s.register("desk-2")
	at.gate = s.submit(&reprisev1.CreateReplayRequest{MachineId: "desk-2", Workflow: w}).GetReplayId()
	b, _ := sessiontest.Welcomed(s.t, agents, s.conn, sessiontest.Hello("desk-2", "another spool"))
	if b.Next().GetPause() == nil {
		s.t.Fatal("no pause")
	}
	return at, a
}

// position is where the journal is.
func (s *server) position() string {
	s.t.Helper()
	w, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{UntilPresent: true})
	if err != nil {
		s.t.Fatal(err)
	}
	at := ""
	for {
		m, err := w.Recv()
		if errors.Is(err, io.EOF) {
			return at
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if m.GetResumeEventId() != "" {
			at = m.GetResumeEventId()
		}
	}
}

func fields(err error) (names []string) {
	for _, v := range detail[*errdetails.BadRequest](err).GetFieldViolations() {
		names = append(names, v.GetField())
	}
	return names
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

// raw calls a method of ReplayService with bytes for a message.
func (s *server) raw(method string, message []byte) error {
	return s.conn.Invoke(s.ctx, "/reprise.v1.ReplayService/"+method, message, &struct{}{}, grpc.ForceCodecV2(rawCodec{}))
}

// rawCreate is create with a text that is made invalid on the wire.
func rawCreate(change func(*reprisev1.Workflow), bad string) func(*server, places) error {
	return func(s *server, _ places) error {
		req := &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: clicks("one", "two")}
		change(req.Workflow)
		message, err := proto.Marshal(req)
		if err != nil {
			return err
		}
		if bad != "" {
			message = []byte(strings.ReplaceAll(string(message), bad, strings.Repeat("\xff", len(bad))))
		}
		return s.raw("CreateReplay", message)
	}
}
