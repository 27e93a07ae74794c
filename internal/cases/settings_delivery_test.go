package cases

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const (
	paused = reprisev1.ReplayState_REPLAY_STATE_PAUSED
)

var deliveryEffects = []effect{
	{
		setting: "watchdog", other: "off",
		play: delivered(silent, 10*time.Minute), byDef: "click 1, click 1, click 1", changed: "click 1",
	},
	{
		setting: "scan-interval", other: "4s",
		play: func(s *scenario) any {
			w := s.world()
			time.Sleep(time.Minute + time.Second)
			return w.metrics()["rpa_watchdog_sweeps_total"]
		},
		byDef: 6, changed: 15,
	},
	{setting: "orphan-timeout", other: "12s", play: redeliveredAfter(silent), byDef: "30s", changed: "12s"},
	{setting: "receipt-timeout", other: "2s", play: redeliveredAfter(deaf), byDef: "5s", changed: "2s"},
	{
		setting: "max-resends", other: "0",
		play: pauseOf(silent), byDef: "ORPHAN_MAX_RESENDS after 3 deliveries", changed: "ORPHAN_MAX_RESENDS after 1 deliveries",
	},
	{
		setting: "repush-position", other: "tail",
		play: delivered(silent, 31*time.Second), byDef: "click 1, click 1", changed: "click 1, click 2",
	},
	{
		setting: "max-deliveries", other: "3",
		play: pauseOf(deaf), byDef: "DELIVERY_FAILED after 20 deliveries", changed: "DELIVERY_FAILED after 3 deliveries",
	},
	{
		setting: "skip-kinds", other: "drag,click",
		play: pauseOf(silent), byDef: "ORPHAN_MAX_RESENDS after 3 deliveries", changed: "ORPHAN_MAX_RESENDS after 1 deliveries",
	},
	{
		setting: "dead-client-giveups", other: "1",
		play: pauseOf(silent), byDef: "ORPHAN_MAX_RESENDS after 3 deliveries", changed: "DEAD_CLIENT after 3 deliveries",
	},
	{
		setting: "dead-client-window", other: "1m", with: []string{"--max-resends=0"},
		play: func(s *scenario) any {
			w := s.world()
			silent(w)
			id := w.twoClicks()
			w.await(id, paused)
			time.Sleep(2 * time.Minute)
			w.resume(id)
			return reasonOf(w.await(id, paused))
		},
		byDef: "DEAD_CLIENT", changed: "ORPHAN_MAX_RESENDS",
	},
	{
		setting: "agent-offline-grace", other: "20s",
		play: func(s *scenario) any {
			w := s.world()
			held, _ := w.desktop.holdNext()
			id := w.create(1)
			<-held
			w.relay.onUp(func(*reprisev1.ConnectRequest) fate { return drop }) // it says no more
			w.stopAgent()
			away := time.Now()
			w.await(id, paused)
			return time.Since(away)
		},
		byDef: "1m30s", changed: "20s",
	},
	{
		setting: "max-retries", other: "1",
		play: func(s *scenario) any {
			w := s.world()
			r := w.await(w.createWith(nowhere()), paused)
			return fmt.Sprintf("%s after %d actions", reasonOf(r), len(w.relay.dispatches()))
		},
		byDef: "TARGET_NOT_FOUND after 4 actions", changed: "TARGET_NOT_FOUND after 2 actions",
	},
}

// silent makes the agent fall silent with its next action in hand: of each attempt
// the receipt alone arrives.
func silent(w *world) {
	w.desktop.holdNext()
	heard := map[string]bool{}
	w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		p := m.GetProgress()
		switch {
		case p != nil && !heard[p.GetAttemptId()]:
			heard[p.GetAttemptId()] = true
			return pass
		case p != nil, m.GetReport() != nil:
			return drop
		}
		return pass
	})
}

// deaf makes every dispatch get lost without a sign.
func deaf(w *world) {
	w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
		if isDispatch(m) {
			return drop
		}
		return pass
	})
}

// twoClicks queues two clicks that may run for as long as they like.
func (w *world) twoClicks() string {
	w.t.Helper()
	return w.createWith(longClick(1), longClick(2))
}

func longClick(n int) *reprisev1.Action {
	return &reprisev1.Action{
		Name: fmt.Sprintf("click %d", n), Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Timeout: durationpb.New(24 * time.Hour),
		Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(n), Y: 0.5}},
	}
}

// nowhere is a click whose window never opens.
func nowhere() *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{WindowTitle: "Nowhere"}}
}

func reasonOf(r *reprisev1.Replay) string {
	return strings.TrimPrefix(r.GetPause().GetReason().String(), "PAUSE_REASON_")
}

// names are the steps that were dispatched, in order.
func (w *world) names() string {
	var names []string
	for _, d := range w.relay.dispatches() {
		names = append(names, d.GetAction().GetName())
	}
	return strings.Join(names, ", ")
}

// delivered says which of two clicks are dispatched within a time of a fault.
func delivered(fault func(*world), within time.Duration) func(*scenario) any {
	return func(s *scenario) any {
		w := s.world()
		fault(w)
		w.twoClicks()
		time.Sleep(within)
		synctest.Wait()
		return w.names()
	}
}

// pauseOf says what two clicks pause with after a fault, and after how many
// deliveries.
func pauseOf(fault func(*world)) func(*scenario) any {
	return func(s *scenario) any {
		w := s.world()
		fault(w)
		r := w.await(w.twoClicks(), paused)
		return fmt.Sprintf("%s after %d deliveries", reasonOf(r), len(w.relay.dispatches()))
	}
}

// redeliveredAfter says how long after its dispatch a click is dispatched again
// after a fault.
func redeliveredAfter(fault func(*world)) func(*scenario) any {
	return func(s *scenario) any {
		w := s.world()
		fault(w)
		w.twoClicks()
		w.until(func() bool { return len(w.relay.dispatches()) > 1 })
		at := seen(w.relay, func(m message) (time.Time, bool) { return m.at, isDispatch(m.down) })
		return at[1].Sub(at[0])
	}
}

// The watchdog turns redelivery off and nothing else: what a cut link left behind goes
// out again, has one effect however often it arrives, and outlives the server.
func TestWithoutTheWatchdogReconnectDedupAndJournalGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.server = loaded(t, map[string]string{"RPA_WATCHDOG_ENABLED": "0"}) })
		lost := false
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			switch {
			case !isDispatch(m):
				return pass
			case !lost:
				lost = true
				return drop
			}
			return twice
		})
		id := w.create(3)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(w.relay.dispatches()); n != 1 {
			t.Fatalf("%d dispatches within an hour: a lost one was redelivered", n)
		}
		held, goOn := w.desktop.holdNext()
		w.relay.cutAll()
		<-held
		w.killServer()
		w.startServer()
		goOn()
		w.completed(id)
		w.clicked(1, 2, 3)
		again := w.relay.dispatches()[1]
		if again.GetDispatchMeta().GetResendReason() != reprisev1.ResendReason_RESEND_REASON_RECONNECT {
			t.Errorf("redelivered because of %v", again.GetDispatchMeta().GetResendReason())
		}
	})
}
