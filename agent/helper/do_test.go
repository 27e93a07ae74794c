package helper_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
)

var errChanged = errors.New("the caller changed his mind")

// of opens that driver.
func of(d driver.Driver) open {
	return func(context.Context, helper.Settings) (driver.Driver, error) { return d, nil }
}

// slow is a driver whose gestures, once their context ends, take until let is closed to
// let go.
func slow(let <-chan struct{}) *bare {
	return &bare{do: func(ctx context.Context, _ driver.Input) error {
		<-ctx.Done()
		<-let
		return &driver.InputError{Sent: 3, Err: context.Cause(ctx)}
	}}
}

// doing starts a gesture and waits until the desktop is at it, or waits for its turn.
func doing(ctx context.Context, d *helper.Desktop) <-chan error {
	done := make(chan error, 1)
	go func() { done <- d.Do(ctx, driver.Type{Text: "text"}) }()
	synctest.Wait()
	return done
}

func returned(done <-chan error) bool {
	synctest.Wait()
	return len(done) > 0
}

// wantSent fails unless err says that n events were sent, and why.
func wantSent(t *testing.T, err error, n int, why error) {
	t.Helper()
	var in *driver.InputError
	if !errors.As(err, &in) || in.Sent != n || !errors.Is(err, why) {
		t.Errorf("Do = %v; want %v after %d events", err, why, n)
	}
}

func TestAGestureThatIsStoppedReturnsWhenTheHandsHaveLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		d, b := newDesktop(t), slow(let)
		serve(t, d, pipe, of(b))
		ctx, cancel := context.WithCancelCause(t.Context())
		first := doing(ctx, d)
		cancel(errChanged)
		if returned(first) {
			t.Fatalf("Do returned while the hands still move: %v", <-first)
		}
		second := doing(t.Context(), d)
		if slices.Equal(b.calls(), []string{"release", "do", "do"}) {
			t.Error("a gesture began before the former one had returned")
		}
		close(let)
		err := <-first
		wantSent(t, err, 3, errChanged)
		if want := (&driver.InputError{Sent: 3, Err: errChanged}).Error(); err.Error() != want {
			t.Errorf("Do = %q, want %q as of a driver in this process", err, want)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"release", "do", "do"}, b.calls()); diff != "" {
			t.Errorf("the desktop was asked (-want +got):\n%s", diff)
		}
		if returned(second) {
			t.Errorf("the second gesture was stopped with the first: %v", <-second)
		}
	})
}

// The deadline of a caller is his own; the helper is told to stop, and the cause is his.
func TestAGestureWhoseTimeIsOverSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		close(let)
		d := newDesktop(t)
		serve(t, d, pipe, of(slow(let)))
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errChanged)
		defer cancel()
		wantSent(t, d.Do(ctx, driver.Type{Text: "text"}), 3, errChanged)
	})
}

func TestAGestureThatWaitsForAnotherIsStoppedWithNothingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		d, b := newDesktop(t), slow(let)
		serve(t, d, pipe, of(b))
		doing(t.Context(), d)
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := doing(ctx, d)
		cancel(errChanged)
		wantSent(t, <-waits, 0, errChanged)
		close(let)
	})
}

func TestAConnectionThatBreaksInAGestureLeavesItsOutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		d, b := newDesktop(t), slow(let)
		s := serve(t, d, pipe, of(b))
		done := doing(t.Context(), d)
		must(t, s.far.Close())
		nobodyKnows(t, "Do", <-done)
		close(let) // now the hands have let go
		if err := s.wait(); !errors.Is(err, helper.ErrEnded) {
			t.Errorf("Serve = %v", err)
		}
		if diff := cmp.Diff([]string{"release", "do", "release"}, b.calls()); diff != "" || !b.closed {
			t.Errorf("closed %v, and the desktop was asked (-want +got):\n%s", b.closed, diff)
		}
		// That the connection is over is known now, so that the next one is not sent.
		wantSent(t, d.Do(t.Context(), driver.Type{Text: "text"}), 0, driver.ErrUnavailable)
		if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Disconnected {
			t.Errorf("State = %v, %v", state, err)
		}
	})
}

// When the service is gone, the helper sends no input event any more but those that let
// go.
func TestB19_AHelperWithoutItsServiceStopsAndLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, events := newDesktop(t), 0
		b := &bare{do: func(ctx context.Context, _ driver.Input) error {
			for ; ctx.Err() == nil; events++ {
				select {
				case <-time.After(time.Millisecond):
				case <-ctx.Done():
				}
			}
			return &driver.InputError{Sent: events, Err: context.Cause(ctx)}
		}}
		s := serve(t, d, pipe, of(b))
		done := doing(t.Context(), d)
		time.Sleep(100 * time.Millisecond)
		must(t, s.far.Close())
		nobodyKnows(t, "Do", <-done)
		if err := s.wait(); !errors.Is(err, helper.ErrEnded) {
			t.Errorf("Serve = %v", err)
		}
		if before := events; before < 50 || before > 102 {
			t.Errorf("%d events in 100 ms", before)
		}
		if last := b.calls()[len(b.calls())-1]; last != "release" {
			t.Errorf("the last thing was %q", last)
		}
	})
}

