package person

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestStopNowAndGoOnAreInTheMenuWhenTheyMeanSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		g := guard(t, m, Config{})
		told := attend(t, g)
		synctest.Wait()
		m.choose("Go on")
		m.choose("Stop now")
		synctest.Wait()
		if err := g.Do(t.Context(), driver.Move{}); !errors.Is(err, driver.ErrStopped) {
			t.Errorf("after stop now: %v", err)
		}
		m.choose("Stop now")
		m.choose("Go on")
		synctest.Wait()
		if err := g.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []driver.Act
		for len(told) > 0 {
			a := <-told
			a.At = time.Time{}
			got = append(got, a)
		}
		want := []driver.Act{{Kind: driver.Stopped, By: "tray icon"}, {Kind: driver.WantsOn, By: "tray icon"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestTheIconSaysWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		g := guard(t, m, Config{Settings: Settings{Language: French}})
		step := func(f func()) { f(); synctest.Wait() }
		step(func() {})
		step(func() { _ = g.Do(t.Context(), driver.Move{}) })
		time.Sleep(afterglow - 1)
		step(func() { _ = g.Do(t.Context(), driver.Move{}) })
		step(func() { time.Sleep(afterglow) })
		step(func() { _ = g.ShowServer(t.Context(), false) })
		step(func() { _ = g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}) })
		step(m.pressStop)
		step(func() { _ = g.GoOn(t.Context()) })
		step(func() { _ = g.HidePause(t.Context(), "p") })
		step(func() { _ = g.ShowServer(t.Context(), true) })
		say := french.states
		want := []string{say[idle], say[working], say[idle], say[unconnected], say[paused], say[stopped], say[paused], say[unconnected], say[idle]}
		m.locked(func() {
			if diff := cmp.Diff(want, m.trays); diff != "" {
				t.Errorf("the icon said (-want +got):\n%s", diff)
			}
		})
	})
}

func TestWhatTheMachineCannotDoIsLoggedOnceAndTheWorkGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := newFake()
		for _, call := range []string{"hook", "last", "notice", "outline", "tray", "hide"} {
			m.refuses[call] = errElse
		}
		g := guard(t, m, Config{Settings: Settings{OwnInput: true}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 {
			if err := g.Do(t.Context(), driver.Move{}); err != nil {
				t.Error(err)
			}
			if err := errors.Join(
				g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}), g.HidePause(t.Context(), "p"),
				g.Announce(t.Context(), rectangle, time.Hour),
			); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * hookTime)
		}
		synctest.Wait()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 5 {
			t.Errorf("%d lines, want one for each of five faults:\n%s", len(lines), log.String())
		}
	})
}

func TestB19_HooksThatWindowsTookAwayAreSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		m.last = 0xffffff00 // the count wraps during the test
		g := guard(t, m, Config{})
		hooked := func() (n int) { m.locked(func() { n = m.hooked }); return n }
		m.saw(winapi.Seen{Device: winapi.Keyboard, Key: vkA, Time: 0xffffff00})
		time.Sleep(watchEvery + 1)
		synctest.Wait()
		if hooked() != 1 {
			t.Errorf("set %d times while they see everything", hooked())
		}
		m.locked(func() { m.last += 5000 }) // and no hook saw it
		time.Sleep(watchEvery)
		synctest.Wait()
		if hooked() != 2 {
			t.Errorf("set %d times, though input came by unseen", hooked())
		}
		time.Sleep(watchEvery)
		synctest.Wait()
		if hooked() != 2 {
			t.Errorf("set %d times, though nothing new came", hooked())
		}
		time.Sleep(hookTime)
		synctest.Wait()
		if hooked() != 3 {
			t.Errorf("set %d times after another minute", hooked())
		}
		m.pressStop()
		if err := g.Do(t.Context(), driver.Move{}); !errors.Is(err, driver.ErrStopped) {
			t.Errorf("with hooks set anew the stop key does nothing: %v", err)
		}
	})
}

func TestNoHooksAreSetWhereNothingIsWanted(t *testing.T) {
	m := newFake()
	guard(t, m, Config{Settings: Settings{StopKey: NoStopKey}})
	if m.hooked != 0 {
		t.Errorf("set %d times", m.hooked)
	}
}
