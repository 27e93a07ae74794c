//go:build unix

package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// impatient are settings with which a frozen agent is noticed within a second.
var impatient = []string{
	"--ping-interval", "200ms", "--ping-timeout", "300ms", "--keepalive-min-time", "100ms", "--agent-offline-grace", "500ms",
}

func frozen(p play) play {
	p.server = impatient
	return p
}

// freeze stops a process in the middle of whatever it does: its connections stay
// open, and nobody answers on them.
func (th *theatre) freeze(p *testkit.Process) {
	th.t.Helper()
	th.must(syscall.Kill(p.PID(), syscall.SIGSTOP))
	th.until("all of the process stands still", func() bool { return stopped(p.PID()) })
}

// stopped says whether every thread of a process is stopped by a signal.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err == nil && !strings.Contains(string(stat), ") T ") {
			return false
		}
	}
	return true
}

// until looks again and again until what is named is so.
func (th *theatre) until(what string, so func() bool) {
	th.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-th.ctx.Done():
			th.t.Fatalf("waited in vain until %s", what)
		}
	}
}

func (th *theatre) thaw(p *testkit.Process) {
	th.t.Helper()
	th.must(syscall.Kill(p.PID(), syscall.SIGCONT))
}

// noticed waits until the server has closed the stream because no ping was answered.
func (th *theatre) noticed() {
	th.t.Helper()
	line, err := th.Server.Line(th.ctx, `msg="session ended"`)
	th.must(err)
	if !strings.Contains(line, "does not answer pings") {
		th.t.Errorf("the stream ended otherwise: %s", line)
	}
}

func TestCase_h_AFrozenAgentIsNoticedAndWhatItDidStillCounts(t *testing.T) {
	for _, point := range []string{faultpoint.AgentInputDone, faultpoint.AgentResultStored} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			th := open(t, frozen(three))
			a := th.standAt(point, middleStep)
			th.freeze(th.Agent)
			th.noticed()
			r := th.paused(reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
			if got := stepOf(r.GetPause().GetActionToDecide()); got != middleStep {
				t.Errorf("the person is asked about step %d, want %d", got, middleStep)
			}
			th.thaw(th.Agent)
			th.goOn(a)
			th.passAll()
			// It wakes and ends what it had begun; nobody took that back.
			th.awaitSettled(middleStep)
			if r := th.get(); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED {
				t.Errorf("the late report ended the pause: %v", r.GetState())
			}
			th.resume()
			if a := firstAction(th.settled(), middleStep); a.GetDeliveries() != 1 || a.GetResentCount() != 0 {
				t.Errorf("%d deliveries, %d resends; want 1 and none", a.GetDeliveries(), a.GetResentCount())
			}
		})
	}
}

// What it had not begun it does not begin: it is not known what was decided meanwhile.
func TestCase_h_AFrozenAgentBeginsNothingWhenItWakes(t *testing.T) {
	for _, point := range []string{faultpoint.DispatchJournaled, faultpoint.AgentReceived} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			th := open(t, frozen(three))
			a := th.standAt(point, middleStep)
			th.freeze(th.Agent)
			if point == faultpoint.DispatchJournaled {
				th.goOn(a) // into the socket
			}
			th.noticed()
			th.paused(reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
			th.thaw(th.Agent)
			th.goOn(a)
			th.passAll()
			th.decide(middleStep)
			th.notBegun(th.settled())
		})
	}
}

