package cases

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

var here = clickAt(1).GetTarget()

// giveUps has every kind that an agent executes, and how to keep the agent at it
// for longer than three orphan timeouts.
var giveUps = []struct {
	action *reprisev1.Action
	keep   func(*station) (goOn func())
}{
	{clickAt(1), atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}, Target: here}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.6}}}}, Target: here}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: "a"}}}}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Paste{Paste: &reprisev1.Paste{Text: "a"}}}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"ctrl", "s"}}}}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Scroll{Scroll: &reprisev1.Scroll{Vertical: -3}}, Target: here}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(100 * time.Second)}}}, byItself},
	{&reprisev1.Action{Kind: &reprisev1.Action_WaitForTarget{WaitForTarget: &reprisev1.WaitForTarget{}}, Target: &reprisev1.Target{WindowTitle: "Late"}}, untilItShows},
	{&reprisev1.Action{Kind: &reprisev1.Action_WaitForWindow{WaitForWindow: &reprisev1.WaitForWindow{Window: &reprisev1.WindowSelector{Title: "Late"}}}}, untilItShows},
	{&reprisev1.Action{Kind: &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{Window: &reprisev1.WindowSelector{Title: "Other"}}}}, atTheHands},
	{&reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}, atTheEyes},
}

func atTheHands(s *station) func() {
	s.desktop.show(driver.Window{Title: "Form", Bounds: screen}, driver.Window{Title: "Other", Bounds: screen})
	_, goOn := s.desktop.holdNext()
	return goOn
}

func atTheEyes(s *station) func() {
	_, goOn := s.desktop.holdLook()
	return goOn
}

func untilItShows(s *station) func() {
	return func() { s.desktop.show(driver.Window{Title: "Late", Bounds: screen}) }
}

func byItself(*station) func() { return func() {} }

func TestCase_n_WhetherAGiveUpPausesIsAMatterOfItsKind(t *testing.T) {
	covered := map[string]bool{}
	for _, tt := range giveUps {
		k := kind.Of(tt.action)
		covered[k.Name] = true
		t.Run(k.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.mute(1)
				goOn := tt.keep(w.station)
				id := w.createWith(forAnHour(tt.action), clickAt(9))
				w.awaitGiveUp()
				if k.Critical {
					w.gaveUpToAPerson(id)
				}
				goOn()
				if k.Critical {
					return
				}
				r := w.completed(id)
				if a := decision(t, r, "1"); a.GetState() != reprisev1.ActionState_ACTION_STATE_ABANDONED || a.GetResentCount() != 2 {
					t.Errorf("%v after %d resends, want abandoned after 2", a.GetState(), a.GetResentCount())
				}
				if a := decision(t, r, "2"); a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED {
					t.Errorf("what follows is %v", a.GetState())
				}
			})
		})
	}
	for _, k := range kind.All() {
		if !k.ServerSide && !covered[k.Name] {
			t.Errorf("no give-up of a %s is tested", k.Name)
		}
	}
}

// awaitGiveUp waits for the first give-up.
func (w *world) awaitGiveUp() {
	w.t.Helper()
	for range 3600 {
		if len(w.log.lines("[BUS] lea:dispatch_orphan_giveup")) > 0 {
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Fatal("nothing was given up within an hour")
}

func (w *world) gaveUpToAPerson(id string) {
	w.t.Helper()
	r := w.get(id)
	if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS || p.GetActionToDecide() != id+"-1" {
		w.t.Errorf("%v, paused with %v for %q; want it given up to a person", r.GetState(), p.GetReason(), p.GetActionToDecide())
	}
	time.Sleep(10 * time.Minute)
	if got := w.steps(); len(got) != 3 {
		w.t.Errorf("dispatched %v, want the first step three times and nothing more", got)
	}
}

func TestCase_n_AWorkflowMaySayOtherwiseOfAnAction(t *testing.T) {
	tests := []struct {
		name   string
		policy reprisev1.GiveUp
		action *reprisev1.Action
		want   reprisev1.ReplayState
	}{
		{"a click that is not needed", reprisev1.GiveUp_GIVE_UP_CONTINUE, clickAt(1), reprisev1.ReplayState_REPLAY_STATE_COMPLETED},
		{"a move that matters", reprisev1.GiveUp_GIVE_UP_PAUSE, &reprisev1.Action{
			Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}, Target: here,
		}, reprisev1.ReplayState_REPLAY_STATE_PAUSED},
		{"a click that nothing makes up for", reprisev1.GiveUp_GIVE_UP_FAIL, clickAt(1), reprisev1.ReplayState_REPLAY_STATE_FAILED},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.mute(1)
				_, goOn := w.desktop.holdNext()
				tt.action.OnGiveUp = tt.policy
				id := w.createWith(forAnHour(tt.action), clickAt(2))
				w.awaitGiveUp()
				goOn()
				w.await(id, tt.want)
			})
		})
	}
}

// nothingPending wants the machine free and nothing of a replay ever sent again.
func (w *world) nothingPending(id string) {
	w.t.Helper()
	sent := len(w.relay.dispatches())
	if n := w.metrics()["rpa_replay_in_flight_actions"]; n != 0 {
		w.t.Errorf("%v actions are in flight", n)
	}
	if m := w.machine(); m.GetActionInFlight() != "" || m.GetCurrentReplayId() == id {
		w.t.Errorf("the machine still has %q of %q", m.GetActionInFlight(), m.GetCurrentReplayId())
	}
	time.Sleep(10 * time.Minute)
	for _, d := range w.relay.dispatches()[sent:] {
		if d.GetReplayId() == id {
			w.t.Errorf("%s was sent after its replay had ended", d.GetAttemptId())
		}
	}
}

func TestCase_p_AReplayThatFailsLeavesNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.mute(1)
		_, goOn := w.desktop.holdNext()
		a := forAnHour(clickAt(1))
		a.OnGiveUp = reprisev1.GiveUp_GIVE_UP_FAIL
		id := w.createWith(a, clickAt(2))
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_FAILED)
		if r.GetEndReason() == "" {
			t.Error("it says nothing of why it failed")
		}
		goOn() // its late report changes nothing
		w.nothingPending(id)
		w.completed(w.create(1))
		w.clicked(1, 1)
	})
}

func TestCase_p_AReplayThatIsCancelledWithADispatchOnItsWayLeavesNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, drop))
		id := w.create(3)
		synctest.Wait()
		if n := w.metrics()["rpa_replay_in_flight_actions"]; n != 1 {
			t.Fatalf("%v actions are in flight, want the one on its way", n)
		}
		w.cancel(id)
		synctest.Wait()
		w.nothingPending(id)
		w.clicked()
	})
}

func TestCase_p_AReplayThatIsCancelledWhileItsAgentIsAwayLeavesNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, cut))
		id := w.create(3)
		synctest.Wait()
		w.relay.takeApart()
		w.cancel(id)
		synctest.Wait()
		w.relay.join()
		w.nothingPending(id)
		w.clicked()
	})
}
