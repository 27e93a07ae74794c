package helper_test

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
)

// pair runs a helper of that configuration and connects it.
func pair(t *testing.T, d *helper.Desktop, cfg helper.ServerConfig) (*served, error) {
	t.Helper()
	near, far := pipe(t)
	s := begin(t, near, far, cfg)
	return s, d.Connect(t.Context(), near, secret)
}

func TestNothingIsServedToAServiceThatDoesNotKnowTheSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := false
		cfg := helper.ServerConfig{Secret: []byte(strings.Repeat("x", helper.SecretSize)), Version: "v1"}
		cfg.Open = func(context.Context, helper.Settings) (driver.Driver, error) { opened = true; return &bare{}, nil }
		d := newDesktop(t)
		s, err := pair(t, d, cfg)
		if !errors.Is(err, helper.ErrSecret) {
			t.Errorf("Connect = %v", err)
		}
		if err := s.wait(); !errors.Is(err, helper.ErrSecret) || opened {
			t.Errorf("Serve = %v; opened: %v", err, opened)
		}
		wantSent(t, d.Do(t.Context(), driver.Type{}), 0, driver.ErrUnavailable)
	})
}

func TestAnotherVersionIsRefusedAtBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := false
		cfg := helper.ServerConfig{Secret: secret, Version: "v2"}
		cfg.Open = func(context.Context, helper.Settings) (driver.Driver, error) { opened = true; return &bare{}, nil }
		d := newDesktop(t)
		s, err := pair(t, d, cfg)
		if !errors.Is(err, helper.ErrVersion) || !strings.Contains(err.Error(), "v1") || !strings.Contains(err.Error(), "v2") {
			t.Errorf("Connect = %v", err)
		}
		if err := s.wait(); !errors.Is(err, helper.ErrVersion) || opened {
			t.Errorf("Serve = %v; opened: %v", err, opened)
		}
		wantSent(t, d.Do(t.Context(), driver.Type{}), 0, driver.ErrUnavailable)
	})
}

func TestADesktopThatCannotBeOpenedSaysWhyAtBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		cfg := helper.ServerConfig{Secret: secret, Version: "v1"}
		cfg.Open = func(context.Context, helper.Settings) (driver.Driver, error) { return nil, driver.ErrUnsupported }
		s, err := pair(t, d, cfg)
		if !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("Connect = %v", err)
		}
		if err := s.wait(); !errors.Is(err, driver.ErrUnsupported) || !errors.Is(err, helper.ErrEnded) {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestConnectEndsWithItsContextAndClosesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		near, far := pipe(t)
		s := begin(t, near, far, helper.ServerConfig{
			Secret: secret, Version: "v1",
			Open: func(ctx context.Context, _ helper.Settings) (driver.Driver, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errChanged)
		defer cancel()
		if err := d.Connect(ctx, near, secret); !errors.Is(err, errChanged) {
			t.Errorf("Connect = %v", err)
		}
		if err := s.wait(); !errors.Is(err, helper.ErrEnded) {
			t.Errorf("Serve = %v", err)
		}
		gone, end := context.WithCancelCause(t.Context())
		end(errChanged)
		near, far = pipe(t)
		if err := d.Connect(gone, near, secret); !errors.Is(err, errChanged) {
			t.Errorf("Connect = %v", err)
		}
		if _, err := far.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
	})
}

func TestAHelperWithFaultySettingsSaysAllThatIsWrong(t *testing.T) {
	_, far := pipe(t)
	err := helper.Serve(t.Context(), far, helper.ServerConfig{Secret: []byte("short")})
	if err == nil || !strings.Contains(err.Error(), "Secret") || !strings.Contains(err.Error(), "Open") {
		t.Errorf("Serve = %v", err)
	}
	if _, err := far.Write([]byte{1}); err == nil {
		t.Error("the connection is still open")
	}
}

func TestTheHelperIsGivenTheSettings(t *testing.T) {
	want := helper.Settings{
		TypeMode: "characters", TypePace: 5 * time.Millisecond, RestoreClipboard: -1, PasteKeys: []string{"shift", "insert"},
		MinDisplay: image.Pt(1200, 800), LogLevel: slog.LevelDebug, StopKey: "ctrl+alt+pause", OwnInput: true, Language: "fr",
	}
	d := helper.New(helper.Config{Settings: want})
	t.Cleanup(func() { must(t, d.Close()) })
	var got helper.Settings
	_, err := pair(t, d, helper.ServerConfig{Secret: secret, Open: func(_ context.Context, s helper.Settings) (driver.Driver, error) {
		got = s
		return &bare{}, nil
	}})
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The user leaves one session for another: the helper of the former one ends, and the
// next action goes to the other one. Nobody who asks the desktop notices but by its state.
func TestB11_TheDesktopGoesFromOneSessionToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		third, fifth := &bare{state: desktop.State{Kind: desktop.Active, Detail: "3"}}, &bare{state: desktop.State{Kind: desktop.Active, Detail: "5"}}
		s := serve(t, d, pipe, of(third))
		must(t, d.Do(t.Context(), driver.Type{}))
		serve(t, d, pipe, of(fifth))
		if err := s.wait(); !errors.Is(err, helper.ErrEnded) {
			t.Errorf("the former helper ended with %v", err)
		}
		must(t, d.Do(t.Context(), driver.Type{}))
		if state, err := d.State(t.Context()); err != nil || state.Detail != "5" {
			t.Errorf("State = %v, %v", state, err)
		}
		for _, b := range []*bare{third, fifth} {
			if calls := strings.Join(b.calls(), " "); !strings.HasPrefix(calls, "release do") || strings.Count(calls, "do") != 1 {
				t.Errorf("a desktop was asked %s", calls)
			}
		}
	})
}

