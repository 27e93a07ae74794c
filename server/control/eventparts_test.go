package control

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

func TestALargeSnapshotComesInParts(t *testing.T) {
	l := &library{}
	for i := range 300 {
		l.heads = append(l.heads, replay.Head{ReplayID: fmt.Sprint(i), State: replay.Running, Workflow: strings.Repeat("w", 20_000)})
	}
	l.heads[7].Workflow = strings.Repeat("w", maxPart+1) // it goes alone
	heard, err := hear(t, l, &reprisev1.WatchEventsRequest{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, m := range heard {
		last := i == len(heard)-1
		if size := proto.Size(m); size > maxPart+100 && len(m.GetSnapshot()) > 1 || m.GetSnapshotPending() == last || (m.GetResumeEventId() != "") != last {
			t.Errorf("part %d has %d bytes, pending %v, goes on from %q", i, size, m.GetSnapshotPending(), m.GetResumeEventId())
		}
		for _, r := range m.GetSnapshot() {
			if r.GetReplayId() != fmt.Sprint(seen) {
				t.Fatalf("replay %s after %d", r.GetReplayId(), seen)
			}
			seen++
		}
	}
	if seen != 300 || len(heard) < 7 {
		t.Errorf("%d replays in %d parts", seen, len(heard))
	}
}

// However large events are, and after whichever response a watcher is cut: it has
// heard each once when it goes on from where it was told.
func TestLargeEventsComeInPartsAndEachPartSaysWhereToGoOn(t *testing.T) {
	details := []string{"small", strings.Repeat("d", maxPart/3), strings.Repeat("d", maxPart+1)}
	rapid.Check(t, func(r *rapid.T) {
		l, want := &library{}, 0
		for range rapid.IntRange(1, 30).Draw(r, "records") {
			events := rapid.IntRange(1, 4).Draw(r, "events")
			l.add(rapid.SampledFrom(details).Draw(r, "size"), events)
			want += events
		}
		req, got, ids := &reprisev1.WatchEventsRequest{FromBeginning: true}, 0, map[string]bool{}
		for rounds := 0; ; rounds++ {
			if rounds > want {
				r.Fatalf("it does not go on from %v", req)
			}
			heard, err := hear(t, l, req, rapid.IntRange(1, 20).Draw(r, "takes"))
			for _, m := range heard {
				if size := proto.Size(m); size > maxPart+100 && len(m.GetEvents()) > 1 {
					r.Fatalf("a response of %d events has %d bytes", len(m.GetEvents()), size)
				}
				for _, e := range m.GetEvents() {
					ids[e.GetEventId()] = true
					got++
				}
				req = &reprisev1.WatchEventsRequest{AfterEventId: m.GetResumeEventId()}
			}
			if err == nil {
				break
			}
		}
		if got != want || len(ids) != want {
			r.Fatalf("%d events with %d ids, of %d", got, len(ids), want)
		}
	})
}

// What was forgotten before the watch began is no loss to one from the beginning;
// what is forgotten before it is read is one.
func TestAWatchFromTheBeginningIsToldWhenItHasMissedSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &library{forgotten: 2}
		for range 5 {
			l.add("x", 1)
		}
		l.read = func(l *library) { // more comes than is kept, before the watcher reads again
			l.read = nil
			l.add("x", 1)
			l.add("x", 1)
			l.forgotten = 6
		}
		got := &listener{ctx: t.Context(), takes: 100}
		err := New(Config{Journal: l, Registry: &registry.Registry{}}).WatchEvents(&reprisev1.WatchEventsRequest{FromBeginning: true}, got)
		if status.Code(err) != codes.OutOfRange || len(got.heard) != 1 || len(got.heard[0].GetEvents()) != 3 {
			t.Errorf("%v after %v", err, got.heard)
		}
	})
}
