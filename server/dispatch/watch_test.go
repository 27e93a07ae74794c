package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

func TestAWatchMissesNothingBetweenItsSnapshotAndItsChanges(t *testing.T) {
	const n = 20
	inBubble(t, newFakeJournal(), func(f *fleet) {
		list := make([]replay.Step, n)
		for i := range list {
			list[i] = click
		}
		f.submit("m", "r", list...)
		f.open("m", "s1")
		watched := make(chan error, n)
		for i := range n {
			f.report("m", "s1", fmt.Sprintf("r-%d", i+1))
			first, w, end, found, err := f.Loop("m").Watch(f.ctx, "r")
			if err != nil || found != (i < n-1) {
				t.Fatalf("watch %d: %v, %v", i, found, err)
			}
			if !found {
				break
			}
			if !first.All || len(first.Actions) != n {
				t.Fatalf("the snapshot has %d actions", len(first.Actions))
			}
			go func() { watched <- follow(first, w, end) }()
		}
		for range n - 1 {
			if err := <-watched; err != nil {
				t.Error(err)
			}
		}
	})
}

// follow reads a watch to its end and checks that no record is missing.
func follow(first View, w *Watch, end func()) error {
	defer end()
	at, last := first.Head.Revision, first
	for v := range w.Changes {
		if len(v.Events) == 0 {
			continue
		}
		if v.Head.Revision != at+1 {
			return fmt.Errorf("revision %d follows %d", v.Head.Revision, at)
		}
		at, last = v.Head.Revision, v
	}
	if w.Err() != nil || last.Head.State != replay.Completed {
		return fmt.Errorf("ended with %w at %v", w.Err(), last.Head.State)
	}
	return nil
}

func TestAWatcherThatDoesNotKeepUpIsCut(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		f.open("m", "s1")
		_, slow, end, _, err := f.Loop("m").Watch(f.ctx, "r")
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		for range watchBuffer + 1 {
			f.post("m", Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Executing})
		}
		synctest.Wait()
		n := 0
		for range slow.Changes {
			n++
		}
		if n != watchBuffer || !errors.Is(slow.Err(), ErrSlowWatcher) {
			t.Errorf("it got %d changes and then %v", n, slow.Err())
		}
	})
}

func TestAWatchThatIsOverIsForgotten(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		l := f.Loop("m")
		for range 50 {
			ctx, cancel := context.WithCancel(f.ctx)
			_, _, end, _, err := l.Watch(ctx, "r")
			if err != nil {
				t.Fatal(err)
			}
			cancel() // a caller that goes away ends its context first
			end()
			end()
		}
		held, err := ask(f.ctx, l, func(*Machine) int { return len(l.watchers["r"]) })
		if err != nil || held > 1 {
			t.Errorf("%d watches are held, %v", held, err)
		}
		f.open("m", "s1")
		if held, err := ask(f.ctx, l, func(*Machine) int { return len(l.watchers) }); err != nil || held != 0 {
			t.Errorf("%d replays are still watched, %v", held, err)
		}
	})
}

// The loop comes to a question after its caller has gone.
func TestAWatchWhoseCallerHasGoneLeavesNothing(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		l := f.Loop("m")
		busy := make(chan struct{})
		go func() { _ = l.Do(f.ctx, func(*Machine) { <-busy }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(f.ctx)
		gone := make(chan error, 2)
		go func() { _, _, _, _, err := l.Watch(ctx, "r"); gone <- err }()
		go func() { _, _, err := l.View(ctx, "r"); gone <- err }()
		synctest.Wait()
		cancel()
		for range 2 {
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		close(busy)
		f.open("m", "s1")
		if held, err := ask(f.ctx, l, func(*Machine) int { return len(l.watchers) }); err != nil || held != 0 {
			t.Errorf("%d replays are watched, %v", held, err)
		}
	})
}

func TestTheWatchesOfAServerThatGoesAwayEnd(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		_, w, _, _, err := f.Loop("m").Watch(f.ctx, "r")
		if err != nil {
			t.Fatal(err)
		}
		f.end()
		if _, open := <-w.Changes; open || !errors.Is(w.Err(), ErrStopped) {
			t.Errorf("ended with %v", w.Err())
		}
	})
}

func TestAViewSharesNothingThatChanges(t *testing.T) {
	w := started(t, click, click)
	v := w.m.view(w.m.live[0], nil)
	w.pause("r")
	paused := w.m.view(w.m.live[0], nil)
	w.report("s1", "r-1", success)
	w.resume("r", replay.ResumeCommand{})
	if v.Head.State != replay.Running || v.Actions[0].State != replay.ActionDispatched || v.Actions[0].Report != nil || v.Pause != nil {
		t.Errorf("the first view has changed: %+v", v)
	}
	if paused.Pause == nil || paused.Pause.Reason != "operator" || !paused.Head.Pausing {
		t.Errorf("the second view has changed: %+v", paused)
	}
}
