package helper_test

import (
	"context"
	"errors"
	"image"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
)

// acting is a desktop at which a person does what comes on acts.
func acting(acts <-chan driver.Act) *full {
	return &full{attend: func(ctx context.Context, told func(driver.Act)) error {
		for {
			select {
			case act := <-acts:
				told(act)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}}
}

// attending hears of acts until the test ends.
func attending(t *testing.T, d *helper.Desktop) <-chan driver.Act {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	told, ended := make(chan driver.Act, 10), make(chan error, 1)
	go func() { ended <- d.Attend(ctx, func(a driver.Act) { told <- a }) }()
	t.Cleanup(func() {
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("Attend = %v; want the cause", err)
		}
	})
	synctest.Wait()
	return told
}

// heard are the kinds of acts that came.
func heard(told <-chan driver.Act) []driver.ActKind {
	synctest.Wait()
	kinds := []driver.ActKind{}
	for len(told) > 0 {
		kinds = append(kinds, (<-told).Kind)
	}
	return kinds
}

func wantHeard(t *testing.T, told <-chan driver.Act, want ...driver.ActKind) {
	t.Helper()
	if got := heard(told); !slices.Equal(got, want) {
		t.Errorf("heard of %v, want %v", got, want)
	}
}

func TestThePersonIsHeardAtOneHelperAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		told := attending(t, d) // before there is any
		for range 3 {
			acts := make(chan driver.Act)
			s := serve(t, d, pipe, of(acting(acts)))
			in := driver.Act{Kind: driver.Used, By: "mouse", At: time.Now().Round(0)}
			acts <- in
			synctest.Wait()
			if diff := cmp.Diff(in, <-told); diff != "" {
				t.Errorf("(-did +told):\n%s", diff)
			}
			acts <- driver.Act{Kind: driver.WantsOn}
			acts <- driver.Act{Kind: driver.Used}
			wantHeard(t, told, driver.WantsOn, driver.Used)
			must(t, s.far.Close())
			_ = s.wait()
			synctest.Wait()
		}
	})
}

func TestAHelperWhoseTellingEndsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &full{}
		f.attend = func(ctx context.Context, told func(driver.Act)) error {
			told(driver.Act{Kind: driver.Used})
			return errors.New("the hooks are gone")
		}
		d := newDesktop(t)
		serve(t, d, pipe, of(f))
		told := attending(t, d)
		wantHeard(t, told, driver.Used)
		time.Sleep(20 * time.Second)
		if n := len(heard(told)); n < 2 || n > 5 {
			t.Errorf("asked again %d times in 20 s", n)
		}
	})
}

// A stop that was told stands until it is taken back, though its helper is gone: nothing
// is sent through the next one.
func TestAStopStandsThoughItsHelperIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		acts := make(chan driver.Act)
		serve(t, d, pipe, of(acting(acts)))
		told := attending(t, d)
		acts <- driver.Act{Kind: driver.Stopped, By: "stop key", At: time.Now()}
		wantHeard(t, told, driver.Stopped)
		next := &full{}
		refused := func() {
			t.Helper()
			if err := d.Do(t.Context(), driver.Type{Text: "text"}); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
				t.Errorf("Do = %v; want that the person has stopped it, and nothing sent", err)
			}
		}
		refused()
		d.Absent(desktop.State{Kind: desktop.NoUser})
		refused()
		serve(t, d, pipe, of(next))
		synctest.Wait() // it is attended now
		refused()
		must(t, d.GoOn(t.Context()))
		must(t, d.Do(t.Context(), driver.Type{Text: "text"}))
		synctest.Wait()
		if diff := cmp.Diff([]string{"release", "hold stop key", "attend", "go on", "do"}, next.calls()); diff != "" {
			t.Errorf("the next desktop was asked (-want +got):\n%s", diff)
		}
	})
}

