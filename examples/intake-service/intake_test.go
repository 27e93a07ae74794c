package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

const (
	retry = reprisev1.ResumeDecision_RESUME_DECISION_RETRY
	skip  = reprisev1.ResumeDecision_RESUME_DECISION_SKIP
)

// Nothing is saved before somebody has confirmed what must be confirmed.
func TestSavingWaitsForTheIdentityToBeConfirmed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.intakes.Start(w.ctx, anna))
		n := w.need(time.Second, "user_request")
		want := []Check{{ID: "identity", Label: "Name and date of birth are those on the card", Required: true}}
		if diff := cmp.Diff(want, n.Checks); diff != "" {
			t.Errorf("checks (-want +got):\n%s", diff)
		}
		if err := w.intakes.Decide(w.ctx, anna.Case, n.PauseID, 0, nil); !errors.Is(err, ErrNoChecks) || !strings.Contains(err.Error(), "identity") {
			t.Errorf("without the check: %v", err)
		}
		w.executed(steps[:3]...)
		w.must(w.intakes.Decide(w.ctx, anna.Case, n.PauseID, 0, []string{"identity"}))
		if s := w.status(time.Second); s.State != "completed" || s.Done != 5 || s.Need != nil {
			t.Errorf("at the end: %+v", s)
		}
		w.executed(steps...)
		if err := w.intakes.Decide(w.ctx, anna.Case, n.PauseID, 0, []string{"identity"}); !errors.Is(err, ErrTooLate) {
			t.Errorf("a second decision: %v", err)
		}
	})
}

// A form that is sent twice is one intake; another form of the same case is none.
func TestTheSameFormTwiceIsOneIntake(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.intakes.Start(w.ctx, anna))
		w.must(w.intakes.Start(w.ctx, anna))
		w.confirm()
		w.status(time.Minute)
		w.executed(steps...)
		other := anna
		other.Name = "Anna Burg"
		if err := w.intakes.Start(w.ctx, other); !errors.Is(err, ErrOther) {
			t.Errorf("another form: %v", err)
		}
		if err := w.intakes.Start(w.ctx, Form{Case: "c-18"}); !errors.Is(err, ErrBadForm) {
			t.Errorf("half a form: %v", err)
		}
	})
}

// When nobody knows whether the patient was saved, a person looks: it is not saved
// twice by itself.
func TestAnUnknownOutcomeIsPutToAPerson(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("save", servertest.UnknownOutcome())
		w.must(w.intakes.Start(w.ctx, anna))
		w.confirm()
		n := w.need(time.Minute, "outcome_unknown")
		if n.Step == "" || n.Message == "" {
			t.Errorf("the front desk is told %+v", n)
		}
		w.executed(steps[:4]...)
		w.must(w.intakes.Decide(w.ctx, anna.Case, n.PauseID, skip, nil))
		if s := w.status(time.Second); s.State != "completed" || s.Done != 4 || s.ByHand != 1 {
			t.Errorf("at the end: %+v", s)
		}
		w.executed(steps...)
	})
}

// A machine that dies is told at once; after the grace a person decides.
func TestADeadMachineIsToldAndGoesOnWhenItIsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("enter the name", servertest.Die(), servertest.Succeed())
		w.must(w.intakes.Start(w.ctx, anna))
		if s := w.status(time.Second); s.State != "running" || !s.AgentAway {
			t.Errorf("a second later: %+v", s)
		}
		n := w.need(2*time.Minute, "dead_client")
		w.desk.Return()
		w.must(w.desk.AwaitConnected(w.ctx))
		w.must(w.intakes.Decide(w.ctx, anna.Case, n.PauseID, retry, nil))
		w.confirm()
		if s := w.status(time.Second); s.State != "completed" {
			t.Errorf("at the end: %+v", s)
		}
		w.executed(steps...)
	})
}

// A retried failure is not the front desk's business.
func TestAFieldThatIsFoundAtTheSecondLookNeedsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("enter the birthday", servertest.NotFound("Date of birth"), servertest.Succeed())
		w.must(w.intakes.Start(w.ctx, anna))
		w.confirm()
		if s := w.status(time.Second); s.State != "completed" || s.Done != 5 {
			t.Errorf("at the end: %+v", s)
		}
	})
}

func TestCancelEndsTheIntake(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.intakes.Start(w.ctx, anna))
		w.need(time.Second, "user_request")
		w.must(w.intakes.Cancel(w.ctx, anna.Case, "the patient has left"))
		w.must(w.intakes.Cancel(w.ctx, anna.Case, "the patient has left"))
		if s := w.status(time.Second); s.State != "cancelled" || !strings.Contains(s.Why, "the patient has left") {
			t.Errorf("at the end: %+v", s)
		}
		w.executed(steps[:3]...)
		if err := w.intakes.Cancel(w.ctx, "c-18", ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("of an unknown case: %v", err)
		}
	})
}

// The server is restarted in the middle of the watch, and away for a while: the
// front desk misses nothing and is told nothing twice.
func TestTheLogIsWholeAfterTheServerWasRestarted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("enter the name", servertest.Succeed().After(20*time.Second))
		w.must(w.intakes.Start(w.ctx, anna))
		w.must(w.desk.Await(w.ctx, "enter the name"))
		synctest.Wait()
		before := w.status(0)
		w.must(w.Stop())
		if s := w.status(30 * time.Second); !s.Stale || len(s.Log) != len(before.Log) {
			t.Errorf("while the server is away: %+v", s)
		}
		w.must(w.Restart())
		w.need(10*time.Second, "user_request")
		w.confirm()
		got := w.status(time.Second)
		if got.State != "completed" || got.Stale {
			t.Errorf("at the end: %+v", got)
		}
		w.executed(steps...)
		// Who asks for all events from the first is told the same.
		fresh := w.service()
		w.must(fresh.Start(w.ctx, anna))
		time.Sleep(time.Second)
		synctest.Wait()
		want, err := fresh.Get(anna.Case)
		w.must(err)
		if diff := cmp.Diff(want.Log, got.Log); diff != "" || len(got.Log) < len(before.Log) {
			t.Errorf("the log (-whole +ours):\n%s", diff)
		}
	})
}

// A form that comes while the server is away waits for it.
func TestAFormIsTakenWhenTheServerIsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.Stop())
		started := make(chan error, 1)
		go func() { started <- w.intakes.Start(w.ctx, anna) }()
		time.Sleep(10 * time.Second)
		w.must(w.Restart())
		w.must(<-started)
		w.confirm()
		w.status(time.Second)
		w.executed(steps...)
	})
}

// The service itself is restarted: it finds what is under way.
func TestTheServiceFindsItsIntakesAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.intakes.Start(w.ctx, anna))
		w.need(time.Second, "user_request")
		w.intakes.Close()
		w.intakes = w.service()
		w.must(w.intakes.Recover(w.ctx))
		w.confirm()
		if s := w.status(time.Second); s.State != "completed" {
			t.Errorf("at the end: %+v", s)
		}
	})
}
