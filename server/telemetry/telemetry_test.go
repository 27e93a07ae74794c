package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/reprise-rpa/reprise/server/dispatch"
)

// Sites grep for these lines: message first, then these fields in this order.
func TestLinesKeepTheFormThatSitesGrepFor(t *testing.T) {
	tests := []struct {
		note dispatch.Note
		want string
	}{
		{
			dispatch.Note{Kind: dispatch.NoteOrphanResent, Action: "r-1-3", Resent: 1, Max: 2, Age: 31 * time.Second, Session: "s-1", Replay: "r-1"},
			`level=WARN msg="[BUS] lea:dispatch_orphan_resent" action_id=r-1-3 resent=1/2 age=31s session=s-1 machine=desk-1 replay=r-1`,
		},
		{
			dispatch.Note{Kind: dispatch.NoteOrphanGiveUp, Action: "r-1-3", Resent: 2, Age: 95 * time.Second, Session: "s-1", Replay: "r-1"},
			`level=ERROR msg="[BUS] lea:dispatch_orphan_giveup" action_id=r-1-3 resent=2 age_total=1m35s session=s-1 machine=desk-1 replay=r-1`,
		},
		{
			dispatch.Note{Kind: dispatch.NoteDeadClient, Session: "s-1", Count: 2, Age: 5 * time.Minute},
			`level=ERROR msg="[BUS] lea:dead_client_signal" session=s-1 dead_count=2 period=5m0s`,
		},
		{
			dispatch.Note{Kind: dispatch.NoteSafetyChecks, Replay: "r-1", Count: 3, Source: "server,workflow"},
			`level=INFO msg="[BUS] lea:safety_checks_generated" replay=r-1 count=3 sources=server,workflow`,
		},
		{
			dispatch.Note{Kind: dispatch.NoteMonitorRouted, Replay: "r-1", Action: "r-1-3", Index: 1, Source: "recorded"},
			`level=INFO msg="[BUS] lea:monitor_routed" replay=r-1 action=r-1-3 idx=1 source=recorded`,
		},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		tel := build(t, prometheus.NewRegistry(), &out)
		tel.Note("desk-1", tt.note)
		if got := line(out.String()); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

func TestASweepThatFoundNothingLeavesNoLine(t *testing.T) {
	var out bytes.Buffer
	reg := prometheus.NewRegistry()
	tel := build(t, reg, &out)
	tel.Swept(dispatch.Swept{InFlight: 3}, 4, time.Millisecond)
	if out.Len() != 0 {
		t.Errorf("it says %s", out.String())
	}
	tel.Swept(dispatch.Swept{Orphans: 3, Resent: 2, GaveUp: 1, InFlight: 5, Skipped: 1, Unanswered: 2}, 4, 7*time.Millisecond)
	want := `level=INFO msg="[METRIC] watchdog" scan=4 orphans=3 resent=2 gaveup=1 in_flight=5 skipped=3 elapsed_ms=7`
	if got := line(out.String()); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	counted(t, reg, map[string]float64{
		"rpa_watchdog_sweeps_total": 2, "rpa_watchdog_sweeps_failed_total": 1,
		"rpa_replay_orphaned_actions": 3, "rpa_watchdog_sweep_duration_seconds": 2,
	})
}

// counted checks the values of metrics: of a histogram the number of observations.
func counted(t *testing.T, reg *prometheus.Registry, want map[string]float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if _, ok := want[f.GetName()]; !ok {
			continue
		}
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatHappensIsCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	tel := build(t, reg, &bytes.Buffer{})
	tel.Note("desk-1", dispatch.Note{Kind: dispatch.NoteOrphanResent, Age: 31 * time.Second})
	tel.Note("desk-1", dispatch.Note{Kind: dispatch.NoteOrphanGiveUp, Age: 95 * time.Second})
	tel.Appended(time.Millisecond, nil)
	tel.Appended(time.Millisecond, errors.New("disk full"))
	tel.InFlight("desk-1", 1)
	tel.InFlight("desk-2", 1)
	tel.InFlight("desk-2", 0)
	tel.Opened("desk-1")
	tel.Opened("desk-1")
	tel.Opened("desk-2")
	tel.Ended("desk-2")
	tel.Ended("desk-1")
	tel.PicturesDropped(3)
	tel.PicturesDropped(1)
	tel.PicturesKept(500)
	tel.Received(time.Millisecond)
	tel.Reported(time.Second)
	counted(t, reg, map[string]float64{
		"rpa_agent_connects_total": 3, "rpa_agent_reconnects_total": 1, "rpa_evidence_dropped_total": 4, "rpa_evidence_stored_bytes": 500,
		"rpa_agent_streams_open": 1, "rpa_journal_append_failures_total": 1, "rpa_journal_append_seconds": 2,
		"rpa_replay_orphan_age_seconds": 2, "rpa_replay_orphans_detected_total": 2, "rpa_replay_orphans_giveup_total": 1,
		"rpa_replay_orphans_resent_total": 1, "rpa_replay_in_flight_actions": 1, "rpa_replay_dispatch_latency_seconds": 1, "rpa_replay_report_round_trip_seconds": 1,
	})
	var buckets []float64
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "rpa_replay_orphan_age_seconds" {
			for _, b := range f.GetMetric()[0].GetHistogram().GetBucket() {
				buckets = append(buckets, b.GetUpperBound())
			}
		}
	}
	if !slices.Equal(buckets, []float64{10, 30, 60, 120, 300}) {
		t.Errorf("the ages of orphans have the buckets %v", buckets)
	}
}

// Labels are bounded: by machine, never by replay, action or session.
func TestLabelsAreBounded(t *testing.T) {
	reg := prometheus.NewRegistry()
	tel := build(t, reg, &bytes.Buffer{})
	for kind := dispatch.NoteOrphanResent; kind <= dispatch.NoteMonitorRouted; kind++ {
		tel.Note("desk-1", dispatch.Note{Kind: kind, Replay: "r-1", Action: "a-1", Session: "s-1"})
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains([]string{"machine"}, l.GetName()) {
					t.Errorf("%s is labelled by %s", f.GetName(), l.GetName())
				}
			}
		}
	}
}

func TestTwoTelemetriesOfOneRegistryAreRefused(t *testing.T) {
	reg := prometheus.NewRegistry()
	build(t, reg, &bytes.Buffer{})
	if _, err := New(reg, nil); err == nil {
		t.Error("the second one was registered")
	}
}

func build(t *testing.T, reg *prometheus.Registry, out *bytes.Buffer) *Telemetry {
	t.Helper()
	tel, err := New(reg, slog.New(slog.NewTextHandler(out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

// line is a log line without its time.
func line(text string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return rest
}