// No session for ten minutes, in which the state is looked at each second and gestures
// come: the log stays quiet.
func TestB11_ADesktopWithoutAHelperIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := newRecording()
		d := helper.New(helper.Config{Version: "v1", Log: slog.New(lines)})
		t.Cleanup(func() { must(t, d.Close()) })
		attending(t, d)
		d.Absent(desktop.State{Kind: desktop.NoUser})
		for range 600 {
			_, _ = d.State(t.Context())
			_ = d.Do(t.Context(), driver.Type{})
			_ = d.Release(t.Context())
			d.Absent(desktop.State{Kind: desktop.NoUser})
			time.Sleep(time.Second)
		}
		if got := lines.said(); len(got) > 0 {
			t.Errorf("%d lines, such as %v", len(got), got[0])
		}
	})
}

// A helper that hangs with its connection open is noticed.
func TestAHelperThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		near, far := pipe(t)
		hangs := &freezing{Conn: far, frozen: make(chan struct{})}
		t.Cleanup(func() { _ = far.Close() })
		begin(t, near, hangs, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{state: desktop.State{Kind: desktop.Active}})})
		must(t, d.Connect(t.Context(), near, secret))
		done := make(chan error, 1)
		synctest.Wait()
		hangs.freeze()
		began := time.Now()
		go func() { done <- d.Do(t.Context(), driver.Type{}) }()
		nobodyKnows(t, "Do", <-done)
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("noticed after %v", took)
		}
		synctest.Wait()
		if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Disconnected {
			t.Errorf("State = %v, %v", state, err)
		}
	})
}

func TestB01_WithoutAHelperNothingIsSentAndTheDesktopSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		noUser := desktop.State{Kind: desktop.NoUser, Detail: "nobody is logged on"}
		without := func() {
			t.Helper()
			err := d.Do(t.Context(), driver.Type{Text: "text"})
			wantSent(t, err, 0, driver.ErrUnavailable)
			if !driver.NothingSent(err) {
				t.Errorf("Do = %v; want proof that nothing was sent", err)
			}
			for name, call := range map[string]func() error{
				"Release":  func() error { return d.Release(t.Context()) },
				"Monitors": func() error { _, err := d.Monitors(t.Context()); return err },
				"Windows":  func() error { _, err := d.Windows(t.Context()); return err },
				"Capture":  func() error { _, err := d.Capture(t.Context()); return err },
				"Window":   func() error { _, err := d.CaptureWindow(t.Context(), "1"); return err },
				"Elements": func() error { _, err := d.Elements(t.Context(), "", driver.Element{}); return err },
			} {
				if err := call(); !errors.Is(err, driver.ErrUnavailable) {
					t.Errorf("%s = %v; want that the desktop is not there", name, err)
				}
			}
		}
		without()
		d.Absent(noUser)
		without()
		if state, err := d.State(t.Context()); err != nil || state != noUser {
			t.Errorf("State = %v, %v; want %v", state, err, noUser)
		}
		b := &bare{state: desktop.State{Kind: desktop.Active}}
		serve(t, d, pipe, of(b))
		must(t, d.Do(t.Context(), driver.Type{Text: "text"}))
		if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Active {
			t.Errorf("State = %v, %v", state, err)
		}
		d.Absent(noUser)
		without()
	})
}

func TestTheNextHelperIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesktop(t)
		served := make(chan error, 1)
		wait := func(ctx context.Context) { served <- d.Await(ctx) }
		go wait(t.Context())
		synctest.Wait()
		if len(served) > 0 {
			t.Fatalf("without a helper, Await = %v", <-served)
		}
		s := serve(t, d, pipe, of(&bare{}))
		must(t, <-served)
		must(t, d.Await(t.Context()))
		must(t, s.far.Close())
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		go wait(ctx)
		synctest.Wait()
		cancel(errChanged)
		if err := <-served; !errors.Is(err, errChanged) {
			t.Errorf("Await = %v, want %v", err, errChanged)
		}
	})
}

// A gesture that was broken off is awaited anew at once: the helper that died does not
// count, though nobody has taken its line away yet.
func TestAHelperThatHasDiedIsNotTheNextOne(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			let := make(chan struct{})
			d := newDesktop(t)
			s := serve(t, d, pipe, of(slow(let)))
			done := doing(t.Context(), d)
			must(t, s.far.Close())
			nobodyKnows(t, "Do", <-done)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errChanged)
			defer cancel()
			if err := d.Await(ctx); !errors.Is(err, errChanged) {
				t.Errorf("Await = %v, and there is no helper", err)
			}
			close(let)
		})
	}
}
