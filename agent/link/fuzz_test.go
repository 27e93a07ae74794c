package link

import (
	"context"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// listener is a runner that remembers what it is told.
type listener struct {
	eager
	events []runner.Event
}

func (l *listener) Handle(_ context.Context, e runner.Event) error {
	l.events = append(l.events, e)
	return nil
}

// camera takes no pictures.
type camera struct{}

func (camera) Received([]work.Mask) {}

func (camera) Picture(context.Context, []work.Mask) work.Outcome {
	return work.Failure(work.Internal, work.NotStarted, "no film")
}

// FuzzServerFrames takes arbitrary bytes as what the server says. Each dispatch with
// an id becomes one that can be executed, or one that says why not; whatever is
// answered keeps to the schema.
func FuzzServerFrames(f *testing.F) {
	for _, m := range []*reprisev1.ConnectResponse{
		{Message: &reprisev1.ConnectResponse_Welcome{Welcome: &reprisev1.Welcome{
			SessionId: "s", ResultAcks: []*reprisev1.ReportAck{{ActionId: "a"}}, ClosedActionIds: []string{"b"},
			Settings: &reprisev1.SessionSettings{PingInterval: &durationpb.Duration{Seconds: -1}, MaxPictureBytes: -1},
		}}},
		{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: &reprisev1.Dispatch{
			ReplayId: "r", SessionId: "s", MachineId: "m", ActionId: "a", AttemptId: "a1", Replaces: []string{"b"},
			Masks: []*reprisev1.Mask{{Width: 0.5, Height: 0.5}},
			Action: &reprisev1.Action{
				Target: &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.5}, ResolveOrder: []reprisev1.Resolver{9}},
				Kind:   &reprisev1.Action_Click{Click: &reprisev1.Click{Count: 2}},
			},
		}}},
		{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: &reprisev1.Dispatch{ActionId: "a", Action: &reprisev1.Action{
			Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{}},
		}}}},
		{Message: &reprisev1.ConnectResponse_Pause{Pause: &reprisev1.Pause{ReplayId: "r", SafetyChecks: []*reprisev1.SafetyCheck{nil}}}},
		{Message: &reprisev1.ConnectResponse_Capture{Capture: &reprisev1.Capture{CaptureId: "c", Masks: []*reprisev1.Mask{{}}}}},
		{Message: &reprisev1.ConnectResponse_ReportAck{ReportAck: &reprisev1.ReportAck{ActionId: "a"}}},
		{Message: &reprisev1.ConnectResponse_Resume{Resume: &reprisev1.Resume{ReplayId: "r"}}},
		{Message: &reprisev1.ConnectResponse_Cancel{Cancel: &reprisev1.Cancel{ReplayId: "r"}}},
		{Message: &reprisev1.ConnectResponse_Ping{Ping: &reprisev1.Ping{Number: 1}}},
		{Message: &reprisev1.ConnectResponse_Pong{Pong: &reprisev1.Pong{Number: 1}}},
		{Message: &reprisev1.ConnectResponse_GoAway{GoAway: &reprisev1.GoAway{}}},
		{},
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &reprisev1.ConnectResponse{}
		if proto.Unmarshal(data, m) != nil {
			return // gRPC ends the stream
		}
		heard := &listener{}
		l := New(Config{MachineID: "m", Runner: heard, Camera: camera{}, Evidence: NewEvidence(nil, nil)})
		s := newSession(l, nil)
		s.lease = NewLease(time.Now(), time.Hour)
		s.pongs = make(chan uint64, 1) // nothing watches
		if err := s.handle(t.Context(), m); err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if w := m.GetWelcome(); w != nil {
			opened(w)
		}
		for _, e := range heard.events {
			if d, ok := e.(runner.Dispatched); ok {
				checkDispatched(t, l, d.Dispatch)
			}
		}
		if d := m.GetDispatch(); d != nil && len(heard.events) != 1 && answerable(d) {
			t.Fatalf("a dispatch became %d events", len(heard.events))
		}
		for waiting := s.out.take(); waiting != nil; waiting = s.out.take() {
			if err := protovalidate.Validate(waiting); err != nil {
				t.Fatalf("an answer breaks the schema's rules: %v", err)
			}
		}
	})
}

// checkDispatched fails unless a dispatch can be executed or is answered.
func checkDispatched(t *testing.T, l *Link, d work.Dispatch) {
	t.Helper()
	outcome := work.Failure(work.InvalidAction, work.NotStarted, d.Invalid)
	switch {
	case d.Timeout < 0:
		t.Fatalf("it may run for %v", d.Timeout)
	case d.Invalid == "" && d.Action.Do == nil:
		t.Fatal("it is neither invalid nor anything to do")
	case d.Invalid == "":
		outcome = work.Outcome{Code: work.TargetNotFound, Completion: work.NotStarted, Target: d.Action.Target}
	}
	r := l.report(work.Report{Ref: d.Ref, SessionID: d.SessionID, Outcome: outcome}, "spool")
	if err := protovalidate.Validate(r); err != nil {
		t.Fatalf("its report breaks the schema's rules: %v", err)
	}
}
