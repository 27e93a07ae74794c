package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/spool"
)

func TestAServiceRunsOnceItsProgramIsReadyAndStopsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runs(t.Context(), func(ctx context.Context, h Host) error {
			time.Sleep(2500 * time.Millisecond)
			return works(ctx, h)
		})
		time.Sleep(2 * time.Second)
		if got := w.last(); got.state != StartPending || got.checkPoint < 2 || got.waitHint < progressEvery {
			t.Errorf("after 2 s without being ready: %+v", got)
		}
		time.Sleep(2 * time.Second)
		w.ask(stop)
		w.wants(t, 0, []State{StartPending, Running, StopPending}, "1", "2")
	})
}

func TestAPausedServiceRunsNothingUntilItContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, causes = 0, []string{}
		w := runs(t.Context(), func(ctx context.Context, h Host) error {
			running++
			defer func() { running-- }()
			err := works(ctx, h)
			causes = append(causes, err.Error())
			return err
		})
		w.ask(pause)
		if running != 0 || w.last().state != Paused {
			t.Errorf("%d programs run while %v", running, w.last().state)
		}
		w.ask(pause) // once more changes nothing
		w.ask(proceed)
		if running != 1 || w.last().state != Running {
			t.Errorf("%d programs run while %v", running, w.last().state)
		}
		w.ask(proceed)
		if running != 1 {
			t.Errorf("%d programs run", running)
		}
		w.ask(stop)
		w.wants(t, 0, []State{StartPending, Running, PausePending, Paused, ContinuePending, Running, StopPending}, "1", "3", "4", "2")
		if diff := cmp.Diff([]string{ErrPaused.Error(), ErrStopped.Error()}, causes); diff != "" {
			t.Errorf("causes (-want +got)\n%s", diff)
		}
	})
}

func TestAStopIsTakenInEveryState(t *testing.T) {
	slow := func(ctx context.Context, h Host) error {
		h.Ready()
		<-ctx.Done()
		time.Sleep(3 * time.Second)
		return context.Cause(ctx)
	}
	for name, before := range map[string]struct {
		program Program
		do      func(w *world)
	}{
		"starting": {func(ctx context.Context, _ Host) error { <-ctx.Done(); return context.Cause(ctx) }, func(*world) {}},
		"pausing":  {slow, func(w *world) { w.ask(pause) }},
		"paused":   {works, func(w *world) { w.ask(pause) }},
		"stopping": {slow, func(w *world) { w.ask(stop) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := runs(t.Context(), before.program)
				before.do(w)
				if got := w.last().state.String(); got != name {
					t.Fatalf("the service is %s", got)
				}
				w.ask(stop)
				if got := <-w.code; got != 0 {
					t.Errorf("exit code %d", got)
				}
				if ids := w.ids(); ids[len(ids)-1] != "2" {
					t.Errorf("events %v", ids)
				}
			})
		})
	}
}

func TestAServiceEndsWithTheContextOfItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := runs(ctx, works)
		cancel()
		w.wants(t, 0, []State{StartPending, Running, StopPending}, "1", "2")
	})
}

func TestAProgramThatFailsEndsTheServiceWithTheEventThatSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want uint32
	}{
		{"settings", fmt.Errorf("%w: no server", ErrSettings), EventSettings},
		{"locked", fmt.Errorf("open: %w", spool.ErrLocked), EventLocked},
		{"damaged", fmt.Errorf("open: %w", spool.ErrCorrupt), EventCorrupt},
		{"else", errors.New("no disk"), EventFailed},
		{"by itself", nil, EventFailed},
	} {
		for _, ready := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ready), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := runs(t.Context(), func(_ context.Context, h Host) error {
						if ready {
							h.Ready()
							time.Sleep(time.Second)
						}
						return tt.err
					})
					if got := <-w.code; got != tt.want {
						t.Errorf("exit code %d, want %d", got, tt.want)
					}
					last := w.events[len(w.events)-1]
					if tt.err != nil && !strings.Contains(last, tt.err.Error()) || !strings.HasPrefix(last, fmt.Sprint(tt.want, " ")) {
						t.Errorf("event %q", last)
					}
				})
			})
		}
	}
}

