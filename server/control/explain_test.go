package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

func viewOf(id string, state replay.State) dispatch.View {
	v := dispatch.View{Head: replay.Head{ReplayID: id, MachineID: "m", Workflow: "w of " + id, State: state, Actions: 3}}
	if state == replay.Paused {
		v.Pause = &replay.Pause{ID: "p", Reason: "operator", Message: "look", By: "alice", At: time.Unix(5, 0)}
	}
	return v
}

// connected is a machine whose agent is there.
var connected = registry.Machine{ID: "m", SessionID: "s", ChangedAt: time.Unix(9, 0)}

var locked = registry.Machine{ID: "m", SessionID: "s", ChangedAt: time.Unix(9, 0), Info: registry.Info{
	DesktopKind: int(reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED), DesktopWhy: "the screen saver",
}}

func flight(kind pending.Kind) *dispatch.InFlight {
	return &dispatch.InFlight{
		ReplayID: "r-1", ActionID: "r-1-1", Kind: "click", Phase: pending.Sent, Deliveries: 2, Resent: 1, Deadline: kind, DueIn: 3 * time.Second,
	}
}

// there is a situation with the agent there and its desktop usable.
func there(s dispatch.Situation) dispatch.Situation {
	s.SessionID, s.Usable = "s", true
	return s
}

var (
	running = viewOf("r-1", replay.Running)
	queued  = viewOf("r-2", replay.Queued)
	paused  = viewOf("r-1", replay.Paused)
	pausing = func() dispatch.View { v := viewOf("r-1", replay.Paused); v.Head.Pausing = true; return v }()
	// behindPaused is a replay behind a paused one and another that waits.
	behindPaused = dispatch.Situation{View: viewOf("r-3", replay.Queued), Ahead: []dispatch.View{paused, queued}, Usable: true}
)

