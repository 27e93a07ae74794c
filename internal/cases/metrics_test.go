package cases

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// told is what a server logged, for tests that look for lines.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines returns the log lines that hold a text.
func (l *told) lines(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// metrics scrapes the server's own port: sums over labels, of a histogram the
// number of observations.
func (w *world) metrics() map[string]float64 {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return w.scrape.DialContext(ctx) },
	}}
	req, err := http.NewRequestWithContext(w.ctx, http.MethodGet, "http://metrics/metrics", nil)
	w.must(err)
	res, err := client.Do(req)
	w.must(err)
	body, err := io.ReadAll(res.Body)
	w.must(err)
	w.must(res.Body.Close())
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	w.must(err)
	sums := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			sums[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sums
}

// counted wants metrics that are at least what is said.
func (w *world) counted(want map[string]float64) {
	w.t.Helper()
	got := w.metrics()
	for name, least := range want {
		if v, ok := got[name]; !ok || v < least {
			w.t.Errorf("%s is %v, want at least %v", name, v, least)
		}
	}
}

// logged wants a line that begins with a message and has these fields, in order.
func (w *world) logged(message string, fields ...string) {
	w.t.Helper()
	found := w.log.lines(message)
	if len(found) == 0 {
		w.t.Errorf("no line says %q", message)
		return
	}
	at := 0
	for _, field := range fields {
		i := strings.Index(found[0][at:], " "+field+"=")
		if i < 0 {
			w.t.Errorf("%q has no field %s in its place", found[0], field)
			return
		}
		at += i
	}
}

// An agent that has an action and says no more of it: orphan, resend, give-up, and
// the second give-up is the signal of a dead agent. Each leaves its line and moves
// its metric.
func TestAnAgentThatFallsSilentIsLoggedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext()
		heard := map[string]bool{}
		w.relay.onUp(func(m *reprisev1.ConnectRequest) fate { // of each attempt the receipt alone arrives
			p := m.GetProgress()
			if p == nil || !heard[p.GetAttemptId()] {
				heard[p.GetAttemptId()] = true
				return pass
			}
			return drop
		})
		id := w.createWith(&reprisev1.Action{
			Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Timeout: durationpb.New(time.Hour),
			Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(1), Y: 0.5}},
		})
		<-held
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if got := r.GetPause().GetReason(); got != reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS {
			t.Errorf("paused with %v", got)
		}
		w.logged("[BUS] lea:dispatch_orphan_resent", "action_id", "resent", "age", "session", "machine", "replay")
		w.logged("[BUS] lea:dispatch_orphan_giveup", "action_id", "resent", "age_total", "session", "machine", "replay")
		w.counted(map[string]float64{
			"rpa_replay_orphans_detected_total": 3, "rpa_replay_orphans_resent_total": 2, "rpa_replay_orphans_giveup_total": 1,
			"rpa_replay_orphan_age_seconds": 3,
		})
		w.resume(id)
		w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		w.logged("[BUS] lea:dead_client_signal", "session", "dead_count", "period")
		time.Sleep(11 * time.Second) // a sweep
		w.logged("[METRIC] watchdog", "scan", "orphans", "resent", "gaveup", "in_flight", "skipped", "elapsed_ms")
		w.counted(map[string]float64{"rpa_replay_dead_client_signals_total": 1})
		w.cancel(id)
	})
}

func TestAReplayThatGoesWellIsLoggedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.createWith(
			&reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(1), Y: 0.5}}},
			&reprisev1.Action{
				Kind:         &reprisev1.Action_PauseForHuman{PauseForHuman: &reprisev1.PauseForHuman{Message: "look"}},
				SafetyChecks: []*reprisev1.SafetyCheck{{Id: "seen", Label: "I have looked"}},
			},
		)
		<-held
		time.Sleep(11 * time.Second) // a sweep
		w.counted(map[string]float64{"rpa_replay_in_flight_actions": 1, "rpa_agent_streams_open": 1, "rpa_watchdog_sweeps_total": 1})
		goOn()
		w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		w.logged("[BUS] lea:monitor_routed", "replay", "action", "idx", "source")
		w.logged("[BUS] lea:safety_checks_generated", "replay", "count", "sources")
		w.resume(id)
		w.completed(id)
		w.counted(map[string]float64{
			"rpa_replay_dispatch_latency_seconds": 1, "rpa_replay_report_round_trip_seconds": 1, "rpa_journal_append_seconds": 1,
			"rpa_watchdog_sweep_duration_seconds": 1, "rpa_watchdog_last_sweep_timestamp_seconds": 1, "rpa_agent_connects_total": 1,
		})
		if m := w.metrics(); m["rpa_replay_in_flight_actions"] != 0 || m["rpa_watchdog_sweeps_failed_total"] != 0 {
			t.Errorf("at the end %v actions are in flight, %v sweeps have failed", m["rpa_replay_in_flight_actions"], m["rpa_watchdog_sweeps_failed_total"])
		}
		for _, kind := range []string{"replay_created", "replay_started", "action_dispatched", "action_reported", "replay_paused", "replay_resumed", "replay_ended"} {
			w.logged("msg="+kind, "replay", "machine", "revision")
		}
	})
}

func TestAnAgentThatComesBackIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, cut))
		w.completed(w.create(1))
		w.counted(map[string]float64{"rpa_agent_connects_total": 2, "rpa_agent_reconnects_total": 1, "rpa_agent_streams_open": 1})
	})
}
