package control

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

func names(d protoreflect.EnumDescriptor, prefix string) map[int]string {
	all := map[int]string{}
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		all[int(v.Number())] = strings.TrimPrefix(string(v.Name()), prefix)
	}
	return all
}

// What is cast by its number must mean the same on both sides, value by value.
func TestNumbersThatAreCastMeanTheSameOnBothSides(t *testing.T) {
	states := map[int]string{0: "UNSPECIFIED"}
	for s := replay.Queued; s <= replay.Cancelled; s++ {
		states[int(s)] = s.String()
	}
	if diff := cmp.Diff(names(reprisev1.ReplayState(0).Descriptor(), "REPLAY_STATE_"), states); diff != "" {
		t.Errorf("states of a replay (-schema +core):\n%s", diff)
	}
	actions := map[int]string{0: "UNSPECIFIED"}
	for s := replay.ActionQueued; s <= replay.ActionCancelled; s++ {
		actions[int(s)] = s.String()
	}
	if diff := cmp.Diff(names(reprisev1.ActionState(0).Descriptor(), "ACTION_STATE_"), actions); diff != "" {
		t.Errorf("states of an action (-schema +core):\n%s", diff)
	}
	phases := map[int]string{0: "UNSPECIFIED", int(pending.Sent): "SENT", int(pending.Received): "RECEIVED", int(pending.Executing): "EXECUTING"}
	if diff := cmp.Diff(names(reprisev1.ActionPhase(0).Descriptor(), "ACTION_PHASE_"), phases); diff != "" {
		t.Errorf("phases (-schema +core):\n%s", diff)
	}
	giveUps := map[int]string{
		int(replay.GiveUpByKind): "UNSPECIFIED", int(replay.GiveUpPause): "PAUSE", int(replay.GiveUpContinue): "CONTINUE", int(replay.GiveUpFail): "FAIL",
	}
	if diff := cmp.Diff(names(reprisev1.GiveUp(0).Descriptor(), "GIVE_UP_"), giveUps); diff != "" {
		t.Errorf("give-ups (-schema +core):\n%s", diff)
	}
}

// A number past the core's last one has no name: the loops above end at the last.
func TestTheCoreHasNoFurtherStates(t *testing.T) {
	if s, a := replay.Cancelled+1, replay.ActionCancelled+1; s.String() != "UNKNOWN" || a.String() != "UNKNOWN" {
		t.Errorf("%v and %v are missing in the schema", s, a)
	}
}

func TestEveryEventHasItsName(t *testing.T) {
	seen := map[string]bool{}
	for _, ev := range []replay.Event{
		replay.Created{}, replay.Started{}, replay.Dispatched{}, replay.Adopted{}, replay.Requeued{}, replay.Reported{}, replay.LostMemory{},
		replay.GaveUp{}, replay.PausedBy{}, replay.GatePassed{}, replay.Resumed{}, replay.Ended{},
	} {
		kind, _, _ := replay.Describe(ev)
		if kind == "unknown" || seen[kind] {
			t.Errorf("%T is called %q", ev, kind)
		}
		seen[kind] = true
	}
}

// Callers branch on the code; the words of a report are in the report.
func TestAnEventNamesTheFaultAndNotItsWords(t *testing.T) {
	events := fromRecord("m", record(dispatch.View{Events: []replay.Event{
		replay.Reported{ActionID: "r-1-1", Outcome: replay.OutcomeNeedsHelp, Report: replay.Report{Code: "wrong_window", Message: "a secret"}},
		replay.PausedBy{Reason: "wrong_window", Message: "a secret"},
	}}))
	for _, e := range events {
		if strings.Contains(e.GetDetail(), "secret") || !strings.Contains(e.GetDetail(), "wrong_window") {
			t.Errorf("%v", e)
		}
	}
}