// A stop of a process before is there before any helper is.
func TestAStopFromBeforeStandsAtEachHelperUntilItIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		stop := driver.Act{Kind: driver.Stopped, By: "stop key", At: time.Now().Add(-time.Hour)}
		must(t, d.Hold(t.Context(), stop))
		first := &full{}
		s := serve(t, d, pipe, of(first))
		must(t, d.Hold(t.Context(), stop)) // is the same
		if err := d.Do(t.Context(), driver.Type{}); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
			t.Errorf("Do = %v; want that the person has stopped it, and nothing sent", err)
		}
		wantHeard(t, attending(t, d), driver.Stopped)
		must(t, d.GoOn(t.Context()))
		must(t, s.far.Close())
		_ = s.wait()
		second := &full{}
		serve(t, d, pipe, of(second))
		synctest.Wait() // it is attended now
		must(t, d.Hold(t.Context(), driver.Act{Kind: driver.Stopped, By: "tray icon", At: time.Now()}))
		synctest.Wait()
		for i, want := range [][]string{{"release", "hold stop key", "attend", "go on", "release"}, {"release", "attend", "hold tray icon"}} {
			if diff := cmp.Diff(want, []*full{first, second}[i].calls()); diff != "" {
				t.Errorf("helper %d was asked (-want +got):\n%s", i, diff)
			}
		}
	})
}

// A helper that was held after the stop was taken back would be held for ever.
func TestAStopIsTakenBackAtAHelperThatIsJustBeingToldOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		must(t, d.Hold(t.Context(), driver.Act{Kind: driver.Stopped, By: "stop key", At: time.Now()}))
		f := &full{hold: func() { time.Sleep(time.Second) }}
		back := make(chan error, 1)
		go func() {
			time.Sleep(500 * time.Millisecond) // the helper is being told
			back <- d.GoOn(t.Context())
		}()
		serve(t, d, pipe, of(f))
		must(t, <-back)
		must(t, d.Do(t.Context(), driver.Type{}))
		synctest.Wait()
		calls := slices.DeleteFunc(f.calls(), func(c string) bool { return c == "attend" })
		if diff := cmp.Diff([]string{"release", "hold stop key", "go on", "do"}, calls); diff != "" {
			t.Errorf("the helper was asked (-want +got):\n%s", diff)
		}
	})
}

// Whoever attends later is told of the stop that stands first, and once: the helper says
// it too.
func TestAStopThatStandsIsToldAgainFirstAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		f := &full{attend: func(ctx context.Context, told func(driver.Act)) error {
			told(driver.Act{Kind: driver.Stopped, At: at})
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		d := newDesktop(t)
		serve(t, d, pipe, of(f))
		ctx, cancel := context.WithCancelCause(t.Context())
		first := 0
		ended := make(chan error, 1)
		go func() { ended <- d.Attend(ctx, func(driver.Act) { first++ }) }()
		synctest.Wait()
		cancel(errChanged)
		if err := <-ended; !errors.Is(err, errChanged) || first != 1 {
			t.Errorf("Attend = %v after %d acts", err, first)
		}
		wantHeard(t, attending(t, d), driver.Stopped)
	})
}

func TestAStopThatCannotBeTakenBackStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acts := make(chan driver.Act)
		f := acting(acts)
		f.goOn = func() error { return errChanged }
		d := newDesktop(t)
		s := serve(t, d, pipe, of(f))
		attending(t, d)
		acts <- driver.Act{Kind: driver.Stopped, At: time.Now()}
		synctest.Wait()
		if err := d.GoOn(t.Context()); err == nil || err.Error() != errChanged.Error() {
			t.Errorf("GoOn = %v", err)
		}
		if err := d.Do(t.Context(), driver.Type{}); !errors.Is(err, driver.ErrStopped) {
			t.Errorf("Do = %v; want that it is stopped", err)
		}
		// One that has gone takes its stop along.
		must(t, s.far.Close())
		_ = s.wait()
		must(t, d.GoOn(t.Context()))
		serve(t, d, pipe, of(&full{}))
		must(t, d.Do(t.Context(), driver.Type{}))
	})
}

