package cases

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// clickAt is a click at the nth place.
func clickAt(n int) *reprisev1.Action {
	return &reprisev1.Action{
		Kind:   &reprisev1.Action_Click{Click: &reprisev1.Click{}},
		Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(n), Y: 0.5}},
	}
}

// clickIn is a click in the middle of a window.
func clickIn(window string) *reprisev1.Action {
	return &reprisev1.Action{
		Kind:   &reprisev1.Action_Click{Click: &reprisev1.Click{}},
		Target: &reprisev1.Target{WindowTitle: window},
	}
}

// forAnHour lets an action run so long that no limit of its own ends it.
func forAnHour(a *reprisev1.Action) *reprisev1.Action {
	a.Timeout = durationpb.New(time.Hour)
	return a
}

// ofStep says whether an id is a decision to run the nth step of a replay.
func ofStep(id string, n int) bool {
	_, rest, ok := strings.Cut(id, "-")
	step, _, _ := strings.Cut(rest, "_")
	return ok && step == string(rune('0'+n))
}

// decision returns what became of one decision to run a step, by its id without
// the replay's.
func decision(t *testing.T, r *reprisev1.Replay, id string) *reprisev1.ActionStatus {
	t.Helper()
	var ids []string
	for _, a := range r.GetActions() {
		if a.GetActionId() == r.GetReplayId()+"-"+id {
			return a
		}
		ids = append(ids, a.GetActionId())
	}
	t.Fatalf("no decision %s among %v", id, ids)
	return nil
}

// mute loses what the agent says of a step but the receipt of each attempt: it is
// there, it has the action, and is silent on it.
func (s *station) mute(step int) {
	heard := map[string]bool{}
	s.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		p := m.GetProgress()
		switch {
		case ofStep(m.GetReport().GetActionId(), step):
			return drop
		case !ofStep(p.GetActionId(), step):
			return pass
		case heard[p.GetAttemptId()]:
			return drop
		}
		heard[p.GetAttemptId()] = true
		return pass
	})
}

// steps returns the ids that were dispatched, in order, without their replay's.
func (s *station) steps() []string {
	return seen(s.relay, func(m message) (string, bool) {
		_, step, ok := strings.Cut(m.down.GetDispatch().GetActionId(), "-")
		return step, ok
	})
}

// verdicts returns how the reports were taken, in order, those in a hello too.
func (s *station) verdicts() []reprisev1.ReportVerdict {
	var all []reprisev1.ReportVerdict
	for _, acks := range seen(s.relay, func(m message) ([]*reprisev1.ReportAck, bool) {
		if a := m.down.GetReportAck(); a != nil {
			return []*reprisev1.ReportAck{a}, true
		}
		return m.down.GetWelcome().GetResultAcks(), true
	}) {
		for _, a := range acks {
			all = append(all, a.GetVerdict())
		}
	}
	return all
}

// accepted counts the reports that were taken as such.
func (s *station) accepted() (n int) {
	for _, v := range s.verdicts() {
		if v == reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED {
			n++
		}
	}
	return n
}
