package link

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// eager is a runner that reports a locked desktop the moment a stream opens.
type eager struct{}

func (eager) Opening(context.Context) (work.Opening, error) {
	return work.Opening{SpoolID: "spool"}, nil
}

func (eager) Open(_ context.Context, s runner.Stream, _ runner.Opened) error {
	s.SendReport(work.Report{Ref: work.Ref{ActionID: "a"}, Outcome: work.Failure(work.DesktopUnavailable, work.NotStarted, "locked")})
	return nil
}

func (eager) Handle(context.Context, runner.Event) error { return nil }

// unlocked is a desktop that takes input.
type unlocked struct{}

func (unlocked) Desktop(context.Context) desktop.State { return desktop.State{Kind: desktop.Active} }

func (unlocked) Monitors(context.Context) ([]driver.Monitor, error) { return nil, nil }

// The server takes the machine as unusable from such a report on. What the hello
// told before it counts no more.
func TestADesktopReportedUnavailableAsTheStreamOpensIsToldAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := agenttest.New()
		l := New(Config{
			Server: agenttest.Address, MachineID: "m", Dial: server.Dial, Runner: eager{}, Desk: unlocked{}, Evidence: NewEvidence(nil, nil),
		})
		over := errors.New("the test is over")
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		defer func() {
			stop(over)
			if err := errors.Join(server.Close(), <-ended); !errors.Is(err, over) {
				t.Errorf("Run = %v", err)
			}
		}()
		c, err := server.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Welcome(&reprisev1.Welcome{SessionId: "s"}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Report(ctx); err != nil {
			t.Fatal(err)
		}
		l.TellDesktop(desktop.State{Kind: desktop.Active})
		soon, late := context.WithTimeout(ctx, time.Second)
		defer late()
		m, err := c.Recv(soon)
		if err != nil || m.GetDesktopState().GetKind() != reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE {
			t.Errorf("after the report the server is told %v, %v", m, err)
		}
	})
}
