package dispatch

import (
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// A fault of ours makes the machine be read again. What was durable before stays so:
// the session that holds the machine, and the replays that ended.
func TestAMachineThatIsReadAgainAfterAFaultKeepsWhatWasDurable(t *testing.T) {
	m := NewMachine("m", config(), began, nil, nil)
	c := NewCore(m)
	take := func(in Input) (effects []Effect) {
		t.Helper()
		want := c.Take(began, in)
		for {
			effects = append(effects, want.Effects...)
			switch {
			case len(want.Append) > 0:
				want = c.Appended(began, nil)
			case want.Read:
				want = c.Recalled(began, nil, nil) // the one replay has ended
			default:
				return effects
			}
		}
	}
	take(Submit{ReplayID: "r", Created: replay.Created{MachineID: "m", Steps: steps(click)}, Reply: func(Answer) {}})
	take(Open{Session: Session{Session: replay.Session{ID: "s", SpoolID: "spool"}, Usable: true}})
	take(Report{SessionID: "s", Result: Result{Ref: Ref{ActionID: "r-1"}, Report: success}})
	c.broken = true // as after a Fault
	acked := take(Report{SessionID: "s", Result: Result{Ref: Ref{ActionID: "r-1"}, Report: success}})
	if a, ok := acked[0].(Ack); !ok || a.Verdict != replay.NoActiveReplay {
		t.Errorf("a report of the replay that ended is answered %v", acked)
	}
	if s := m.Status(); s.SessionID != "s" {
		t.Errorf("the machine is held by %q", s.SessionID)
	}
}
