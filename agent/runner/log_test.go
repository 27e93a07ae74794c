package runner_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// A pause ends when its replay goes on, and also when it is cancelled.
func TestTheEndOfAPauseIsNotTakenForAReplayThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := spool.Open(spool.Config{FS: dir(t)})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		r := runner.New(runner.Config{
			Spool: s, Executor: executor(click), Release: func(context.Context) error { return nil },
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		for _, e := range []runner.Event{runner.Paused{Pause: work.Pause{ReplayID: "r", PauseID: "p"}}, runner.Resumed{ReplayID: "r", PauseID: "p"}} {
			if err := r.Handle(ctx, e); err != nil {
				t.Fatal(err)
			}
		}
		stop(errTestOver)
		if err := <-ended; !errors.Is(err, errTestOver) {
			t.Errorf("Run = %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		got := log.String()
		if !strings.Contains(got, `msg="the pause is over" replay=r pause=p`) || strings.Contains(got, "goes on") {
			t.Errorf("the log says\n%s", got)
		}
	})
}

// A desktop that was never there can't be let go of, and nothing is wrong with that;
// once input may have left, it is an error.
func TestAnEndWithoutADesktopIsAnErrorOnlyIfSomethingWasPressed(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, err := spool.Open(spool.Config{FS: dir(t)})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			r := runner.New(runner.Config{
				Spool: s, Executor: executor(click), Release: func(context.Context) error { return errors.New("no desktop") },
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			ctx, stop := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			if err := r.Open(ctx, stream{sent: make(chan string, 100)}, runner.Opened{}); err != nil {
				t.Fatal(err)
			}
			if pressed {
				d := work.Dispatch{Ref: work.Ref{ActionID: "a", AttemptID: "a1"}}
				if err := r.Handle(ctx, runner.Dispatched{Dispatch: d}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			stop(errTestOver)
			if err := <-ended; !errors.Is(err, errTestOver) {
				t.Errorf("Run = %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if got := strings.Contains(log.String(), "level=ERROR"); got != pressed {
				t.Errorf("pressed %v: the log says\n%s", pressed, log.String())
			}
		})
	}
}
