package control_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

const needle = "S3cr3t-needle-42"

// B26: what is typed is on the wire to the agent, in the journal and in the
// report as the agent stored it; nowhere else, even when the agent repeats it.
func TestTypedTextIsInNoLogAndNoAnswer(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		w := &reprisev1.Workflow{Name: "types"}
		for range 2 {
			w.Actions = append(w.Actions, &reprisev1.Action{
				Kind:        &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: needle}}},
				RetryPolicy: &reprisev1.RetryPolicy{MaxRetries: proto.Int32(0), OnExhausted: reprisev1.RetriesExhausted_RETRIES_EXHAUSTED_FAIL},
			})
		}
		id := s.create(w).GetReplayId()
		watch := s.watch(id)
		stored := 0
		say := func(r *reprisev1.Replay, events ...*reprisev1.ReplayEvent) {
			for _, a := range r.GetActions() {
				if strings.Contains(a.GetReport().GetError().GetMessage(), needle) {
					stored++ // as the agent stored it
				}
				a.Report = nil
			}
			if text := protojson.Format(&reprisev1.WatchReplayResponse{Replay: r, Events: events}); strings.Contains(text, needle) {
				t.Errorf("an answer says %s", text)
			}
		}
		first, err := watch.Recv()
		if err != nil {
			t.Fatal(err)
		}
		say(first.GetReplay())
		a := s.agent("spool")
		d := a.Dispatch()
		a.Progress(d.GetActionId(), "typing "+needle)
		a.Report(sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, "found "+needle))
		a.Next()
		a.Ack()
		say(s.get(id))
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id, Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP}); err != nil {
			t.Fatal(err)
		}
		a.Next()
		failed := sessiontest.Failed(a.Dispatch(), reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, "lost "+needle)
		failed.Completion = reprisev1.Completion_COMPLETION_NOT_STARTED
		a.Report(failed)
		for {
			m, err := watch.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			say(m.GetReplay(), m.GetEvents()...)
		}
		say(s.get(id))
		say(s.list()[0])
		if s.list()[0].GetState() != reprisev1.ReplayState_REPLAY_STATE_FAILED || !strings.Contains(s.list()[0].GetEndReason(), "lost") {
			t.Errorf("%v", s.list()[0])
		}
		if stored == 0 {
			t.Error("the stored report is not shown")
		}
		if log := s.log.String(); strings.Contains(log, needle) || !strings.Contains(log, "session opened") {
			t.Errorf("the log says:\n%s", log)
		}
	})
}