// Each cause and each chain, from what the watched replay waits for to what can
// be acted upon.
func TestAChainOfCausesLeadsToWhatCanBeActedUpon(t *testing.T) {
	away := registry.Machine{ID: "m", ChangedAt: time.Unix(9, 0)}
	for name, tt := range map[string]struct {
		facts facts
		want  string // the causes' kinds
		says  string // the last one's sentence has this
	}{
		"ended":      {facts{now: dispatch.Situation{View: viewOf("r-1", replay.Failed)}}, "ended", "failed"},
		"unreadable": {facts{now: dispatch.Situation{View: running}, unreadable: true, machine: connected}, "journal_unavailable", "cannot be read"},
		"unwritable": {
			facts{now: there(dispatch.Situation{View: running, Failing: true}), machine: connected}, "journal_unavailable", "cannot be written",
		},
		"unwritable and away": {
			facts{now: dispatch.Situation{View: running, Failing: true, Usable: true}, machine: away}, "machine_offline journal_unavailable", "cannot be written",
		},
		"ready": {facts{now: there(dispatch.Situation{View: running}), machine: connected}, "ready", "r-1"},
		"in flight": {
			facts{now: there(dispatch.Situation{View: running, InFlight: flight(pending.Receipt)}), machine: connected}, "action_in_flight", "delivered again",
		},
		"an orphan soon": {
			facts{now: there(dispatch.Situation{View: running, InFlight: flight(pending.Orphan)}), machine: connected}, "action_in_flight", "counts as lost",
		},
		"the watchdog is off": {
			facts{now: there(dispatch.Situation{View: running, InFlight: flight(0)}), machine: connected}, "action_in_flight", "stands still",
		},
		"away with an action in flight": {
			facts{now: dispatch.Situation{View: running, Usable: true, InFlight: flight(0), PausesIn: time.Minute}, machine: away},
			"action_in_flight machine_offline", "pauses unless one comes within 1m0s",
		},
		"never there": {facts{now: dispatch.Situation{View: queued, Usable: true}, machine: registry.Machine{ID: "m"}}, "machine_offline", "since the server started"},
		"locked":      {facts{now: dispatch.Situation{View: running, SessionID: "s"}, machine: locked}, "desktop_unusable", "locked): the screen saver"},
		"paused":      {facts{now: there(dispatch.Situation{View: paused}), machine: connected}, "paused", "paused by alice (operator): look"},
		"pausing": {
			facts{now: there(dispatch.Situation{View: pausing, InFlight: flight(pending.Orphan)}), machine: connected}, "paused action_in_flight", "counts as lost",
		},
		"paused and away":   {facts{now: dispatch.Situation{View: paused, Usable: true}, machine: away}, "paused machine_offline", "away"},
		"paused and locked": {facts{now: dispatch.Situation{View: paused, SessionID: "s"}, machine: locked}, "paused desktop_unusable", "locked"},
		"waits for actions": {facts{now: there(dispatch.Situation{View: running, Idle: true}), machine: connected}, "waiting_for_actions", "3 actions"},
		"waits for actions of a machine that is away": {
			facts{now: dispatch.Situation{View: running, Idle: true, Usable: true}, machine: away}, "waiting_for_actions", "to be closed",
		},
		"draining": {facts{now: there(dispatch.Situation{View: running, Draining: true}), machine: connected}, "server_draining", "going away"},
		"draining with an action in flight": {
			facts{now: there(dispatch.Situation{View: running, Draining: true, InFlight: flight(0)}), machine: connected}, "action_in_flight server_draining", "going away",
		},
		"behind one that is busy": {
			facts{now: there(dispatch.Situation{View: queued, Ahead: []dispatch.View{running}, InFlight: flight(pending.Orphan)}), machine: connected},
			"behind_replay action_in_flight", "lost",
		},
		"behind one that waits for actions": {
			facts{now: there(dispatch.Situation{View: queued, Ahead: []dispatch.View{running}, Idle: true}), machine: connected},
			"behind_replay waiting_for_actions", "r-1",
		},
		"behind one that is about to go on": {
			facts{now: there(dispatch.Situation{View: queued, Ahead: []dispatch.View{running}}), machine: connected}, "behind_replay ready", "r-1",
		},
		"behind a paused one on a machine that is away": {facts{now: behindPaused, machine: away}, "behind_replay paused machine_offline", "away"},
	} {
		causes := explain(tt.facts)
		var kinds []string
		for _, c := range causes {
			m := c.ProtoReflect()
			field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
			kinds = append(kinds, string(field.Name()))
			if c.GetMessage() == "" || strings.Contains(c.GetMessage(), "%!") {
				t.Errorf("%s: %s says %q", name, field.Name(), c.GetMessage())
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(kinds, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		} else if last := causes[len(causes)-1].GetMessage(); !strings.Contains(last, tt.says) {
			t.Errorf("%s: it says %q, want %q in it", name, last, tt.says)
		}
	}
}

// Programs read fields, not sentences.
func TestACauseHasWhatAProgramNeeds(t *testing.T) {
	behind := explain(facts{now: behindPaused, machine: registry.Machine{ID: "m", Info: registry.Info{LastExit: "out of memory"}}})
	b, p, off := behind[0].GetBehindReplay(), behind[1].GetPaused(), behind[2].GetMachineOffline()
	if b.GetReplayId() != "r-1" || b.GetReplaysAhead() != 2 || b.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED || b.GetWorkflowName() != "w of r-1" {
		t.Errorf("behind %v", b)
	}
	if p.GetReplayId() != "r-1" || p.GetPause().GetPausedBy() != "alice" || p.GetPausing() || behind[1].GetSince().AsTime() != time.Unix(5, 0).UTC() {
		t.Errorf("paused %v", behind[1])
	}
	if !off.GetNeverConnected() || off.GetPausesIn() != nil || off.GetLastExit() != "out of memory" {
		t.Errorf("offline %v", off)
	}
	in := explain(facts{now: there(dispatch.Situation{View: running, InFlight: flight(pending.Receipt)}), machine: connected})[0].GetActionInFlight()
	if in.GetActionId() != "r-1-1" || in.GetActionKind() != "click" || in.GetPhase() != reprisev1.ActionPhase_ACTION_PHASE_SENT || in.GetDeliveries() != 2 ||
		in.GetResentCount() != 1 || in.GetDeadline() != reprisev1.DeadlineKind_DEADLINE_KIND_RECEIPT || in.GetDueIn().AsDuration() != 3*time.Second {
		t.Errorf("in flight %v", in)
	}
	overdue := flight(pending.Orphan)
	overdue.DueIn = -time.Second
	if in := explain(facts{now: there(dispatch.Situation{View: running, InFlight: overdue}), machine: connected})[0].GetActionInFlight(); in.GetDueIn().AsDuration() != 0 {
		t.Errorf("what is overdue is due in %v", in.GetDueIn())
	}
	if d := explain(facts{now: dispatch.Situation{View: running, SessionID: "s"}, machine: locked})[0].GetDesktopUnusable(); d.GetDesktopState().GetDetail() != "the screen saver" {
		t.Errorf("desktop %v", d)
	}
}

// Of an agent that is away nobody knows what it does now.
func TestNobodySaysThatAnAgentWhichIsAwayExecutes(t *testing.T) {
	f := facts{now: dispatch.Situation{View: running, Usable: true, InFlight: flight(0)}, machine: registry.Machine{ID: "m", ChangedAt: time.Unix(9, 0)}}
	if says := explain(f)[0].GetMessage(); !strings.Contains(says, "was in flight when the agent went away") {
		t.Errorf("it says %q", says)
	}
	f.now.SessionID = "s"
	if says := explain(f)[0].GetMessage(); strings.Contains(says, "went away") {
		t.Errorf("with the agent there it says %q", says)
	}
}

func TestALockedDesktopSaysSinceWhen(t *testing.T) {
	m := locked
	m.DesktopAt = time.Unix(42, 0)
	causes := explain(facts{now: dispatch.Situation{View: running, SessionID: "s"}, machine: m})
	if at := causes[len(causes)-1].GetSince(); at.GetSeconds() != 42 {
		t.Errorf("locked since %v", at)
	}
}