func TestAPauseIsShownAgainByEachNewHelperUntilItIsHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		shown := make(chan driver.Notice, 10)
		notice := driver.Notice{PauseID: "a", Reason: "supervised", Message: "véri\xfffiez", Checks: []string{"one", "two"}}
		must(t, d.ShowPause(t.Context(), notice)) // nobody is there to show it
		first := &full{shown: shown}
		serve(t, d, pipe, of(first))
		if diff := cmp.Diff(notice, <-shown); diff != "" {
			t.Errorf("(-want +shown):\n%s", diff)
		}
		must(t, d.ShowPause(t.Context(), driver.Notice{PauseID: "b"}))
		must(t, d.ShowPause(t.Context(), driver.Notice{PauseID: "b"})) // the desktop keeps it as it is
		must(t, d.ShowPause(t.Context(), notice))
		must(t, d.HidePause(t.Context(), "a"))
		second := &full{}
		s := serve(t, d, pipe, of(second))
		must(t, s.far.Close())
		_ = s.wait()
		must(t, d.HidePause(t.Context(), "b"))
		third := &full{}
		serve(t, d, pipe, of(third))
		synctest.Wait() // the first one has let go too
		for i, want := range [][]string{
			{"release", "show a", "show b", "show b", "show a", "hide a", "release"}, {"release", "show b", "release"}, {"release"},
		} {
			if diff := cmp.Diff(want, []*full{first, second, third}[i].calls()); diff != "" {
				t.Errorf("helper %d was asked (-want +got):\n%s", i, diff)
			}
		}
	})
}

func TestAnnounceCrosses(t *testing.T) {
	var around image.Rectangle
	var long time.Duration
	f := &full{announce: func(r image.Rectangle, d time.Duration) error { around, long = r, d; return driver.ErrOffScreen }}
	d := newDesktop(t)
	serve(t, d, pipe, of(f))
	want := image.Rect(-5, 3, 8, 9)
	if err := d.Announce(t.Context(), want, 120*time.Millisecond); !errors.Is(err, driver.ErrOffScreen) {
		t.Errorf("Announce = %v", err)
	}
	if around != want || long != 120*time.Millisecond {
		t.Errorf("announced %v for %v", around, long)
	}
}

func TestADesktopWithoutATreeAtWhichNobodySitsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		told := attending(t, d)
		b := &bare{}
		serve(t, d, pipe, of(b))
		for name, err := range map[string]error{
			"Elements":  func() error { _, err := d.Elements(t.Context(), "", driver.Element{}); return err }(),
			"ShowPause": d.ShowPause(t.Context(), driver.Notice{PauseID: "p"}),
			"Announce":  d.Announce(t.Context(), image.Rect(0, 0, 1, 1), 1),
		} {
			if !errors.Is(err, driver.ErrUnsupported) {
				t.Errorf("%s = %v; want that it is not possible here", name, err)
			}
		}
		must(t, d.HidePause(t.Context(), "p")) // it is not shown
		must(t, d.GoOn(t.Context()))           // nobody has stopped it
		time.Sleep(time.Minute)
		wantHeard(t, told)
		if diff := cmp.Diff([]string{"release"}, b.calls()); diff != "" {
			t.Errorf("the desktop was asked (-want +got):\n%s", diff)
		}
	})
}

func TestThatThereIsNoServerIsShownByEachNewHelperToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		must(t, d.ShowServer(t.Context(), false)) // nobody is there to show it
		first := &full{}
		s := serve(t, d, pipe, of(first))
		must(t, d.ShowServer(t.Context(), true))
		must(t, s.far.Close())
		_ = s.wait()
		second := &full{}
		serve(t, d, pipe, of(second))
		for i, want := range [][]string{{"release", "server false", "server true", "release"}, {"release"}} {
			if diff := cmp.Diff(want, []*full{first, second}[i].calls()); diff != "" {
				t.Errorf("helper %d was asked (-want +got):\n%s", i, diff)
			}
		}
	})
}
