package cases

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// arising is what an operator sees of one thing that happens, and the scene in which
// it does. A line's fields are all of its fields, in their order.
type arising struct {
	name   string
	scene  string
	fields string
}

// busLines are those that sites grep for, message first.
var busLines = []arising{
	{"[BUS] lea:dispatch_orphan_resent", silentScene, "action_id resent age session machine replay"},
	{"[BUS] lea:dispatch_orphan_giveup", silentScene, "action_id resent age_total session machine replay"},
	{"[BUS] lea:dead_client_signal", silentScene, "session dead_count period"},
	{"[BUS] lea:safety_checks_generated", gatesScene, "replay count sources"},
	{"[BUS] lea:monitor_routed", gatesScene, "replay action idx source"},
	{"[METRIC] watchdog", silentScene, "scan orphans resent gaveup in_flight skipped elapsed_ms"},
}

// transitions are the events of a replay, by their names in the schema and the log.
var transitions = []arising{
	{"replay_created", gatesScene, "replay machine revision detail"},
	{"actions_appended", gatesScene, "replay machine revision detail"},
	{"replay_closed", gatesScene, "replay machine revision"},
	{"replay_started", gatesScene, "replay machine revision"},
	{"action_dispatched", gatesScene, "replay machine revision action detail"},
	{"action_reported", gatesScene, "replay machine revision action detail"},
	{"pause_passed", gatesScene, "replay machine revision detail"},
	{"replay_paused", gatesScene, "replay machine revision detail"},
	{"replay_resumed", gatesScene, "replay machine revision detail"},
	{"replay_ended", gatesScene, "replay machine revision detail"},
	{"action_requeued", silentScene, "replay machine revision action detail"},
	{"action_given_up", silentScene, "replay machine revision action"},
	{"action_adopted", adoptedScene, "replay machine revision action"},
	{"action_memory_lost", forgottenScene, "replay machine revision action"},
}

// moving says of each metric in which scene it moves.
var moving = map[string]string{
	"rpa_replay_orphans_detected_total":         silentScene,
	"rpa_replay_orphans_resent_total":           silentScene,
	"rpa_replay_orphans_giveup_total":           silentScene,
	"rpa_replay_orphan_age_seconds":             silentScene,
	"rpa_replay_orphaned_actions":               silentScene,
	"rpa_replay_dead_client_signals_total":      silentScene,
	"rpa_replay_in_flight_actions":              silentScene,
	"rpa_watchdog_sweeps_total":                 silentScene,
	"rpa_watchdog_sweep_duration_seconds":       silentScene,
	"rpa_watchdog_last_sweep_timestamp_seconds": silentScene,
	"rpa_watchdog_sweeps_failed_total":          heldScene,
	"rpa_journal_append_failures_total":         heldScene,
	"rpa_journal_append_seconds":                gatesScene,
	"rpa_replay_dispatch_latency_seconds":       gatesScene,
	"rpa_replay_report_round_trip_seconds":      gatesScene,
	"rpa_agent_streams_open":                    gatesScene,
	"rpa_agent_connects_total":                  gatesScene,
	"rpa_agent_reconnects_total":                adoptedScene,
	"rpa_evidence_stored_bytes":                 gatesScene,
	"rpa_evidence_dropped_total":                droppedScene,
}

// Each thing that an operator can see arises in its scene, where it should: its line
// with all of its fields in their order, its event, its metric.
func TestWhatHappensIsSeenWhereItArises(t *testing.T) {
	for name, play := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) {
					if name == droppedScene {
						s.server.EvidenceMaxTotalBytes = 1
					}
				})
				seen := &most{world: w, values: map[string]float64{}}
				play(w, seen)
				seen.look()
				for _, a := range slices.Concat(busLines, transitions) {
					if a.scene == name {
						w.saysExactly(a)
					}
				}
				for metric, scene := range moving {
					if scene == name && seen.values[metric] <= 0 {
						t.Errorf("%s has not moved", metric)
					}
				}
				w.eventsAgreeWithTheLog()
			})
		})
	}
}

// most is the largest value that each metric had when somebody looked.
type most struct {
	*world
	values map[string]float64
}

