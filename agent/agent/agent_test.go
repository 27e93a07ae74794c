package agent_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"buf.build/go/protovalidate"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/spool"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestAnActionIsExecutedAndReportedWithItsEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		if h := c.Hello; protovalidate.Validate(h) != nil || h.GetMachineId() != "m" || h.GetMonitors()[0].GetWidth() != 64 || len(h.GetKinds()) != 12 {
			t.Errorf("hello %v: %v", h, protovalidate.Validate(h))
		}
		w.must(c.Dispatch(click("a", "a1")))
		r := w.report(c)
		if err := protovalidate.Validate(r); err != nil {
			t.Errorf("the report breaks the schema's rules: %v", err)
		}
		if !r.GetSuccess() || r.GetEffect() != reprisev1.Effect_EFFECT_SEEN || r.GetCompletion() != reprisev1.Completion_COMPLETION_COMPLETED {
			t.Errorf("report %v", r)
		}
		if p := r.GetActualPosition(); p.GetX() != 32 || p.GetY() != 24 || r.GetSpoolId() != c.Hello.GetAgentInstanceId() || r.GetSessionId() != "s" {
			t.Errorf("report %v", r)
		}
		got := map[string]bool{<-w.server.Stored(): true, <-w.server.Stored(): true}
		if !got[r.GetScreenshotBefore().GetSha256()] || !got[r.GetScreenshotAfter().GetSha256()] {
			t.Errorf("stored %v, named %v and %v", got, r.GetScreenshotBefore(), r.GetScreenshotAfter())
		}
	})
}

func TestRepeatedDispatchTouchesTheDesktopOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		w.must(c.Ack(w.report(c)))
		w.must(c.Dispatch(click("a", "a2")))
		if r := w.report(c); len(r.GetWarnings()) != 1 || r.GetWarnings()[0] != reprisev1.Warning_WARNING_ALREADY_EXECUTED {
			t.Errorf("the second report: %v", r)
		}
		w.stop()
		w.start(nil)
		c = w.open()
		w.must(c.Dispatch(click("a", "a3")))
		if r := w.report(c); len(r.GetWarnings()) != 1 {
			t.Errorf("the third report: %v", r)
		}
		if n := w.screen.count(); n != 1 {
			t.Errorf("the desktop was touched %d times", n)
		}
	})
}

// Killed at each step of an action's life, then started again on what lies on
// the disk, and asked once more.
func TestKilledAtAnyStepAnUnsafeActionHasAtMostOneEffect(t *testing.T) {
	const unknown, success = "ERROR_CODE_OUTCOME_UNKNOWN", "success"
	for _, c := range []struct {
		name    string
		killAt  string
		ask     func(id, attempt string) *reprisev1.Dispatch
		results int    // in the hello of the next process
		open    int    // unfinished in it
		report  string // of the repeated dispatch
		inputs  int    // altogether
	}{
		{"before it is received", "idle", click, 0, 0, success, 1},
		{"started, before or in the middle of its input", "input", click, 0, 1, unknown, 0},
		{"the same, safe to run twice", "input", move, 0, 1, success, 1},
		{"stored, before the report is acknowledged", "reported", click, 1, 0, success, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.close()
			w.start(nil)
			conn := w.open()
			frozen := ""
			if c.killAt == "idle" {
				frozen = w.freezeDisk()
			}
			if c.killAt == "input" {
				w.screen.onInput = func() { frozen = w.freezeDisk() }
			}
			w.must(conn.Dispatch(c.ask("a", "a1")))
			w.report(conn)
			if c.killAt == "reported" {
				frozen = w.freezeDisk()
			}
			w.stop()
			before := w.screen.count()
			if c.killAt != "reported" {
				w.screen = newScreen() // the input of the killed process never came
				before = 0
			}
			w.dir = frozen
			w.start(nil)
			conn = w.open()
			if got := len(conn.Hello.GetResults()); got != c.results {
				t.Errorf("%s: %d results in the hello, want %d", c.name, got, c.results)
			}
			if got := len(conn.Hello.GetUnfinished()); got != c.open {
				t.Errorf("%s: %d unfinished in the hello, want %d", c.name, got, c.open)
			}
			if !strings.Contains(conn.Hello.GetLastExit(), "did not stop in order") {
				t.Errorf("%s: last exit %q", c.name, conn.Hello.GetLastExit())
			}
			synctest.Wait()
			if c.open > 0 && w.screen.releases() == 0 {
				t.Errorf("%s: what may be held down was not let go of", c.name)
			}
			w.must(conn.Dispatch(c.ask("a", "a2")))
			if got := code(w.report(conn)); got != c.report {
				t.Errorf("%s: reported %s, want %s", c.name, got, c.report)
			}
			if got := w.screen.count(); got != c.inputs {
				t.Errorf("%s: %d inputs (%d before the kill), want %d", c.name, got, before, c.inputs)
			}
		})
	}
}

func TestAnInvalidDispatchIsReportedAndTheStreamGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		tooOften := click("a", "a1")
		tooOften.Action.GetClick().Count = 9
		noKind := click("b", "b1")
		noKind.Action.Kind = nil
		elsewhere := click("c", "c1")
		elsewhere.MachineId = "other"
		serverSide := click("d", "d1")
		serverSide.Action.Kind = &reprisev1.Action_PauseForHuman{PauseForHuman: &reprisev1.PauseForHuman{}}
		for _, d := range []*reprisev1.Dispatch{tooOften, noKind, elsewhere, serverSide} {
			w.must(c.Dispatch(d))
			r := w.report(c)
			if r.GetActionId() != d.GetActionId() || code(r) != "ERROR_CODE_INVALID_ACTION" || r.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
				t.Errorf("%s: report %v", d.GetActionId(), r)
			}
			w.must(c.Ack(r))
		}
		w.must(c.Dispatch(&reprisev1.Dispatch{})) // it can't be answered
		w.must(c.Dispatch(click("e", "e1")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

func TestADamagedOrSharedSpoolStopsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		w.open()
		twin, err := agent.New(agent.Config{Server: agenttest.Address, MachineID: "m", Driver: w.screen, StateDir: w.dir, Dial: w.server.Dial})
		w.must(err)
		if err := twin.Run(t.Context()); !errors.Is(err, spool.ErrLocked) {
			t.Errorf("a second agent on the spool: %v", err)
		}
	})
}

func TestEverythingThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := agent.New(agent.Config{MachineID: "über", Remember: -1})
	for _, want := range []string{"host:port", `"über"`, "driver", "state directory", "-1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
