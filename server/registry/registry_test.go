package registry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func session(id, spool string, ended *error, answers bool) Session {
	return Session{
		ID: id, SpoolID: spool,
		End: func(err error) { *ended = err },
		Probe: func(ctx context.Context) bool {
			if !answers {
				<-ctx.Done()
			}
			return answers
		},
	}
}

func TestTheSameAgentTakesOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Registry
		var first, second error
		start := time.Now()
		claim(t, &r, session("s1", "spool", &first, true))
		claim(t, &r, session("s2", "spool", &second, true))
		if !errors.Is(first, ErrTakenOver) || second != nil || time.Since(start) != 0 {
			t.Errorf("first ended by %v, second by %v, after %v", first, second, time.Since(start))
		}
	})
}

// A stream that was cut just after its hello is served later than the one that
// followed it, now and then: it must not end that one.
func TestASessionThatIsOverEndsNobody(t *testing.T) {
	cut := errors.New("cut")
	for range 20 { // a claim that is free and a context that is over are both ready
		var r Registry
		var older, newer error
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cut)
		claim(t, &r, session("s2", "spool", &newer, true))
		err := r.Claim(ctx, "M", session("s1", "spool", &older, true), func() error { t.Error("it was opened"); return nil })
		if !errors.Is(err, cut) || newer != nil {
			t.Fatalf("Claim = %v; the newer one was ended by %v", err, newer)
		}
		if got := r.Machines()[0].SessionID; got != "s2" {
			t.Fatalf("the machine is held by %q", got)
		}
	}
}

func TestALateCleanUpRemovesOnlyItsOwn(t *testing.T) {
	var r Registry
	var ended error
	claim(t, &r, session("s1", "spool", &ended, true))
	claim(t, &r, session("s2", "spool", &ended, true))
	r.Release("M", "s1")
	if got := r.Machines()[0].SessionID; got != "s2" {
		t.Errorf("the machine is held by %q after the clean-up of s1, want s2", got)
	}
	r.Release("M", "s2")
	if got := r.Machines()[0].SessionID; got != "" {
		t.Errorf("the machine is held by %q after its release", got)
	}
}

func TestAnotherAgentIsRefusedWhileTheFirstOneAnswers(t *testing.T) {
	var r Registry
	var first, second error
	claim(t, &r, session("s1", "spool-a", &first, true))
	err := r.Claim(t.Context(), "M", session("s2", "spool-b", &second, true), opened)
	if !errors.Is(err, ErrConflict) || first != nil {
		t.Errorf("Claim = %v, the first was ended by %v", err, first)
	}
	if r.Machines()[0].ConflictAt.IsZero() {
		t.Error("the conflict is not shown")
	}
}

func TestAnotherAgentGetsTheMachineWhenTheFirstOneIsSilentForTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Registry
		var first, second error
		claim(t, &r, session("s1", "spool-a", &first, false))
		start := time.Now()
		claim(t, &r, session("s2", "spool-b", &second, true))
		if !errors.Is(first, ErrFenced) || time.Since(start) != ProbeTimeout {
			t.Errorf("the first was ended by %v after %v", first, time.Since(start))
		}
	})
}

func TestAHolderThatGoesWhileItIsAskedRefusesNobody(t *testing.T) {
	var r Registry
	var first, second error
	going := session("s1", "spool-a", &first, true)
	going.Probe = func(context.Context) bool { r.Release("M", "s1"); return true }
	claim(t, &r, going)
	claim(t, &r, session("s2", "spool-b", &second, true))
	if m := r.Machine("M"); m.SessionID != "s2" || !m.ConflictAt.IsZero() || second != nil {
		t.Errorf("%+v, and the newer session was ended by %v", m, second)
	}
}

func claim(t *testing.T, r *Registry, s Session) {
	t.Helper()
	if err := r.Claim(t.Context(), "M", s, opened); err != nil {
		t.Fatal(err)
	}
}

func opened() error { return nil }

var errLoop = errors.New("the loop has ended")

func TestAClaimWhoseOpeningFailsLeavesTheMachineFree(t *testing.T) {
	var r Registry
	var first, second error
	claim(t, &r, session("s1", "spool", &first, true))
	err := r.Claim(t.Context(), "M", session("s2", "spool", &second, true), func() error { return errLoop })
	if !errors.Is(err, errLoop) || !errors.Is(first, ErrTakenOver) {
		t.Errorf("Claim = %v, the first was ended by %v", err, first)
	}
	if got := r.Machines()[0].SessionID; got != "" {
		t.Errorf("the machine is held by %q", got)
	}
}

func TestAClaimThatWaitsEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Registry
		var first, other error
		opening, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_ = r.Claim(t.Context(), "M", session("s1", "spool", &first, true), func() error { <-opening; return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errLoop)
		defer cancel()
		if err := r.Claim(ctx, "M", session("s2", "spool", &other, true), opened); !errors.Is(err, errLoop) {
			t.Errorf("Claim = %v", err)
		}
		close(opening)
		<-done
		if got := r.Machines()[0].SessionID; got != "s1" {
			t.Errorf("the machine is held by %q", got)
		}
	})
}

// Whoever shows machines learns of each change once it can be seen, and of
// nothing else.
func TestEachChangeIsToldOnceItCanBeSeen(t *testing.T) {
	var r Registry
	var told []Machine
	r.Changed = func(id string) { told = append(told, r.Machine(id)) } // outside of the lock, or this hangs
	var first, second error
	claim(t, &r, session("s1", "spool-a", &first, true))
	r.SetDesktop("M", "s1", 2, "locked")
	if err := r.Claim(t.Context(), "M", session("s2", "spool-b", &second, true), opened); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	r.SetDesktop("M", "s2", 1, "of a session that does not hold it")
	r.Release("M", "s2")
	if len(told) != 3 {
		t.Fatalf("told %d times: %v", len(told), told)
	}
	r.Release("M", "s1")
	if told[0].SessionID != "s1" || told[1].Info.DesktopKind != 2 || told[2].ConflictAt.IsZero() || told[3].SessionID != "" {
		t.Errorf("%+v", told)
	}
}

func TestAMachineThatNobodyAskedForHasItsIDAlone(t *testing.T) {
	var r Registry
	if m := r.Machine("M"); m.ID != "M" || m.SessionID != "" || !m.ChangedAt.IsZero() || len(r.Machines()) != 0 {
		t.Errorf("%+v, and %d machines", m, len(r.Machines()))
	}
}

// Who looks at a locked desktop asks since when: a reconnect does not begin that anew.
func TestTheDesktopsStateHasATimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const active, locked = 1, 2
		var r Registry
		var ended error
		s := session("s1", "spool", &ended, true)
		s.Info.DesktopKind = active
		began := time.Now()
		claim(t, &r, s)
		time.Sleep(time.Minute)
		r.SetDesktop("M", "s1", locked, "the screen saver")
		since := time.Now()
		time.Sleep(time.Minute)
		r.SetDesktop("M", "s1", locked, "the operator")
		s.ID, s.Info.DesktopKind = "s2", locked
		claim(t, &r, s)
		if got := r.Machine("M"); !got.DesktopAt.Equal(since) || !got.ChangedAt.After(since) {
			t.Errorf("locked since %v, connected since %v; began %v", got.DesktopAt.Sub(began), got.ChangedAt.Sub(began), began)
		}
		r.SetDesktop("M", "s2", active, "")
		if got := r.Machine("M"); !got.DesktopAt.Equal(time.Now()) {
			t.Errorf("active since %v", got.DesktopAt.Sub(began))
		}
	})
}
