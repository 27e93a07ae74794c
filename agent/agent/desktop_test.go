package agent_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/spool"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const (
	active   = reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE
	locked   = reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED
	impaired = reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_AGENT_IMPAIRED
)

// fullDisk is a directory on which writes fail while full is set.
type fullDisk struct {
	spool.FS
	full atomic.Bool
}

type fullFile struct {
	spool.File
	disk *fullDisk
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Append(name string) (spool.File, error) {
	f, err := d.FS.Append(name)
	return fullFile{f, d}, err
}

func (d *fullDisk) Create(name string) (spool.File, error) {
	f, err := d.FS.Create(name)
	return fullFile{f, d}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.disk.full.Load() {
		return 0, errFull
	}
	return f.File.Write(p)
}

// disk is the world's state directory on a disk that can be full.
func (w *world) disk() *fullDisk {
	w.t.Helper()
	fs, err := spool.Dir(w.dir)
	w.must(err)
	return &fullDisk{FS: fs}
}

// told returns the next state of the desktop that the server is told, within a
// minute.
func (w *world) told(c *agenttest.Conn) *reprisev1.DesktopState {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), time.Minute)
	defer stop()
	for {
		m, err := c.Recv(ctx)
		if err != nil {
			w.t.Fatalf("nothing is told of the desktop: %v", err)
		}
		if s := m.GetDesktopState(); s != nil {
			return s
		}
	}
}

// expect fails unless the desktop's next state that is told is want.
func (w *world) expect(c *agenttest.Conn, want reprisev1.DesktopStateKind) {
	w.t.Helper()
	if got := w.told(c).GetKind(); got != want {
		w.t.Fatalf("told %v, want %v", got, want)
	}
}

func TestAFullDiskSpendsNothingAndWorkGoesOnWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		disk := w.disk()
		w.start(func(cfg *agent.Config) { cfg.Spool = disk })
		c := w.open()
		disk.full.Store(true)
		for _, attempt := range []string{"a1", "a2"} {
			w.must(c.Dispatch(click("a", attempt)))
			r := w.report(c)
			if code(r) != "ERROR_CODE_DESKTOP_UNAVAILABLE" || !strings.Contains(r.GetError().GetMessage(), errFull.Error()) {
				t.Errorf("report %v", r)
			}
			w.must(c.Ack(r))
			if s := w.told(c); s.GetKind() != impaired || !strings.Contains(s.GetDetail(), errFull.Error()) {
				t.Errorf("after the report of %s the server is told %v", attempt, s)
			}
		}
		w.server.Cut()
		c = w.open()
		if s := c.Hello.GetDesktopState(); s.GetKind() != impaired {
			t.Errorf("the hello tells %v", s)
		}
		disk.full.Store(false)
		w.expect(c, active)
		w.must(c.Dispatch(click("a", "a3")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

func TestAnAgentThatStartsOnAFullDiskAnswersFromMemoryAndMendsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		w.report(c)
		id := c.Hello.GetAgentInstanceId()
		w.stop()

		disk := w.disk()
		disk.full.Store(true)
		w.start(func(cfg *agent.Config) { cfg.Spool = disk })
		c = w.open()
		if h := c.Hello; h.GetDesktopState().GetKind() != impaired || h.GetAgentInstanceId() != id || len(h.GetResults()) != 1 {
			t.Errorf("hello %v", h)
		}
		w.must(c.Ack(w.report(c)))
		disk.full.Store(false)
		w.expect(c, active)
		w.must(c.Dispatch(click("a", "a2")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
		w.must(c.Dispatch(click("b", "b1")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 2 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

// The server takes the machine as unusable from the report on, so it must be
// told even what it was told before.
func TestADesktopUnlockedBetweenTheReportAndTheNextLookIsToldAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.screen.become(desktop.Locked)
		w.must(c.Dispatch(click("a", "a1")))
		w.report(c)
		w.screen.become(desktop.Active)
		w.expect(c, active)
	})
}

func TestADesktopFoundLockedWhileTheLinkWasDownIsToldAfterTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		inside, goOn := make(chan struct{}), make(chan struct{})
		var asked atomic.Bool
		synctest.Wait() // the agent's own look is over
		w.screen.hookState(func() {
			if asked.CompareAndSwap(false, true) {
				close(inside)
				<-goOn
			}
		})
		w.screen.become(desktop.Locked)
		w.must(c.Dispatch(click("a", "a1")))
		<-inside
		w.server.Cut()
		c = w.accept()
		close(goOn)
		synctest.Wait() // the action has ended, and there is no stream to say so on
		w.screen.become(desktop.Active)
		w.must(c.Welcome(&reprisev1.Welcome{SessionId: "s"}))
		if r := w.report(c); code(r) != "ERROR_CODE_DESKTOP_UNAVAILABLE" {
			t.Fatalf("report %v", r)
		}
		w.expect(c, active)
	})
}

// lines are the messages of a log with their levels, time aside.
func lines(log string) []string {
	var out []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "desktop") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// plain is a logger that says neither the time nor the machine.
func plain(to io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "machine" {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestEachChangeOfTheDesktopIsOneLogLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(t)
		defer w.close()
		w.screen.become(desktop.Locked)
		w.start(func(cfg *agent.Config) { cfg.Log = plain(&log) })
		w.open()
		for _, next := range []desktop.Kind{desktop.Locked, desktop.Disconnected, desktop.Active, desktop.Active, desktop.Locked} {
			w.screen.become(next)
			pass(5 * time.Second)
		}
		w.stop()
		if diff := cmp.Diff([]string{
			`level=WARN msg="the desktop takes no input; nothing is executed" state=locked detail=""`,
			`level=WARN msg="the desktop takes no input; nothing is executed" state=disconnected detail=""`,
			`level=INFO msg="the desktop takes input again"`,
			`level=WARN msg="the desktop takes no input; nothing is executed" state=locked detail=""`,
		}, lines(log.String())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
