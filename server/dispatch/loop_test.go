package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestADeadlineFiresWhenItIsDue(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		c := f.open("m", "s1")
		if got := c.take(); count[Welcome](got[:1]) != 1 || count[Deliver](got) != 1 {
			t.Fatalf("sent %v", got)
		}
		time.Sleep(5*time.Second - 1)
		if got := c.take(); len(got) != 0 {
			t.Fatalf("early: %v", got)
		}
		time.Sleep(time.Nanosecond)
		if got := c.take(); count[Deliver](got) != 1 {
			t.Fatalf("sent %v, want a redelivery", got)
		}
		time.Sleep(5 * time.Second)
		if err := c.closedWith(); !errors.Is(err, ErrDeaf) {
			t.Errorf("closed with %v", err)
		}
	})
}

func TestAReportInTheInboxBeatsADeadlineThatIsDue(t *testing.T) {
	for name, before := range map[string]func(f *fleet){
		"alone":          func(*fleet) {},
		"behind a sweep": func(f *fleet) { f.post("m", Sweep{Done: func(Swept) {}}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newFakeJournal(), func(f *fleet) {
				f.submit("m", "r", click, click)
				c := f.open("m", "s1")
				c.take()
				busy := make(chan struct{})
				go func() { _ = f.Loop("m").Do(f.ctx, func(*Machine) { <-busy }) }()
				synctest.Wait()
				time.Sleep(6 * time.Second) // the receipt is overdue, and the loop busy
				before(f)
				f.report("m", "s1", "r-1")
				close(busy)
				got := c.take()
				if count[Ack](got) != 1 || count[Deliver](got) != 1 {
					t.Fatalf("sent %v, want the answer and r-2", got)
				}
				for _, e := range got {
					if d, ok := e.(Deliver); ok && d.Delivery.ActionID != "r-2" {
						t.Errorf("%s was delivered again", d.Delivery.ActionID)
					}
				}
			})
		})
	}
}

func TestNothingLeavesWhileTheJournalFailsAndAllGoesOnAfterwards(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click, click)
		c := f.open("m", "s1")
		c.take()
		f.journal.set(errDiskFull, nil)
		if a := f.submit("m", "q", click); !errors.Is(a.Err, errDiskFull) {
			t.Errorf("answered %v", a.Err)
		}
		f.report("m", "s1", "r-1")
		if got := c.take(); len(got) != 0 {
			t.Errorf("sent %v", got)
		}
		late := f.open("m", "s2")
		if err := late.closedWith(); !errors.Is(err, errDiskFull) {
			t.Errorf("the stream was closed with %v", err)
		}
		before := f.journal.count()
		time.Sleep(10 * time.Minute)
		if n := f.journal.count() - before; n > 700 {
			t.Errorf("%d writes were tried in ten minutes", n)
		}
		f.journal.set(nil, nil)
		c = f.open("m", "s3")
		if got := c.take(); count[Welcome](got) != 1 {
			t.Fatalf("sent %v", got)
		}
		f.ask("m", func(reply func(Answer)) Input {
			return Command{ReplayID: "r", Reply: reply, Decide: func(r *replay.Replay) ([]replay.Event, error) {
				return r.DecideResume(replay.ResumeCommand{})
			}}
		})
		f.report("m", "s3", "r-1")
		f.report("m", "s3", "r-1_resume")
		if got := c.take(); count[Ack](got) != 2 || count[Deliver](got) < 1 {
			t.Errorf("sent %v", got)
		}
	})
}

func TestADispatchThatWasNotWrittenIsTriedAgainByItself(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		c := &fakeConn{}
		in := Open{Session: Session{Session: replay.Session{ID: "s1", SpoolID: "spool"}}} // its desktop is locked
		if err := f.Loop("m").Open(f.ctx, in, c); err != nil {
			t.Fatal(err)
		}
		c.take()
		f.journal.set(errDiskFull, nil)
		f.post("m", Desktop{SessionID: "s1", Usable: true})
		time.Sleep(3 * time.Second)
		if got := c.take(); len(got) != 0 {
			t.Errorf("sent %v", got)
		}
		f.journal.set(nil, nil)
		time.Sleep(retryAfter)
		if got := c.take(); count[Deliver](got) != 1 {
			t.Errorf("sent %v, want the dispatch", got)
		}
	})
}