// Windows starts a service again that ends with another code than 0, and whoever asked
// for a stop or a pause does not want that.
func TestAProgramThatFailsOnItsWayOutIsToldAndStaysStopped(t *testing.T) {
	for r, state := range map[request]State{stop: StopPending, pause: PausePending} {
		t.Run(state.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := runs(t.Context(), func(ctx context.Context, h Host) error {
					h.Ready()
					<-ctx.Done()
					return errors.New("no disk")
				})
				w.ask(r)
				w.wants(t, 0, []State{StartPending, Running, state}, "1", "300")
				if last := w.events[len(w.events)-1]; !strings.Contains(last, "no disk") {
					t.Errorf("event %q", last)
				}
			})
		})
	}
}

func TestAProgramThatDoesNotEndIsLeftAfterItsBound(t *testing.T) {
	for name, r := range map[string]request{"stop": stop, "pause": pause} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave := make(chan struct{})
				w := runs(t.Context(), func(_ context.Context, h Host) error {
					h.Ready()
					<-leave
					return nil
				})
				began := time.Now()
				w.ask(r)
				if got := <-w.code; got != 0 { // it stays stopped, as it was asked to
					t.Errorf("exit code %d", got)
				}
				if ids := w.ids(); ids[len(ids)-1] != fmt.Sprint(EventTooSlow) {
					t.Errorf("events %v", ids)
				}
				if took := time.Since(began); took < EndWithin || took > EndWithin+2*progressEvery {
					t.Errorf("it took %v", took)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				points := map[uint32]bool{}
				for _, s := range w.statuses {
					if s.state == StopPending || s.state == PausePending {
						points[s.checkPoint] = true
					}
				}
				if len(points) < int(EndWithin/progressEvery)-1 {
					t.Errorf("%d checkpoints were told", len(points))
				}
				close(leave)
			})
		})
	}
}

func TestB11_ChangesOfSessionsReachTheProgramAndNeverHoldTheManagerUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := 0
		w := runs(t.Context(), func(ctx context.Context, h Host) error {
			h.Ready()
			time.Sleep(time.Minute) // deaf at first
			for {
				select {
				case <-h.Changes:
					heard++
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		})
		for range 100 { // nobody listens, and no request waits
			w.ask(sessionChange)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if heard != 1 {
			t.Errorf("%d changes were heard of those that came while nobody listened", heard)
		}
		w.ask(sessionChange)
		if heard != 2 {
			t.Error("a change was not heard")
		}
		w.ask(stop)
		<-w.code
	})
}

func TestTheManagerIsAnsweredWheneverItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runs(t.Context(), works)
		before := len(w.statuses)
		w.ask(interrogate)
		if len(w.statuses) != before+1 || w.last().state != Running {
			t.Errorf("statuses %v", w.statuses)
		}
		w.ask(stop)
		<-w.code
	})
}

// Whatever is asked in whatever order, at most one program runs, the service comes to
// its end when it is stopped, and no state follows that may not.
func TestAnyOrderOfRequestsKeepsOneProgramAndEnds(t *testing.T) {
	follows := map[State][]State{
		StartPending: {Running, StopPending}, Running: {PausePending, StopPending}, PausePending: {Paused, StopPending},
		Paused: {ContinuePending}, ContinuePending: {Running, StopPending}, StopPending: {},
	}
	rapid.Check(t, func(rt *rapid.T) {
		asked := rapid.SliceOfN(rapid.SampledFrom([]request{interrogate, pause, proceed, sessionChange}), 0, 12).Draw(rt, "requests")
		waits := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, time.Second, 4 * time.Second}), len(asked), len(asked)).Draw(rt, "waits")
		synctest.Test(t, func(t *testing.T) {
			running := 0
			w := runs(t.Context(), func(ctx context.Context, h Host) error {
				if running++; running > 1 {
					t.Error("two programs run")
				}
				time.Sleep(time.Second)
				h.Ready()
				<-ctx.Done()
				time.Sleep(time.Second)
				running--
				return context.Cause(ctx)
			})
			for i, r := range asked {
				w.ask(r)
				time.Sleep(waits[i])
			}
			w.ask(stop)
			if code := <-w.code; code != 0 || running != 0 {
				t.Errorf("exit code %d with %d programs", code, running)
			}
			states := w.states()
			for i := range len(states) - 1 {
				if !slices.Contains(follows[states[i]], states[i+1]) {
					t.Errorf("%v follows %v", states[i+1], states[i])
				}
			}
		})
	})
}
