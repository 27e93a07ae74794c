// Package telemetry turns what the loops note into log lines and metrics. The
// lines that begin with [BUS] and [METRIC] keep the form that sites grep for:
// message first, then fields. It decides nothing.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Telemetry is the dispatch.Observer of a server.
type Telemetry struct {
	log *slog.Logger

	resent, gaveUp, detected *prometheus.CounterVec
	deadClients              *prometheus.CounterVec
	sweeps, failedSweeps     prometheus.Counter
	lastSweep                prometheus.Gauge
	inFlight                 *prometheus.GaugeVec
	orphanedNow              prometheus.Gauge
	orphanAge, sweepTook     prometheus.Histogram
	appendTook               prometheus.Histogram
	appendFailed             prometheus.Counter
	connects, reconnects     *prometheus.CounterVec
	picturesKept             prometheus.Gauge
	picturesDropped          prometheus.Counter
	streams                  prometheus.Gauge
	received, reported       prometheus.Histogram
	collectors               []prometheus.Collector

	seen sync.Map // machines whose agent has been here
}

// New registers the metrics; a nil log discards.
func New(reg prometheus.Registerer, log *slog.Logger) (*Telemetry, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{log: log}
	byMachine := []string{"machine"}
	t.detected = t.counters("rpa_replay_orphans_detected_total", "Actions whose deadline passed with no report.", byMachine)
	t.resent = t.counters("rpa_replay_orphans_resent_total", "Orphans that were delivered again.", byMachine)
	t.gaveUp = t.counters("rpa_replay_orphans_giveup_total", "Orphans whose resends were used up.", byMachine)
	t.deadClients = t.counters("rpa_replay_dead_client_signals_total", "Agents that count as dead.", byMachine)
	t.sweeps = t.counter("rpa_watchdog_sweeps_total", "Sweeps of the watchdog.")
	t.failedSweeps = t.counter("rpa_watchdog_sweeps_failed_total", "Sweeps that not every machine answered.")
	t.appendFailed = t.counter("rpa_journal_append_failures_total", "Appends that the journal refused.")
	t.lastSweep = t.gauge("rpa_watchdog_last_sweep_timestamp_seconds", "When the last sweep ended.")
	t.inFlight = t.gauges("rpa_replay_in_flight_actions", "Actions that are dispatched and not reported.", byMachine)
	t.orphanedNow = t.gauge("rpa_replay_orphaned_actions", "Orphans that the watchdog found between the last two sweeps.")
	t.orphanAge = t.histogram("rpa_replay_orphan_age_seconds", "Age of orphans from their first dispatch.", []float64{10, 30, 60, 120, 300})
	t.sweepTook = t.histogram("rpa_watchdog_sweep_duration_seconds", "How long a sweep took.", prometheus.ExponentialBuckets(1e-5, 4, 10))
	t.appendTook = t.histogram("rpa_journal_append_seconds", "How long an append took to be durable.", prometheus.ExponentialBuckets(1e-4, 2, 14))
	t.connects = t.counters("rpa_agent_connects_total", "Streams that agents have opened; the first and each reconnect.", byMachine)
	t.reconnects = t.counters("rpa_agent_reconnects_total", "Streams that agents have opened again, since the server started.", byMachine)
	t.picturesKept = t.gauge("rpa_evidence_stored_bytes", "Bytes of pictures that are kept.")
	t.picturesDropped = t.counter("rpa_evidence_dropped_total", "Pictures that were dropped for their age or for room.")
	t.streams = t.gauge("rpa_agent_streams_open", "Agents' streams that are open now.")
	t.received = t.histogram("rpa_replay_dispatch_latency_seconds", "From an action that is ready to the agent's first word about it.", prometheus.ExponentialBuckets(1e-3, 2, 14))
	t.reported = t.histogram("rpa_replay_report_round_trip_seconds", "From an action that is ready to its report.", prometheus.ExponentialBuckets(1e-2, 2, 14))
	for _, c := range t.collectors {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	return t, nil
}

func (t *Telemetry) counters(name, help string, labels []string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	t.collectors = append(t.collectors, c)
	return c
}

func (t *Telemetry) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	t.collectors = append(t.collectors, c)
	return c
}

func (t *Telemetry) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	t.collectors = append(t.collectors, g)
	return g
}

func (t *Telemetry) gauges(name, help string, labels []string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	t.collectors = append(t.collectors, g)
	return g
}

func (t *Telemetry) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	t.collectors = append(t.collectors, h)
	return h
}

