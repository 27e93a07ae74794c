//go:build wine

package cases

import (
	"image"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

func TestCase_a_OnWindowsALinkThatBreaksBeforeTheDispatchArrivesCostsNothing(t *testing.T) {
	for _, broken := range []struct {
		name string
		play play
		how  func(*testkit.Link)
	}{
		{"reset", three, (*testkit.Link).Reset},
		{"cut inside the frame", three, func(l *testkit.Link) { l.CutInsideFrame(testkit.Down) }},
		{"black hole", noticing(three), (*testkit.Link).BlackHole},
	} {
		t.Run(broken.name, func(t *testing.T) {
			th := openOnWindows(t, broken.play)
			a := th.standAt(faultpoint.DispatchJournaled, middleStep)
			broken.how(th.Link)
			th.goOn(a)
			th.passAll()
			th.redelivered(th.settled())
		})
	}
}

// noticing is a play whose server and agent soon notice that nobody answers, and have all
// the time that they need to find each other again.
func noticing(p play) play {
	p = frozen(p)
	p.server = append(slices.Clone(p.server), "--agent-offline-grace", "10m") // the last one counts
	return p
}

// redelivered checks that the middle step was delivered more than once, and that this
// spent no resend.
func (th *theatre) redelivered(r *reprisev1.Replay) {
	th.t.Helper()
	if a := firstAction(r, middleStep); a.GetDeliveries() < 2 || a.GetResentCount() != 0 {
		th.t.Errorf("%d deliveries, %d resends; want several and none", a.GetDeliveries(), a.GetResentCount())
	}
}

// begun is how often the agent that runs began to execute the middle step.
func (th *theatre) begun(r *reprisev1.Replay) int {
	n := 0
	for line := range strings.Lines(th.Agent.Output()) {
		if strings.Contains(line, "msg=executing") && strings.Contains(line, "action="+firstAction(r, middleStep).GetActionId()+" ") {
			n++
		}
	}
	return n
}

// The agent has the result and is frozen before it says so; the server asks again.
func TestCase_g_OnWindowsAnExecutedActionThatIsRedeliveredIsAnsweredFromMemory(t *testing.T) {
	for _, point := range []string{faultpoint.AgentInputDone, faultpoint.AgentResultStored} {
		t.Run(point, func(t *testing.T) {
			p := three
			p.server = []string{"--receipt-timeout", "300ms", "--orphan-timeout", "1s", "--scan-interval", "1s", "--max-resends", "15"}
			th := openOnWindows(t, p)
			a := th.standAt(point, middleStep)
			th.freeze(th.Agent)
			th.passAll()
			_, err := th.Await(th.ctx, th.replay, func(r *reprisev1.Replay) bool { return firstAction(r, middleStep).GetResentCount() > 0 })
			th.must(err)
			th.thaw(th.Agent)
			th.goOn(a)
			if n := th.begun(th.settled()); n != 1 {
				t.Errorf("the agent executed %d times what it was asked for again, want once", n)
			}
		})
	}
}

// Both deliveries wait in the link and arrive together.
func TestCase_k_OnWindowsADispatchThatComesTwiceHasOneEffect(t *testing.T) {
	p := three
	p.server = []string{"--receipt-timeout", "3s"} // after a second one the stream would be closed
	th := openOnWindows(t, p)
	a := th.standAt(faultpoint.DispatchJournaled, middleStep)
	arrive := th.Link.Hold()
	th.goOn(a)
	th.passAll()
	_, err := th.Await(th.ctx, th.replay, func(r *reprisev1.Replay) bool { return firstAction(r, middleStep).GetDeliveries() > 1 })
	th.must(err)
	arrive()
	r := th.settled()
	th.redelivered(r)
	if n := th.begun(r); n != 1 {
		t.Errorf("the agent executed %d times what came twice, want once", n)
	}
}

func TestCase_l_OnWindowsAPauseLetsTheActionInFlightFinishAndNothingFollow(t *testing.T) {
	for _, point := range []string{faultpoint.AgentStarted, faultpoint.AgentInputEvent, faultpoint.AgentMidInput, faultpoint.AgentInputDone} {
		t.Run(point, func(t *testing.T) {
			th := openOnWindows(t, three)
			a := th.standAt(point, middleStep)
			_, err := th.Reprisectl(th.ctx, "pause", th.replay)
			th.must(err)
			th.goOn(a)
			th.passAll()
			_, err = th.Await(th.ctx, th.replay, func(r *reprisev1.Replay) bool { return r.GetSettledCount() == middleStep })
			th.must(err)
			th.paused(reprisev1.PauseReason_PAUSE_REASON_OPERATOR)
			if next := firstAction(th.get(), middleStep+1); next == nil || next.GetDeliveries() != 0 {
				t.Errorf("after the pause the next step was delivered %d times, want it waiting", next.GetDeliveries())
			}
			if got := th.counted(); !slices.Equal(got, th.marks[:middleStep]) {
				t.Errorf("paused, the desktop counted %q, want %q", got, th.marks[:middleStep])
			}
			th.resume()
			th.settled()
		})
	}
}

func TestCase_m_OnWindowsACancelStopsTheActionInFlightAndLetsGoOfEveryKey(t *testing.T) {
	for _, point := range []string{faultpoint.AgentStarted, faultpoint.AgentInputEvent, faultpoint.AgentMidInput} {
		t.Run(point, func(t *testing.T) {
			th := openOnWindows(t, three)
			a := th.standAt(point, middleStep)
			th.cancel()
			_, err := th.Agent.Line(th.ctx, `msg="stopping the action"`)
			th.must(err)
			th.goOn(a)
			th.passAll()
			_, err = th.Agent.Line(th.ctx, "code=interrupted")
			th.must(err)
			if r := th.get(); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_CANCELLED {
				t.Errorf("the late report changed the state to %v", r.GetState())
			}
			th.nothingDown()
			seen := th.counted()
			th.partly(seen)
			if slices.Equal(seen, th.marks[:middleStep]) {
				t.Errorf("cancelled, the whole text was typed: %q", seen)
			}
			th.leftAs(seen)
		})
	}
}

// viewer is a window in front that is clicked four times; every click should show.
var viewer = play{
	steps: `
  - {focusWindow: {window: {title: Tools}}}
  - {click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}}
  - {move: {}, target: {windowTitle: Tools, point: {x: 0.4, y: 0.4}}}
  - {click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}}
  - {click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}}
  - {click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}}
`,
	marks: []string{"save clicked", "save clicked", "save clicked", "save clicked"},
}

func TestCase_nm_OnWindowsAWindowThatSwallowsClicksPausesAfterThree(t *testing.T) {
	th := openOnWindows(t, viewer)
	th.must(th.desktop.Swallow(th.ctx, true))
	th.passAll()
	th.paused(reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED)
	r := th.get() // with all of its actions
	for _, step := range []string{"2", "4", "5"} {
		rep := decision(t, r, step).GetReport()
		if !slices.Contains(rep.GetWarnings(), reprisev1.Warning_WARNING_NO_SCREEN_CHANGE) {
			t.Errorf("step %s was reported with effect %v and warnings %v, want no_screen_change", step, rep.GetEffect(), rep.GetWarnings())
		}
	}
	if got := stepOf(r.GetPause().GetActionToDecide()); got != 2 {
		t.Errorf("to decide on is step %d, want the first click without effect", got)
	}
	if got := th.counted(); len(got) != 0 {
		t.Errorf("the desktop counted %q, want nothing", got)
	}
	// The person restarts the viewer; what it swallowed is done again, in order.
	th.must(th.desktop.Swallow(th.ctx, false))
	th.resume()
	th.settled()
}

func TestCase_nm_OnWindowsATargetOutsideTheMonitorIsRefusedWithoutInput(t *testing.T) {
	th := openOnWindows(t, play{
		steps: "\n  - {click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}}\n",
		marks: []string{"save clicked"},
	})
	// The window is 360 wide and the monitor ends at 1280: its middle is outside.
	th.must(th.desktop.MoveWindow(th.ctx, "save", image.Pt(1180, 240)))
	input := th.passAllAndCountInput()
	th.paused(reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN)
	actions := th.get().GetActions()
	if len(actions) == 0 {
		t.Error("the replay shows no action")
	}
	for _, a := range actions {
		rep := a.GetReport()
		if rep.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN || rep.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
			t.Errorf("%s reported %v, %v; want target_off_screen and nothing sent", a.GetActionId(), rep.GetError().GetCode(), rep.GetCompletion())
		}
	}
	if n := input.Load(); n != 0 {
		t.Errorf("%d input events were sent", n)
	}
	// The part that is on the screen can be clicked: what counts is the place.
	th.must(th.desktop.MoveWindow(th.ctx, "save", image.Pt(1000, 240)))
	th.resume()
	th.settled()
	if input.Load() == 0 {
		t.Error("no input event was seen: the count above proves nothing")
	}
}

// passAllAndCountInput is passAll, and counts the input events that pass.
func (th *theatre) passAllAndCountInput() *atomic.Int32 {
	var n atomic.Int32
	go func() {
		for a := range th.Faults.Arrivals() {
			if a.Name == faultpoint.AgentInputEvent {
				n.Add(1)
			}
			a.GoOn()
		}
	}()
	return &n
}
