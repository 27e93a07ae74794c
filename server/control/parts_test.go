package control

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// begun returns the responses of a beginning that was seen up to a revision, for a
// replay at revision 9000 whose journal has gone on since.
func begun(t *testing.T, seen int64, actions int) []*reprisev1.WatchReplayResponse {
	t.Helper()
	const revision = 9000
	v := dispatch.View{Head: replay.Head{ReplayID: "r-1", MachineID: "m", State: replay.Running, Revision: revision}, All: true}
	for i := range actions {
		v.Actions = append(v.Actions, dispatch.ActionView{Action: replay.Action{ID: "a", Step: i}, Name: strings.Repeat("n", 200)})
	}
	var past []replay.Record
	for seq := seen + 1; seq <= revision+5; seq++ { // five came between the view and the reading
		past = append(past, replay.Record{ReplayID: "r-1", Seq: seq, Events: []replay.Event{
			replay.Requeued{ActionID: strings.Repeat("a", 100)}, replay.GatePassed{Step: 1},
		}})
	}
	var out []*reprisev1.WatchReplayResponse
	p := parts{view: v, seen: seen, begins: true, out: func(m *reprisev1.WatchReplayResponse) error { out = append(out, m); return nil }}
	if err := p.send(past); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whoever is cut after any part and goes on from the revision it says has missed
// nothing and is told nothing twice; what is later than the view comes as a change.
func TestEveryPartOfABeginningSaysHowFarItWent(t *testing.T) {
	const seen = 1000
	at := int64(seen)
	all := begun(t, seen, 20_000)
	actions := 0
	for i, m := range all {
		for _, e := range m.GetEvents() {
			if e.GetType() == "action_requeued" { // the first of the two of a record
				at++
			}
			if e.GetRevision() != at {
				t.Fatalf("part %d: revision %d comes after %d", i, e.GetRevision(), at)
			}
		}
		actions += len(m.GetReplay().GetActions())
		if n := len(m.GetEvents()); n%2 != 0 {
			t.Errorf("part %d has half of a record", i)
		}
		if m.GetReplay().GetRevision() != at || m.GetSnapshotPending() != (i < len(all)-1) {
			t.Errorf("part %d says revision %d after the events of %d", i, m.GetReplay().GetRevision(), at)
		}
		if size := proto.Size(m); size > maxPart+1<<10 {
			t.Errorf("part %d has %d bytes", i, size)
		}
	}
	if at != 9000 || actions != 20_000 || len(all) < 5 {
		t.Errorf("%d parts up to revision %d, with %d actions", len(all), at, actions)
	}
}

func TestASmallBeginningIsOnePart(t *testing.T) {
	if all := begun(t, 8999, 3); len(all) != 1 || all[0].GetSnapshotPending() || len(all[0].GetEvents()) != 2 || len(all[0].GetReplay().GetActions()) != 3 {
		t.Errorf("%v", all)
	}
}

// changes returns the responses of a change of some actions with names so long.
func changes(t *testing.T, names ...int) []*reprisev1.WatchReplayResponse {
	t.Helper()
	v := dispatch.View{
		Head:   replay.Head{ReplayID: "r-1", MachineID: "m", State: replay.Running, Revision: 7},
		Events: []replay.Event{replay.Resumed{By: "me"}, replay.GatePassed{}},
	}
	for i, n := range names {
		v.Actions = append(v.Actions, dispatch.ActionView{Action: replay.Action{ID: fmt.Sprint("r-1-", i+1), Step: i}, Name: strings.Repeat("n", n)})
	}
	var out []*reprisev1.WatchReplayResponse
	if err := sendChange(v, func(m *reprisev1.WatchReplayResponse) error { out = append(out, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// A change may concern all actions of a large replay. Each of its responses is one
// that a watcher who knows of no parts takes as it is.
func TestALargeChangeComesInParts(t *testing.T) {
	names := make([]int, 20_000)
	for i := range names {
		names[i] = 200
	}
	all := changes(t, names...)
	actions := 0
	for i, m := range all {
		if size := proto.Size(m); size > maxPart {
			t.Errorf("part %d has %d bytes", i, size)
		}
		r := m.GetReplay()
		if r.GetRevision() != 7 || r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING || m.GetSnapshotPending() {
			t.Errorf("part %d: %v at revision %d, pending %v", i, r.GetState(), r.GetRevision(), m.GetSnapshotPending())
		}
		if events := len(m.GetEvents()); (events == 2) != (i == 0) {
			t.Errorf("part %d has %d events", i, events)
		}
		for _, a := range r.GetActions() {
			if int(a.GetStep()) != actions {
				t.Fatalf("part %d: step %d after %d", i, a.GetStep(), actions)
			}
			actions++
		}
	}
	if actions != len(names) || len(all) < 4 {
		t.Errorf("%d parts with %d actions", len(all), actions)
	}
}

func TestAnActionThatIsTooLargeForAPartGoesAlone(t *testing.T) {
	var got []int
	for _, m := range changes(t, 10, maxPart+1, 20, 30) {
		got = append(got, len(m.GetReplay().GetActions()))
	}
	if fmt.Sprint(got) != "[1 1 2]" {
		t.Errorf("parts of %v actions", got)
	}
}

func TestASmallChangeIsOnePart(t *testing.T) {
	for _, names := range [][]int{nil, {1, 2, 3}} {
		if all := changes(t, names...); len(all) != 1 || len(all[0].GetEvents()) != 2 || len(all[0].GetReplay().GetActions()) != len(names) {
			t.Errorf("%v", all)
		}
	}
}
