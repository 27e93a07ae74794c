package person

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

var errElse = errors.New("something else went wrong")

func sentBefore(t *testing.T, err error) int {
	t.Helper()
	var in *driver.InputError
	if !errors.As(err, &in) {
		t.Fatalf("%v is no InputError", err)
	}
	return in.Sent
}

func TestB19_AStopEndsTheGestureAtItsNextEventAndRefusesOthersUntilGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		d := &fakeDriver{do: sendUntilStopped(5, func(sent int) {
			if sent == 2 {
				m.pressStop()
			}
		})}
		g := guard(t, m, Config{Driver: d})
		told := attend(t, g)
		synctest.Wait()
		err := g.Do(t.Context(), driver.Type{Text: "x"})
		if !errors.Is(err, driver.ErrStopped) || sentBefore(t, err) != 3 {
			t.Errorf("the gesture ended with %v", err)
		}
		d.do = func(context.Context, driver.Input) error { t.Error("a gesture was done after the stop"); return nil }
		if err := g.Do(t.Context(), driver.Move{}); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
			t.Errorf("the next one ended with %v", err)
		}
		if err := g.Announce(t.Context(), rectangle, time.Second); !errors.Is(err, driver.ErrStopped) {
			t.Errorf("announced: %v", err)
		}
		synctest.Wait()
		m.pressStop() // is the same stop
		synctest.Wait()
		if act := <-told; act.Kind != driver.Stopped || act.By != "stop key" || !act.At.Equal(time.Now()) {
			t.Errorf("told of %+v", act)
		}
		if len(told) > 0 {
			t.Errorf("told again: %+v", <-told)
		}
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.do = nil
		if err := g.Do(t.Context(), driver.Move{}); err != nil {
			t.Errorf("after GoOn: %v", err)
		}
	})
}

// The driver has looked, the person stops, and the event is on its way.
func TestB19_AnEventOnItsWayDoesNotReachTheDesktopAfterAStop(t *testing.T) {
	m := newFake()
	var kept []bool
	d := &fakeDriver{do: func(context.Context, driver.Input) error {
		m.saw(own(down(vkLShift)))
		m.pressStop()
		for _, e := range []winapi.Seen{
			own(down(vkA)), own(pointer(1, 1)), own(winapi.Seen{Device: winapi.Mouse}), // a button or the wheel
			own(up(vkA)), own(up(vkLShift)), own(winapi.Seen{Device: winapi.Mouse, Up: true}), own(down(vkCapital)), own(down(0xE8)),
		} {
			kept = append(kept, m.saw(e))
		}
		return nil // it has noticed nothing
	}}
	g := guard(t, m, Config{Driver: d})
	err := g.Do(t.Context(), driver.Combo{Keys: []string{"shift", "a"}})
	if !errors.Is(err, driver.ErrStopped) || sentBefore(t, err) != 1 {
		t.Errorf("a gesture that came through in part ended with %v", err)
	}
	want := []bool{true, true, true, false, false, false, false, false}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept from the desktop (-want +got):\n%s", diff)
	}
	if err := g.GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.saw(own(down(vkA))) {
		t.Error("after GoOn an event is still kept from the desktop")
	}
	if err := g.Do(t.Context(), driver.Combo{Keys: []string{"shift", "a"}}); sentBefore(t, err) != 1 {
		t.Errorf("the next one that came through in part ended with %v", err)
	}
	if err := g.GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.do = nil
	if err := g.Do(t.Context(), driver.Move{}); err != nil {
		t.Errorf("one without a stop ended with %v", err)
	}
}