func TestWhileTheJournalCannotBeReadEveryoneIsAnsweredAndTheDesktopIsHeard(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click, click)
		c := f.open("m", "s1")
		c.take()
		f.post("m", Desktop{SessionID: "s1"})
		f.journal.set(errDiskFull, errDiskFull)
		f.report("m", "s1", "r-1") // its write fails, and the machine cannot be read
		if a := f.submit("m", "q", click); !errors.Is(a.Err, ErrUnavailable) {
			t.Errorf("answered %v", a.Err)
		}
		if _, _, err := f.Loop("m").View(f.ctx, "r"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("a view: %v", err)
		}
		if err := f.open("m", "s2").closedWith(); !errors.Is(err, ErrUnavailable) {
			t.Errorf("the stream was closed with %v", err)
		}
		f.post("m", Desktop{SessionID: "s1", Usable: true})
		time.Sleep(time.Minute)
		f.journal.set(nil, nil)
		time.Sleep(retryAfter)
		c.take()
		f.report("m", "s1", "r-1")
		if got := c.take(); count[Ack](got) != 1 || count[Deliver](got) != 1 {
			t.Errorf("sent %v, want the answer and the next action", got)
		}
	})
}

func TestARecordThatSomebodyElseWroteIsReadBeforeAnythingIsDecided(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		f.journal.mu.Lock()
		f.journal.records["r"] = append(f.journal.records["r"], replay.Record{
			ReplayID: "r", Seq: 2, At: time.Now(), Events: []replay.Event{replay.Ended{State: replay.Cancelled}},
		})
		f.journal.mu.Unlock()
		c := f.open("m", "s1")
		if err := c.closedWith(); !errors.Is(err, replay.ErrStale) {
			t.Fatalf("closed with %v", err)
		}
		if _, found, err := f.Loop("m").View(f.ctx, "r"); err != nil || found {
			t.Errorf("the cancelled replay is live: %v, %v", found, err)
		}
	})
}

func TestALoopThatEndsAnswersWhoeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newFakeJournal()
		f, err := Recover(t.Context(), FleetConfig{Machine: config(), Store: j, Observer: fakeObserver{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		l := f.Loop("m")
		release := j.stall("m")
		answers := make(chan Answer, 2)
		for _, id := range []string{"r", "q"} { // one is being written, one waits
			in := Submit{ReplayID: id, Created: replay.Created{MachineID: "m", Steps: steps(click)}, Reply: func(a Answer) { answers <- a }}
			if err := l.Post(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		asked := make(chan error, 1)
		go func() { asked <- l.Do(t.Context(), func(*Machine) {}) }()
		synctest.Wait()
		stop(errEnough)
		for range 2 {
			if a := <-answers; a.Err == nil {
				t.Error("answered as if it were durable")
			}
		}
		if err := <-asked; !errors.Is(err, ErrStopped) {
			t.Errorf("a question: %v", err)
		}
		if err := <-ended; !errors.Is(err, errEnough) {
			t.Errorf("the fleet ended with %v", err)
		}
		release()
		if err := l.Post(t.Context(), Tick{}); !errors.Is(err, ErrStopped) {
			t.Errorf("a post afterwards: %v", err)
		}
		if err := f.Loop("new").Do(t.Context(), func(*Machine) {}); !errors.Is(err, ErrStopped) {
			t.Errorf("a new machine afterwards: %v", err)
		}
	})
}

func TestAProgressThatFindsTheInboxFullIsDropped(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		busy := make(chan struct{})
		go func() { _ = f.Loop("m").Do(f.ctx, func(*Machine) { <-busy }) }()
		synctest.Wait()
		n := 0
		for f.Loop("m").TryPost(Progress{}) {
			if n++; n > 10_000 {
				t.Fatal("the inbox has no end")
			}
		}
		close(busy)
		synctest.Wait()
		if !f.Loop("m").TryPost(Progress{}) {
			t.Error("the inbox stays full")
		}
	})
}

func TestRunReturnsOnceItsLoopsHaveEnded(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		busy, ended := make(chan struct{}), make(chan struct{})
		go func() { _ = f.Loop("m").Do(f.ctx, func(*Machine) { <-busy }) }()
		synctest.Wait()
		go func() { f.end(); close(ended) }()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("Run has returned while a loop was busy")
		default:
		}
		close(busy)
		<-ended
	})
}