// Note implements dispatch.Observer.
func (t *Telemetry) Note(machineID string, n dispatch.Note) {
	age := n.Age.Round(time.Millisecond)
	switch n.Kind {
	case dispatch.NoteOrphanResent:
		t.detected.WithLabelValues(machineID).Inc()
		t.resent.WithLabelValues(machineID).Inc()
		t.orphanAge.Observe(n.Age.Seconds())
		t.line(slog.LevelWarn, "[BUS] lea:dispatch_orphan_resent", slog.String("action_id", n.Action), slog.String("resent", fmt.Sprintf("%d/%d", n.Resent, n.Max)),
			slog.Duration("age", age), slog.String("session", n.Session), slog.String("machine", machineID), slog.String("replay", n.Replay))
	case dispatch.NoteOrphanGiveUp:
		t.detected.WithLabelValues(machineID).Inc()
		t.gaveUp.WithLabelValues(machineID).Inc()
		t.orphanAge.Observe(n.Age.Seconds())
		t.line(slog.LevelError, "[BUS] lea:dispatch_orphan_giveup", slog.String("action_id", n.Action), slog.Int("resent", n.Resent),
			slog.Duration("age_total", age), slog.String("session", n.Session), slog.String("machine", machineID), slog.String("replay", n.Replay))
	case dispatch.NoteDeadClient:
		t.deadClients.WithLabelValues(machineID).Inc()
		t.line(slog.LevelError, "[BUS] lea:dead_client_signal", slog.String("session", n.Session), slog.Int("dead_count", n.Count), slog.Duration("period", n.Age))
	case dispatch.NoteSafetyChecks:
		t.line(slog.LevelInfo, "[BUS] lea:safety_checks_generated", slog.String("replay", n.Replay), slog.Int("count", n.Count), slog.String("sources", n.Source))
	case dispatch.NoteMonitorRouted:
		t.line(slog.LevelInfo, "[BUS] lea:monitor_routed", slog.String("replay", n.Replay), slog.String("action", n.Action), slog.Int("idx", n.Index), slog.String("source", n.Source))
	}
}

// Changed implements dispatch.Observer: one line per event of a replay, in order,
// so that the log tells what became of it.
func (t *Telemetry) Changed(machineID string, v dispatch.View) {
	for _, ev := range v.Events {
		kind, action, detail := replay.Describe(ev)
		level := slog.LevelInfo
		if kind == "replay_paused" || kind == "action_given_up" {
			level = slog.LevelWarn
		}
		fields := append(make([]slog.Attr, 0, 5), slog.String(logkeys.Replay, v.Head.ReplayID), slog.String(logkeys.Machine, machineID),
			slog.Int64(logkeys.Revision, v.Head.Revision))
		if action != "" {
			fields = append(fields, slog.String(logkeys.Action, action))
		}
		if detail != "" {
			fields = append(fields, slog.String(logkeys.Detail, detail))
		}
		t.line(level, kind, fields...)
	}
}

// line writes a line of the log. There are several for each action, so it does not
// ask who called, as a Logger does.
func (t *Telemetry) line(level slog.Level, message string, fields ...slog.Attr) {
	ctx := context.Background() //nolint:forbidigo // a line of the log belongs to no call
	h := t.log.Handler()
	if !h.Enabled(ctx, level) {
		return
	}
	r := slog.NewRecord(time.Now(), level, message, 0)
	r.AddAttrs(fields...)
	_ = h.Handle(ctx, r) // as a Logger: a log that cannot be written is nobody's to tell
}

// Appended implements dispatch.Observer.
func (t *Telemetry) Appended(took time.Duration, err error) {
	t.appendTook.Observe(took.Seconds())
	if err != nil {
		t.appendFailed.Inc()
	}
}

// InFlight implements dispatch.Observer.
func (t *Telemetry) InFlight(machineID string, n int) {
	t.inFlight.WithLabelValues(machineID).Set(float64(n))
}

// Opened implements session.Observer.
func (t *Telemetry) Opened(machineID string) {
	t.connects.WithLabelValues(machineID).Inc()
	if _, before := t.seen.LoadOrStore(machineID, true); before {
		t.reconnects.WithLabelValues(machineID).Inc()
	}
	t.streams.Inc()
}

// PicturesKept says how many bytes of pictures there are.
func (t *Telemetry) PicturesKept(bytes int64) { t.picturesKept.Set(float64(bytes)) }

// PicturesDropped says how many were dropped for their age or for room.
func (t *Telemetry) PicturesDropped(n int) { t.picturesDropped.Add(float64(n)) }

// Ended implements session.Observer.
func (t *Telemetry) Ended(string) { t.streams.Dec() }

// Received implements session.Observer.
func (t *Telemetry) Received(took time.Duration) { t.received.Observe(took.Seconds()) }

// Reported implements session.Observer.
func (t *Telemetry) Reported(took time.Duration) { t.reported.Observe(took.Seconds()) }

// Swept says what a sweep found. A sweep that found nothing leaves no line.
func (t *Telemetry) Swept(s dispatch.Swept, scanned int, took time.Duration) {
	t.sweeps.Inc()
	t.lastSweep.SetToCurrentTime()
	t.orphanedNow.Set(float64(s.Orphans))
	t.sweepTook.Observe(took.Seconds())
	if s.Unanswered > 0 {
		t.failedSweeps.Inc()
	}
	if s.Orphans+s.Skipped+s.Unanswered > 0 {
		t.log.Info("[METRIC] watchdog", "scan", scanned, "orphans", s.Orphans, "resent", s.Resent, "gaveup", s.GaveUp,
			"in_flight", s.InFlight, "skipped", s.Skipped+s.Unanswered, "elapsed_ms", took.Milliseconds())
	}
}
