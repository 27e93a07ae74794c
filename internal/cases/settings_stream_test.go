package cases

import (
	"fmt"
	"time"

	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/backoff"
)

var streamEffects = []effect{
	{setting: "ping-interval", other: "15s", play: pingsIn(time.Minute), byDef: "6 of the server, 6 of the agent", changed: "4 of the server, 4 of the agent"},
	{setting: "ping-timeout", other: "3s", play: streamEndsAfter(withoutPongsOfTheAgent), byDef: "20s", changed: "13s"},
	{setting: "ping-timeout", other: "3s", play: streamEndsAfter(withoutPongsOfTheServer), byDef: "20s", changed: "13s"},
	{
		setting: "report-ack-timeout", other: "4s",
		play: func(s *scenario) any {
			w := s.world()
			reported := make(chan time.Time, 1)
			w.relay.onUp(firstTime(func(m *reprisev1.ConnectRequest) bool {
				if isReport(m) {
					reported <- time.Now()
				}
				return isReport(m)
			}, drop))
			w.until(func() bool { return len(w.hellos()) == 1 }) // the stream that is cut
			w.create(1)
			return w.nextHello().Sub(<-reported).Truncate(time.Second)
		},
		byDef: "10s", changed: "4s",
	},
	{
		setting: "action-timeout", other: "40s",
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.holdNext()
			w.await(w.create(1), paused)
			return fmt.Sprintf("%v after %v", w.relay.reports()[0].GetError().GetCode(), took(w.relay.reports()[0]))
		},
		byDef: "ERROR_CODE_TIMEOUT after 1m0s", changed: "ERROR_CODE_TIMEOUT after 40s",
	},
	{
		setting: "max-message-bytes", other: "1048576",
		play: func(s *scenario) any {
			w := s.world()
			long := make([]*reprisev1.Action, 3000)
			for i := range long {
				long[i] = longClick(1)
				long[i].Name, long[i].Intention = "", fmt.Sprintf("%500d", i)
			}
			_, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{
				MachineId: machineID, Workflow: &reprisev1.Workflow{Name: "1.5 MB", Actions: long},
			})
			return status.Code(err)
		},
		byDef: "OK", changed: "ResourceExhausted",
	},
	{
		setting: "reconnect-backoff", agent: func(c *agent.Config) { c.Backoff = backoff.Policy{Steps: []time.Duration{7 * time.Second}} },
		play: func(s *scenario) any {
			w := s.world()
			cutAt := make(chan time.Time, 1)
			w.relay.onDown(firstTime(func(m *reprisev1.ConnectResponse) bool {
				if isDispatch(m) {
					cutAt <- time.Now()
				}
				return isDispatch(m)
			}, cut))
			w.create(1)
			at, again := <-cutAt, time.Duration(0)
			w.until(func() bool { // the first hello behind the cut
				for _, h := range w.hellos() {
					if h.After(at) {
						again = h.Sub(at)
						return true
					}
				}
				return false
			})
			return again.Round(100 * time.Millisecond) // half of the step, by the world's dice
		},
		byDef: "500ms", changed: "3.5s",
	},
}

// nextHello waits until the agent opens a stream once more, and says when it did.
func (w *world) nextHello() time.Time {
	w.t.Helper()
	before := len(w.hellos())
	w.until(func() bool { return len(w.hellos()) > before })
	return w.hellos()[before]
}

// opened waits until the agent's stream was opened so many times.
func (w *world) opened(times int) {
	w.t.Helper()
	w.until(func() bool { return len(w.welcomes()) >= times })
}

// until waits for what may take up to an hour.
func (w *world) until(so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Hour); !so(); {
		if time.Now().After(deadline) {
			w.t.Fatal("nothing came of it within an hour")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func pingsIn(d time.Duration) func(*scenario) any {
	return func(s *scenario) any {
		w := s.world()
		time.Sleep(d + time.Second)
		down := seen(w.relay, func(m message) (struct{}, bool) { return struct{}{}, m.down.GetPing() != nil })
		up := seen(w.relay, func(m message) (struct{}, bool) { return struct{}{}, m.up.GetPing() != nil })
		return fmt.Sprintf("%d of the server, %d of the agent", len(down), len(up))
	}
}

func withoutPongsOfTheAgent(w *world) {
	w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		if m.GetPong() != nil {
			return drop
		}
		return pass
	})
}

func withoutPongsOfTheServer(w *world) {
	w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
		if m.GetPong() != nil {
			return drop
		}
		return pass
	})
}

// streamEndsAfter says how long an idle stream lasts with a fault.
func streamEndsAfter(fault func(*world)) func(*scenario) any {
	return func(s *scenario) any {
		w := s.world()
		w.opened(1)
		began := time.Now()
		fault(w)
		return w.nextHello().Sub(began).Truncate(time.Second)
	}
}

// took is the time that an action took, as its report says.
func took(r *reprisev1.Report) time.Duration {
	return r.GetEndedAt().AsTime().Sub(r.GetStartedAt().AsTime()).Round(time.Second)
}