// It had written down that it begins, and nothing of it was sent: what it saw is old, and so
// is the server's word. It looks again, asks again, and there is nobody to answer.
func TestCase_h_AFrozenAgentThatWasAboutToSendInputAsksAnewWhenItWakes(t *testing.T) {
	th := open(t, frozen(three))
	a := th.standAt(faultpoint.AgentStarted, middleStep)
	th.freeze(th.Agent)
	th.noticed()
	th.paused(reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
	th.freeze(th.Server) // no other stream is opened
	th.thaw(th.Agent)
	th.goOn(a)
	_, err := th.Agent.Line(th.ctx, `msg="not begun, until the server vouches for it"`)
	th.thaw(th.Server)
	th.must(err)
	th.passAll()
	if got := th.counted(); !slices.Equal(got, th.marks[:middleStep-1]) {
		t.Errorf("it woke, and the desktop counted %q, want %q", got, th.marks[:middleStep-1])
	}
	th.decide(middleStep)
	th.settled()
}

// notBegun checks that the first agent took nothing of the step's first delivery in hand.
func (th *theatre) notBegun(r *reprisev1.Replay) {
	th.t.Helper()
	id := firstAction(r, middleStep).GetActionId()
	for line := range strings.Lines(th.Agent.Output()) {
		if strings.Contains(line, "msg=executing") && strings.Contains(line, "action="+id+" ") {
			th.t.Errorf("the agent woke and began: %s", line)
		}
	}
}

func (th *theatre) resume(args ...string) {
	th.t.Helper()
	_, err := th.Reprisectl(th.ctx, append([]string{"resume", th.replay}, args...)...)
	th.must(err)
}

// Here a deadline is shorter than the pings: the action is an orphan before anybody knows
// that the agent is frozen.
func TestCase_h_AFrozenAgentOnAStreamThatStaysUpIsGivenUp(t *testing.T) {
	p := three
	p.server = []string{"--receipt-timeout", "300ms", "--orphan-timeout", "600ms", "--scan-interval", "600ms", "--max-resends", "0"}
	th := open(t, p)
	a := th.standAt(faultpoint.AgentInputDone, middleStep)
	th.freeze(th.Agent)
	r := th.paused(reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS)
	if got := r.GetPause().GetMessage(); !strings.Contains(got, "did not answer") {
		t.Errorf("the pause says %q, want that the agent did not answer", got)
	}
	th.thaw(th.Agent)
	th.goOn(a)
	th.passAll()
	th.awaitSettled(middleStep)
	th.resume()
	th.settled()
}

// Each delivery waits in the socket of the frozen agent. It takes no receipt twice in
// a row, so its stream is closed; it wakes with all of them.
func TestCase_h_AFrozenAgentWakesWithSeveralDeliveriesAndExecutesOnce(t *testing.T) {
	p := three
	p.server = []string{"--receipt-timeout", "300ms", "--orphan-timeout", "2s", "--scan-interval", "2s"}
	th := open(t, p)
	a := th.standAt(faultpoint.DispatchJournaled, middleStep)
	th.freeze(th.Agent)
	th.goOn(a)
	th.passAll()
	line, err := th.Server.Line(th.ctx, `msg="session ended"`)
	th.must(err)
	if !strings.Contains(line, "takes no work") {
		t.Errorf("the stream ended otherwise: %s", line)
	}
	th.thaw(th.Agent)
	if a := firstAction(th.settled(), middleStep); a.GetDeliveries() < 2 || a.GetResentCount() != 0 {
		t.Errorf("%d deliveries, %d resends; want several and none", a.GetDeliveries(), a.GetResentCount())
	}
}

// The dispatch lies in the socket of the frozen agent, and behind it the cancel.
func TestCase_h_AFrozenAgentDoesNotDoWhatWasCancelledMeanwhile(t *testing.T) {
	th := open(t, three)
	a := th.standAt(faultpoint.DispatchJournaled, middleStep)
	th.freeze(th.Agent)
	th.goOn(a)
	th.passAll()
	th.cancel()
	th.thaw(th.Agent)
	th.leftAs(three.marks[:1])
}

// The stream is closed before the cancel: the dispatch lies alone in the socket.
func TestCase_h_AFrozenAgentDoesNotDoWhatWasCancelledAfterItsStreamWasClosed(t *testing.T) {
	th := open(t, frozen(three))
	a := th.standAt(faultpoint.DispatchJournaled, middleStep)
	th.freeze(th.Agent)
	th.goOn(a)
	th.passAll()
	th.noticed()
	th.cancel()
	r := th.get()
	th.thaw(th.Agent)
	th.leftAs(three.marks[:1])
	th.notBegun(r)
}

func (th *theatre) cancel() {
	th.t.Helper()
	_, err := th.Reprisectl(th.ctx, "cancel", th.replay)
	th.must(err)
}

// leftAs checks that the first agent is back and drives the machine, and has done
// nothing more of the replay: one that follows finds the marks as they were.
func (th *theatre) leftAs(marks []string) {
	th.t.Helper()
	th.submit(three)
	th.marks = slices.Concat(marks, three.marks)
	th.settled()
}

// The person does not wait for the agent: the step is to be run again when it wakes.
// What it had begun before then answers for that, too.
func TestCase_h_ResumedWhileItsAgentIsFrozenAStepIsDoneOnce(t *testing.T) {
	for _, point := range []string{
		faultpoint.DispatchJournaled, faultpoint.AgentReceived, faultpoint.AgentStarted, faultpoint.AgentInputDone, faultpoint.AgentResultStored,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			th := open(t, frozen(three))
			a := th.standAt(point, middleStep)
			th.freeze(th.Agent)
			if point == faultpoint.DispatchJournaled {
				th.goOn(a)
			}
			th.noticed()
			th.paused(reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
			th.resume()
			th.thaw(th.Agent)
			th.goOn(a)
			th.passAll()
			th.settled()
		})
	}
}