func (m *most) look() {
	m.t.Helper()
	for name, v := range m.metrics() {
		m.values[name] = max(m.values[name], v)
	}
}

var field = regexp.MustCompile(` ([a-z_]+)=(?:"(?:[^"\\]|\\.)*"|\S*)`)

// fieldsOf returns the names of the fields of each line with a message, in order.
func (w *world) fieldsOf(message string) (all []string) {
	for _, msg := range []string{"msg=" + message + " ", `msg="` + message + `" `} {
		for _, line := range w.log.lines(msg) {
			_, rest, _ := strings.Cut(line, msg)
			var names []string
			for _, m := range field.FindAllStringSubmatch(" "+rest, -1) {
				names = append(names, m[1])
			}
			all = append(all, strings.Join(names, " "))
		}
	}
	return all
}

// saysExactly wants a line with these fields and no others, in this order.
func (w *world) saysExactly(a arising) {
	w.t.Helper()
	if got := w.fieldsOf(a.name); !slices.Contains(got, a.fields) {
		w.t.Errorf("%s has the fields %q, want one line with %q", a.name, got, a.fields)
	}
}

// events returns those of the whole server after one, to the present.
func (w *world) events(after string) (all []*reprisev1.ReplayEvent) {
	w.t.Helper()
	req := &reprisev1.WatchEventsRequest{AfterEventId: after, FromBeginning: after == "", UntilPresent: true}
	watch, err := w.replays.WatchEvents(w.ctx, req)
	w.must(err)
	for {
		res, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			return all
		}
		w.must(err)
		all = append(all, res.GetEvents()...)
	}
}

// eventsAgreeWithTheLog wants the event stream and the log to tell the same story
// in the same order, and the stream to go on from each of its events.
func (w *world) eventsAgreeWithTheLog() {
	w.t.Helper()
	all := w.events("")
	var told, logged []string
	for _, ev := range all {
		told = append(told, ev.GetType()+" "+ev.GetReplayId())
	}
	kinds := map[string]bool{}
	for _, a := range transitions {
		kinds[a.name] = true
	}
	for _, line := range w.log.lines("msg=") {
		kind, rest, _ := strings.Cut(line[strings.Index(line, "msg=")+4:], " ")
		if kinds[kind] {
			_, id, _ := strings.Cut(rest, "replay=")
			id, _, _ = strings.Cut(id, " ")
			logged = append(logged, kind+" "+id)
		}
	}
	if diff := cmp.Diff(told, logged); diff != "" {
		w.t.Errorf("(-events +log):\n%s", diff)
	}
	for i, ev := range all {
		rest := w.events(ev.GetEventId())
		if diff := cmp.Diff(all[i+1:], rest, protocmp.Transform(), cmpopts.EquateEmpty()); diff != "" {
			w.t.Fatalf("after event %d, %s (-want +got):\n%s", i, ev.GetType(), diff)
		}
	}
}

// A line, an event or a metric that the server has and the tables do not is one that
// nobody has seen arise.
func TestNothingIsSeenThatNoSceneMakesArise(t *testing.T) {
	for _, source := range []struct {
		file, pattern string
		known         []string
	}{
		{"server/telemetry/telemetry.go", `"(\[(?:BUS|METRIC)\][^"]*)"`, namesOf(busLines)},
		{"server/telemetry/telemetry.go", `"(rpa_[a-z_]+)"`, slices.Collect(maps.Keys(moving))},
		{"server/replay/describe.go", `return "([a-z]+_[a-z_]+)"`, namesOf(transitions)},
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(source.file)))
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		for _, m := range regexp.MustCompile(source.pattern).FindAllStringSubmatch(string(raw), -1) {
			there = append(there, m[1])
		}
		slices.Sort(there)
		slices.Sort(source.known)
		if diff := cmp.Diff(there, source.known); diff != "" {
			t.Errorf("%s (-there +in the tables):\n%s", source.file, diff)
		}
	}
}

func namesOf(all []arising) (names []string) {
	for _, a := range all {
		names = append(names, a.name)
	}
	return names
}
