package session

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// A stream that has been replaced is given no more work: the machine's next
// session is. What was answered before is still said.
func TestAnEndedSessionSendsAnswersAndNoAction(t *testing.T) {
	payload, err := proto.Marshal(&reprisev1.Action{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t.Context(), "s-1", "desk-1", converter{})
	s.Send(dispatch.Welcome{SessionID: "s-1"})
	s.Send(dispatch.Deliver{SessionID: "s-1", Delivery: dispatch.Delivery{ActionID: "r-1-1", Step: replay.Step{Payload: payload}}})
	s.Send(dispatch.Ack{SessionID: "s-1", Ref: dispatch.Ref{ActionID: "r-1-0"}, Verdict: replay.Accepted})
	s.end(registry.ErrFenced)
	var sent []*reprisev1.ConnectResponse
	err = s.write(func(m *reprisev1.ConnectResponse) error { sent = append(sent, m); return nil })
	if !errors.Is(err, registry.ErrFenced) || len(sent) != 2 || sent[0].GetWelcome() == nil || sent[1].GetReportAck().GetActionId() != "r-1-0" {
		t.Errorf("%v was sent, %v", sent, err)
	}
}

// A queue that is full ends the session; nothing is dropped silently.
func TestAFullQueueEndsTheSession(t *testing.T) {
	for name, welcomed := range map[string]bool{"before the welcome": false, "after it": true} {
		s := newSession(t.Context(), "s-1", "desk-1", converter{})
		if welcomed {
			s.Send(dispatch.Welcome{SessionID: "s-1"})
		}
		for n := range queueLength + 1 {
			if s.ended.Err() != nil && n < queueLength-1 {
				t.Fatalf("%s: it ended after %d messages", name, n)
			}
			s.queue(pong(uint64(n)))
		}
		if s.ended.Err() == nil {
			t.Errorf("%s: it goes on", name)
		}
	}
}

func TestAnEffectThatCannotBeSentEndsTheSession(t *testing.T) {
	s := newSession(t.Context(), "s-1", "desk-1", converter{})
	s.Send(dispatch.Deliver{SessionID: "s-1", Delivery: dispatch.Delivery{Step: replay.Step{Payload: []byte{0xff}}}})
	if s.ended.Err() == nil {
		t.Error("it goes on")
	}
}