// A helper that ends, as at a logoff, says how far its gesture came.
func TestAHelperThatEndsInOrderSaysHowFarItsGestureCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		close(let)
		d, b := newDesktop(t), slow(let)
		s := serve(t, d, pipe, of(b))
		done := doing(t.Context(), d)
		s.end(errChanged)
		err := <-done
		wantSent(t, err, 3, driver.ErrUnavailable)
		if !strings.Contains(err.Error(), errChanged.Error()) {
			t.Errorf("Do = %v; want why", err)
		}
		if err := s.wait(); !errors.Is(err, errChanged) || errors.Is(err, helper.ErrEnded) {
			t.Errorf("Serve = %v", err)
		}
	})
}

// A service that leaves a helper hears first how far its gesture came.
func TestB11_AGestureInAHelperThatIsLeftSaysHowFarItCame(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *helper.Desktop){
		"absent": func(_ *testing.T, d *helper.Desktop) {
			d.Absent(desktop.State{Kind: desktop.NoUser, Detail: "logged off"})
		},
		"the next":   func(t *testing.T, d *helper.Desktop) { serve(t, d, pipe, of(&bare{})) },
		"the end":    func(t *testing.T, d *helper.Desktop) { must(t, d.Close()) },
		"unlet hang": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				let := make(chan struct{})
				d := newDesktop(t)
				s := serve(t, d, pipe, of(slow(let)))
				done := doing(t.Context(), d)
				if leave == nil { // the hands do not come back: nobody waits for ever
					began := time.Now()
					d.Absent(desktop.State{Kind: desktop.Locked})
					if took := time.Since(began); took > 2*time.Second {
						t.Errorf("leaving took %v", took)
					}
					nobodyKnows(t, "Do", <-done)
					close(let)
					return
				}
				close(let)
				leave(t, d)
				wantSent(t, <-done, 3, driver.ErrUnavailable)
				if err := s.wait(); !errors.Is(err, helper.ErrEnded) {
					t.Errorf("Serve = %v", err)
				}
			})
		})
	}
}

func TestADriverThatNeverReturnsDoesNotKeepItsHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		d := newDesktop(t)
		s := serve(t, d, pipe, of(slow(let)))
		done := doing(t.Context(), d)
		began := time.Now()
		s.end(errChanged)
		if err := s.wait(); !errors.Is(err, errChanged) || !strings.Contains(err.Error(), "did not return") {
			t.Errorf("Serve = %v; want that the gesture did not return", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("Serve took %v to end", took)
		}
		nobodyKnows(t, "Do", <-done)
		close(let)
	})
}

// What a dead helper left down can't be let go of while the desktop is locked. No gesture
// is done over it.
func TestB19_NoGestureIsDoneBeforeWhatWasLeftDownIsLetGoOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locked := true
		b := &bare{release: func(context.Context) error {
			if locked {
				return driver.ErrUnavailable
			}
			return nil
		}}
		d := newDesktop(t)
		serve(t, d, pipe, of(b))
		wantSent(t, d.Do(t.Context(), driver.Type{Text: "text"}), 0, driver.ErrUnavailable)
		locked = false
		must(t, d.Do(t.Context(), driver.Type{Text: "text"}))
		must(t, d.Do(t.Context(), driver.Type{Text: "text"}))
		if diff := cmp.Diff([]string{"release", "release", "release", "do", "do"}, b.calls()); diff != "" {
			t.Errorf("the desktop was asked (-want +got):\n%s", diff)
		}
	})
}

func TestB17_AGestureThatTheSystemBlockedIsNeverReportedAsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails error
		b := &bare{do: func(context.Context, driver.Input) error { return fails }}
		d := newDesktop(t)
		serve(t, d, pipe, of(b))
		for _, sent := range []int{0, 3} {
			for _, kind := range sentinels {
				fails = &driver.InputError{Sent: sent, Err: kind}
				err := d.Do(t.Context(), driver.Type{Text: "text"})
				wantSent(t, err, sent, kind)
				if err == nil || err.Error() != fails.Error() {
					t.Errorf("Do = %v, want %v", err, fails)
				}
			}
		}
		fails = errors.New("something else")
		if err := d.Do(t.Context(), driver.Type{Text: "text"}); err == nil || err.Error() != "something else" || driver.NothingSent(err) {
			t.Errorf("Do = %v", err)
		}
	})
}

var sentinels = []error{
	driver.ErrUnavailable, driver.ErrBlocked, driver.ErrOffScreen, driver.ErrNotInFront,
	driver.ErrGone, driver.ErrHung, driver.ErrUnsupported, driver.ErrStopped, driver.ErrPerson,
}