// Another agent takes the machine over, within less than any ping needs, and does the
// step. Then the first one wakes: it has lost the machine, and what lies in its socket.
func TestCase_h_AFrozenAgentDoesNotDoWhatWasResumedElsewhere(t *testing.T) {
	th := open(t, three)
	a := th.standAt(faultpoint.DispatchJournaled, middleStep)
	th.freeze(th.Agent)
	th.goOn(a)
	th.passAll()
	other, err := th.StartOtherAgent(th.ctx)
	th.must(err)
	th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN) // the other one has another memory
	th.decide(middleStep)
	r := th.settled()
	th.thaw(th.Agent)
	_, err = th.Agent.Line(th.ctx, "no stream")
	th.must(err)
	other.Kill()
	th.leftAs(three.marks)
	th.notBegun(r)
}

// late is a play whose second step looks for a window that is not there yet.
var late = play{steps: `
  - {name: note, click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}
  - {name: late, click: {}, target: {windowTitle: Late, point: {x: 0.5, y: 0.5}}}
`}

// It had been vouched for when it came, and the agent stood still while it looked for
// the target. When it wakes the target is there, and nobody wants the click any more.
func TestCase_h_AnAgentThatIsFrozenWhileItLooksForItsTargetBeginsNothingWhenItWakes(t *testing.T) {
	for name, takeBack := range map[string]func(*theatre){
		"cancelled": (*theatre).cancel,
		"done by a person": func(th *theatre) {
			th.paused(reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
			th.resume("--skip")
			th.ended()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			th := open(t, frozen(late))
			a := th.standAt(faultpoint.AgentReceived, middleStep)
			th.goOn(a)
			th.passAll()
			_, err := th.Agent.Line(th.ctx, "replay="+th.replay+" action="+a.Subject) // it executes
			th.must(err)
			th.freeze(th.Agent)
			th.noticed()
			takeBack(th)
			target, err := th.desktop.Recorder(th.ctx, "Late")
			th.must(err)
			th.thaw(th.Agent)
			th.submit(play{steps: "\n  - {wait: {duration: 10ms}}"}) // the agent is back, and does it
			th.ended()
			ledger, err := th.desktop.Ledger(th.ctx)
			th.must(err)
			for _, e := range ledger {
				if e.Widget == target.Widget {
					t.Errorf("the agent woke and began: %+v", e)
				}
			}
		})
	}
}
