package control

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// parts returns the responses of a beginning that was seen up to a revision, for a
// replay at revision 9000 whose journal has gone on since.
func parts(t *testing.T, seen int64, actions int) []*reprisev1.WatchReplayResponse {
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
	b := beginning{view: v, seen: seen}
	if err := b.send(past, func(m *reprisev1.WatchReplayResponse) error { out = append(out, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whoever is cut after any part and goes on from the revision it says has missed
// nothing and is told nothing twice; what is later than the view comes as a change.
func TestEveryPartOfABeginningSaysHowFarItWent(t *testing.T) {
	const seen = 1000
	at := int64(seen)
	all := parts(t, seen, 20_000)
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
		if size := proto.Size(m); size > maxBeginning+1<<10 {
			t.Errorf("part %d has %d bytes", i, size)
		}
	}
	if at != 9000 || actions != 20_000 || len(all) < 5 {
		t.Errorf("%d parts up to revision %d, with %d actions", len(all), at, actions)
	}
}

func TestASmallBeginningIsOnePart(t *testing.T) {
	if all := parts(t, 8999, 3); len(all) != 1 || all[0].GetSnapshotPending() || len(all[0].GetEvents()) != 2 || len(all[0].GetReplay().GetActions()) != 3 {
		t.Errorf("%v", all)
	}
}
