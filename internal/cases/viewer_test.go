package cases

import (
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func moveTo(n int) *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}, Target: clickAt(n).GetTarget()}
}

// moves counts how often the pointer was moved.
func (d *countingDesktop) moves() int {
	n := 0
	for _, in := range d.inputs() {
		if _, ok := in.(driver.Move); ok {
			n++
		}
	}
	return n
}

func TestCase_nm_AViewerThatSwallowsClicksPausesAfterThreeWithAWordThatHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.desktop.freeze(true) // the pointer still moves; nothing on the screen does
		id := w.createWith(clickAt(1), moveTo(5), clickAt(2), moveTo(6), clickAt(3), clickAt(4))
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		for _, step := range []string{"1", "3", "5"} {
			rep := decision(t, r, step).GetReport()
			if !rep.GetSuccess() || !slices.Contains(rep.GetWarnings(), reprisev1.Warning_WARNING_NO_SCREEN_CHANGE) || rep.GetEffect() != reprisev1.Effect_EFFECT_NONE_SEEN {
				t.Errorf("click %s: success %v, warnings %v, effect %v; want no_screen_change", step, rep.GetSuccess(), rep.GetWarnings(), rep.GetEffect())
			}
		}
		if rep := decision(t, r, "2").GetReport(); len(rep.GetWarnings()) != 0 {
			t.Errorf("a move changes nothing on the screen, and was warned of: %v", rep.GetWarnings())
		}
		p := r.GetPause()
		if p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED || !strings.Contains(p.GetMessage(), "the viewer looks frozen, restart it") {
			t.Errorf("paused with %v: %q", p.GetReason(), p.GetMessage())
		}
		if p.GetActionToDecide() != id+"-1" {
			t.Errorf("to decide on %q, want the first click without effect", p.GetActionToDecide())
		}
		time.Sleep(time.Minute)
		w.clicked(1, 2, 3)
		if n := w.desktop.moves(); n != 2 {
			t.Errorf("the pointer was moved %d times, want 2", n)
		}
		// The person restarts the viewer; what it swallowed is done again, in order.
		w.desktop.freeze(false)
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2, 3, 1, 2, 3, 4)
	})
}

func TestCase_nm_AClickThatIsSeenBeginsTheCountAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.desktop.freeze(true)
		w.relay.onUp(func(m *reprisev1.ConnectRequest) fate { // the third click alone is seen
			if r := m.GetReport(); r != nil {
				w.desktop.freeze(!ofStep(r.GetActionId(), 2))
			}
			return pass
		})
		r := w.completed(w.create(5))
		w.clicked(1, 2, 3, 4, 5)
		warned := 0
		for _, a := range r.GetActions() {
			warned += len(a.GetReport().GetWarnings())
		}
		if warned != 4 {
			t.Errorf("%d clicks without effect, want 4", warned)
		}
	})
}

func TestCase_nm_ATargetOutsideTheMonitorIsRefusedWithoutInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// The viewer's window reports a rectangle that hangs out of the screen; its
		// middle, where the click would go, is outside.
		w.desktop.show(driver.Window{Title: "Viewer", Bounds: screen.Add(image.Pt(screen.Dx()*3/4, 0))})
		id := w.createWith(clickIn("Viewer"), clickAt(2))
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN || p.GetMessage() == "" {
			t.Errorf("paused with %v: %q", p.GetReason(), p.GetMessage())
		}
		for _, rep := range w.relay.reports() {
			if rep.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN || rep.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
				t.Errorf("%s reported %v, %v; want target_off_screen and nothing sent", rep.GetActionId(), rep.GetError().GetCode(), rep.GetCompletion())
			}
		}
		if n := len(w.desktop.inputs()); n != 0 {
			t.Errorf("%d gestures were sent", n)
		}
		// The part that is on the screen can be clicked: what counts is the place.
		w.desktop.show(driver.Window{Title: "Viewer", Bounds: screen.Add(image.Pt(screen.Dx()/4, 0))})
		w.resume(id)
		w.completed(id)
		w.clicked(96, 2)
	})
}