func TestAGestureThatWasOverBeforeTheStopIsDone(t *testing.T) {
	m := newFake()
	g := guard(t, m, Config{Driver: &fakeDriver{do: func(context.Context, driver.Input) error { m.pressStop(); return nil }}})
	if err := g.Do(t.Context(), driver.Move{}); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestAStopIsToldFromWhatElseWentWrong(t *testing.T) {
	m := newFake()
	d := &fakeDriver{}
	g := guard(t, m, Config{Driver: d})
	for _, c := range []struct {
		name    string
		stop    bool
		err     error
		stopped bool
		sent    int // -1: not known
	}{
		{"a fault without a stop is that fault", false, &driver.InputError{Sent: 4, Err: errElse}, false, 4},
		{"a fault after a stop is both", true, &driver.InputError{Sent: 4, Err: errElse}, true, 4},
		{"what was sent stays unknown", true, errElse, true, -1},
	} {
		d.do = func(context.Context, driver.Input) error {
			if c.stop {
				m.pressStop()
			}
			return c.err
		}
		err := g.Do(t.Context(), driver.Move{})
		if errors.Is(err, driver.ErrStopped) != c.stopped || !errors.Is(err, errElse) {
			t.Errorf("%s: %v", c.name, err)
		}
		var in *driver.InputError
		if errors.As(err, &in) != (c.sent >= 0) || in != nil && in.Sent != c.sent {
			t.Errorf("%s: sent %+v", c.name, in)
		}
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStopIsToldAgainToWhoeverAttendsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		g := guard(t, m, Config{Settings: Settings{OwnInput: true}})
		synctest.Wait()
		m.saw(down(vkA)) // nobody attends: it is over
		m.pressStop()
		m.pressStop() // is the same stop
		synctest.Wait()
		m.choose("Go on")
		hear := func() (kinds []driver.ActKind) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- g.Attend(ctx, func(a driver.Act) { kinds = append(kinds, a.Kind) }) }()
			synctest.Wait()
			cancel(errTestEnds)
			if err := <-ended; !errors.Is(err, errTestEnds) {
				t.Errorf("Attend = %v", err)
			}
			return kinds
		}
		if diff := cmp.Diff([]driver.ActKind{driver.Stopped, driver.WantsOn}, hear()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]driver.ActKind{driver.Stopped}, hear()); diff != "" {
			t.Errorf("told again (-want +got):\n%s", diff)
		}
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := hear(); got != nil {
			t.Errorf("after GoOn told of %v", got)
		}
		m.pressStop()
		synctest.Wait()
		m.choose("Go on") // and somebody else is quicker
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := hear(); got != nil {
			t.Errorf("what GoOn has answered is told: %v", got)
		}
	})
}

func TestB19_AStopFromBeforeHoldsGesturesAndShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		g := guard(t, m, Config{})
		stop := driver.Act{Kind: driver.Stopped, By: "stop key", At: time.Now().Add(-time.Hour)}
		for range 2 {
			if err := g.Hold(t.Context(), stop); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := g.Do(t.Context(), driver.Type{Text: "text"}); !errors.Is(err, driver.ErrStopped) || sentBefore(t, err) != 0 {
			t.Errorf("Do = %v", err)
		}
		var told []driver.Act
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Attend(ctx, func(a driver.Act) { told = append(told, a) }) }()
		synctest.Wait()
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("Attend = %v", err)
		}
		if diff := cmp.Diff([]driver.Act{stop}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if m.tray.Tip != english.states[stopped] {
			t.Errorf("the icon says %q", m.tray.Tip)
		}
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := g.Do(t.Context(), driver.Type{Text: "text"}); err != nil {
			t.Errorf("after GoOn, Do = %v", err)
		}
		cancel(errTestEnds)
		if err := g.Hold(ctx, stop); !errors.Is(err, errTestEnds) {
			t.Errorf("Hold in an ended context = %v", err)
		}
	})
}

func TestOneAttendsAtATimeAndHearsWhyItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, newFake(), Config{})
		attend(t, g)
		synctest.Wait()
		if err := g.Attend(t.Context(), func(driver.Act) {}); !errors.Is(err, errAttended) {
			t.Errorf("a second Attend = %v", err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if err := g.Do(t.Context(), driver.Move{}); !errors.Is(err, errClosed) || !driver.NothingSent(err) {
			t.Errorf("a gesture after the end: %v", err)
		}
	})
}

func TestAGuardWithoutAPersonsSidePassesEverythingThrough(t *testing.T) {
	for name, machineOf := range map[string]func() (machine, error){
		"none":      func() (machine, error) { return nil, nil },
		"one fails": func() (machine, error) { return nil, errElse },
	} {
		d := &fakeDriver{do: func(context.Context, driver.Input) error { return errElse }}
		g, err := open(Config{Driver: d}, machineOf)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Do(t.Context(), driver.Move{}); err != errElse { //nolint:errorlint // the very same error
			t.Errorf("%s: %v", name, err)
		}
		_ = g.ShowServer(t.Context(), false)
		_, captured := g.Capture(t.Context())
		if err := errors.Join(captured, g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}), g.HidePause(t.Context(), "p"),
			g.Announce(t.Context(), rectangle, time.Hour), g.GoOn(t.Context()), g.Release(t.Context())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := g.Elements(t.Context(), "", driver.Element{}); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%s: elements of a driver without: %v", name, err)
		}
		if err := errors.Join(g.Close(), g.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.Attend(t.Context(), func(driver.Act) {}); !errors.Is(err, errClosed) {
			t.Errorf("%s: Attend after the end = %v", name, err)
		}
	}
}

func TestAllFaultsOfTheConfigurationAreReportedAtOnce(t *testing.T) {
	_, err := New(Config{Settings: Settings{StopKey: "ctrl+nonsense", Language: "tlh"}})
	for _, want := range []string{"driver is missing", "nonsense", "tlh"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
