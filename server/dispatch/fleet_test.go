package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestAStalledMachineDelaysNoOther(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		for _, m := range []string{"m1", "m2"} {
			f.submit(m, "r"+m, click, click)
		}
		release := f.journal.stall("m1")
		defer release()
		stuck := f.open("m1", "s1")
		began := time.Now()
		c := f.open("m2", "s2")
		f.report("m2", "s2", "rm2-1")
		f.report("m2", "s2", "rm2-2")
		if got := c.take(); count[Ack](got) != 2 || count[Deliver](got) != 2 {
			t.Errorf("the other machine got %v", got)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it waited for %v", took)
		}
		if got := stuck.take(); len(got) != 0 {
			t.Errorf("the stalled machine sent %v before it was durable", got)
		}
	})
}

func TestASweepLooksAtEveryMachineAndSaysWhichDidNotAnswer(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		for _, m := range []string{"m1", "m2"} {
			f.submit(m, "r"+m, click)
			f.open(m, "s"+m)
		}
		f.submit("m3", "rm3", click)
		release := f.journal.stall("m3")
		defer release()
		f.open("m3", "sm3")
		synctest.Wait()
		// Half an interval after the sweep began it waits no longer.
		time.Sleep(15 * time.Second)
		synctest.Wait()
		got := <-f.swept
		if diff := cmp.Diff(Swept{Unanswered: 1}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASweepOfAMachineThatCannotBeReadIsAnswered(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		f.journal.set(errDiskFull, errDiskFull)
		f.open("m", "s1")
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff(Swept{}, <-f.swept); diff != "" {
			t.Error(diff)
		}
	})
}

func TestADrainWaitsForWhatIsInFlight(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click, click)
		c := f.open("m", "s1")
		f.submit("away", "q", click) // nothing of it is in flight
		c.take()
		drained := make(chan error, 1)
		go func() { drained <- f.Drain(f.ctx) }()
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case err := <-drained:
			t.Fatalf("drained with an action in flight: %v", err)
		default:
		}
		f.report("m", "s1", "r-1")
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
		if got := c.take(); count[Ack](got) != 1 || count[Deliver](got) != 0 {
			t.Errorf("sent %v, want the answer alone", got)
		}
		f.submit("new", "n", click)
		if got := f.open("new", "s2").take(); count[Deliver](got) != 0 {
			t.Errorf("a machine that is new during the drain got %v", got)
		}
	})
}

func TestABusyMachineHoldsUpNoOthersDrain(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m1", "r1", click)
		release := f.journal.stall("m1")
		defer release()
		f.open("m1", "s1")
		f.submit("m2", "r2", click, click)
		c := f.open("m2", "s2")
		c.take()
		ctx, cancel := context.WithTimeout(f.ctx, 4*time.Second)
		defer cancel()
		drained := make(chan error, 1)
		go func() { drained <- f.Drain(ctx) }()
		synctest.Wait()
		f.report("m2", "s2", "r2-1")
		if got := c.take(); count[Deliver](got) != 0 {
			t.Errorf("the other machine still dispatches: %v", got)
		}
		if err := <-drained; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("drained: %v", err)
		}
	})
}

// A server that was killed leaves what was in flight to the next one.
func TestARecoveredFleetGoesOnFromItsJournal(t *testing.T) {
	j := newFakeJournal()
	inBubble(t, j, func(f *fleet) {
		f.submit("m", "done", click)
		f.submit("m", "r", click, click)
		f.open("m", "s1")
		f.report("m", "s1", "done-1")
		synctest.Wait()
	})
	inBubble(t, j, func(f *fleet) {
		v, found, err := f.Loop("m").View(f.ctx, "r")
		if err != nil || !found || v.Actions[0].State != replay.ActionDispatched || !v.AgentAway {
			t.Fatalf("recovered %+v, %v, %v", v, found, err)
		}
		c := f.open("m", "s2")
		f.report("m", "s2", "done-1")
		got := c.take()
		var reason replay.Reason
		var verdict replay.Verdict
		for _, e := range got {
			switch e := e.(type) {
			case Deliver:
				reason = e.Delivery.Reason
			case Ack:
				verdict = e.Verdict
			}
		}
		if count[Deliver](got) != 1 || reason != replay.ServerRestart || verdict != replay.NoActiveReplay {
			t.Errorf("sent %v", got)
		}
		if diff := cmp.Diff([]string{"m"}, f.Machines()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAJournalThatCannotBeReadStopsTheRecovery(t *testing.T) {
	j := newFakeJournal()
	j.set(nil, errDiskFull)
	if _, err := Recover(t.Context(), FleetConfig{Machine: config(), Store: j, Observer: fakeObserver{}}); !errors.Is(err, errDiskFull) {
		t.Errorf("recovered with %v", err)
	}
}

func TestAnAgentThatStaysAwayAfterARestartPausesItsReplay(t *testing.T) {
	j := newFakeJournal()
	inBubble(t, j, func(f *fleet) {
		f.submit("m", "r", click)
		f.open("m", "s1")
		synctest.Wait()
	})
	inBubble(t, j, func(f *fleet) {
		time.Sleep(90 * time.Second)
		synctest.Wait()
		v, found, err := f.Loop("m").View(f.ctx, "r")
		if err != nil || !found || v.Head.PauseReason != "dead_client" {
			t.Errorf("after the grace: %+v, %v, %v", v.Head, found, err)
		}
	})
}
