package control_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// seen is what a watcher was told, up to now.
type seen struct {
	events   []string
	revision int64
	last     *reprisev1.Replay
	err      error
}

// watchAfter watches a replay to its end, or until its stream breaks.
func (s *server) watchAfter(id string, after *int64) seen {
	var got seen
	w, err := s.replays.WatchReplay(s.ctx, &reprisev1.WatchReplayRequest{ReplayId: id, AfterRevision: after})
	for err == nil {
		var m *reprisev1.WatchReplayResponse
		if m, err = w.Recv(); err == nil {
			got.last = m.GetReplay()
			got.revision = m.GetReplay().GetRevision()
			got.events = append(got.events, named(m.GetEvents())...)
		}
	}
	if !errors.Is(err, io.EOF) {
		got.err = err
	}
	return got
}

// named gives each event a name that no other one of its replay has.
func named(events []*reprisev1.ReplayEvent) (names []string) {
	for _, e := range events {
		names = append(names, fmt.Sprint(e.GetReplayId(), " ", e.GetRevision(), " ", e.GetType(), " ", e.GetActionId()))
	}
	return names
}

// afterRevision are those of all events of one replay that have a later revision.
func afterRevision(all []string, revision int64) []string {
	for i, name := range all {
		var id string
		var at int64
		if _, err := fmt.Sscan(name, &id, &at); err == nil && at > revision {
			return all[i:]
		}
	}
	return nil
}

func many(n int) *reprisev1.Workflow {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("step ", i))
	}
	return clicks(names...)
}

// The seam: watches that begin while the replay goes on, each from a revision of
// its own, are told every event after it once and in order.
func TestAWatchMissesNothingAndRepeatsNothingWhereItBegins(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		const steps, watchers = 25, 40
		id := s.create(many(steps)).GetReplayId()
		a := s.agent("spool")
		results := make(chan struct {
			after int64
			seen
		}, watchers)
		for i := range watchers {
			go func() {
				time.Sleep(time.Duration(i*700) * time.Microsecond) // while it goes on
				now := int64(0)
				if res, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id, WithoutActions: true}); err == nil {
					now = res.GetReplay().GetRevision()
				}
				after := max(0, now-int64(i%5)) // what it has seen; some are behind
				results <- struct {
					after int64
					seen
				}{after, s.watchAfter(id, &after)}
			}()
		}
		for range steps {
			time.Sleep(time.Millisecond)
			a.Report(sessiontest.Done(a.Dispatch()))
			a.Ack()
		}
		all := s.watchAfter(id, proto.Int64(0))
		if len(all.events) < 2*steps || all.last.GetState() != completed || all.err != nil {
			t.Fatalf("%d events, %v", len(all.events), all.err)
		}
		for range watchers {
			r := <-results
			if diff := cmp.Diff(afterRevision(all.events, r.after), r.events); diff != "" || r.err != nil {
				t.Errorf("after revision %d (-there +told): %v\n%s", r.after, r.err, diff)
			}
		}
	})
}

// A watcher goes on from the last revision it has seen, also on the next server.
func TestAWatchGoesOnAcrossARestart(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(many(6)).GetReplayId()
		a := s.agent("spool")
		cut := make(chan seen, 1)
		go func() { cut <- s.watchAfter(id, proto.Int64(0)) }()
		for range 3 {
			a.Report(sessiontest.Done(a.Dispatch()))
			a.Ack()
		}
		settled()
		after := s.killed()
		s.stop()
		before := <-cut
		if before.err == nil || before.revision == 0 {
			t.Fatalf("the watch was not cut: %v", before)
		}
		s = after
		a = s.agent("spool")
		for range 3 {
			a.Report(sessiontest.Done(a.Dispatch()))
			a.Ack()
		}
		rest, all := s.watchAfter(id, &before.revision), s.watchAfter(id, proto.Int64(0))
		if diff := cmp.Diff(all.events, slices.Concat(before.events, rest.events)); diff != "" || len(rest.events) == 0 {
			t.Errorf("(-all +told):\n%s", diff)
		}
	})
}

// Without a revision nothing of the past is told, and nothing of what follows is
// missed.
func TestAWatchWithoutARevisionTellsNothingOfThePast(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		s.pause(id)
		if err := s.cancel(id); err != nil {
			t.Fatal(err)
		}
		if got := s.watchAfter(id, nil); len(got.events) != 0 || got.last.GetState() != cancelled {
			t.Errorf("%v", got)
		}
	})
}

// A large replay comes in parts that every client takes, and a watcher that is cut
// between them can go on from the revision it was told.
func TestALargeReplayComesInParts(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		const steps = 1200
		w := many(steps)
		for _, a := range w.GetActions() {
			a.Intention = strings.Repeat("i", 2000)
		}
		id := s.create(w).GetReplayId()
		s.pause(id)
		watch, err := s.replays.WatchReplay(s.ctx, &reprisev1.WatchReplayRequest{ReplayId: id, AfterRevision: proto.Int64(0)})
		if err != nil {
			t.Fatal(err)
		}
		var ids, events []string
		parts, pending := 0, true
		for pending {
			m, err := watch.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if size := proto.Size(m); size > 1<<20+1<<16 {
				t.Errorf("a part has %d bytes", size)
			}
			parts, pending = parts+1, m.GetSnapshotPending()
			events = append(events, named(m.GetEvents())...)
			if told := int64(len(events)); pending && m.GetReplay().GetRevision() > told {
				t.Errorf("a part says revision %d, after %d events of one record each", m.GetReplay().GetRevision(), told)
			}
			if m.GetReplay().GetState() != paused || m.GetReplay().GetPause() == nil {
				t.Errorf("part %d is of another replay: %v", parts, m.GetReplay().GetState())
			}
			for _, a := range m.GetReplay().GetActions() {
				ids = append(ids, a.GetActionId())
			}
		}
		var want []string
		for _, a := range s.getAll(id) {
			want = append(want, a.GetActionId())
		}
		if parts < 3 || !slices.Equal(ids, want) || len(want) != steps {
			t.Errorf("%d parts with %d actions, want %d", parts, len(ids), len(want))
		}
		if len(events) != 2 || !strings.Contains(events[0], "replay_created") || !strings.Contains(events[1], "replay_paused") {
			t.Errorf("%v", events)
		}
		if err := s.cancel(id); err != nil { // which concerns all actions
			t.Fatal(err)
		}
		parts, ids = 0, nil
		for {
			m, err := watch.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if size := proto.Size(m); size > 1<<20 || m.GetReplay().GetState() != cancelled || m.GetSnapshotPending() {
				t.Errorf("a part of the change has %d bytes: %v", size, m.GetReplay().GetState())
			}
			parts++
			for _, a := range m.GetReplay().GetActions() {
				ids = append(ids, a.GetActionId())
			}
		}
		if parts < 3 || !slices.Equal(ids, want) {
			t.Errorf("the change came in %d parts with %d actions", parts, len(ids))
		}
	})
}
