package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
	"github.com/reprise-rpa/reprise/server/settings"
)

// follow reads events to the end of the stream; ids are the events' ids, in order.
func (s *server) follow(req *reprisev1.WatchEventsRequest) (events, ids []string, resume string, err error) {
	w, err := s.replays.WatchEvents(s.ctx, req)
	for err == nil {
		var m *reprisev1.WatchEventsResponse
		if m, err = w.Recv(); err != nil {
			break
		}
		events = append(events, named(m.GetEvents())...)
		for _, e := range m.GetEvents() {
			ids = append(ids, e.GetEventId())
		}
		if m.GetResumeEventId() != "" {
			resume = m.GetResumeEventId()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return events, ids, resume, err
}

// everything returns all events there are, and their ids.
func (s *server) everything() (events, ids []string) {
	s.t.Helper()
	events, ids, _, err := s.follow(&reprisev1.WatchEventsRequest{FromBeginning: true, UntilPresent: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return events, ids
}

// A watcher may go on after any event there is, also one in the middle of what
// became durable together, on this server or on the next one.
func TestEventsGoOnAfterAnyOneOfThem(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		r, _ := failing(s, a, gated())
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId()}); err != nil {
			t.Fatal(err)
		}
		s.create(clicks("other"))
		all, ids := s.everything()
		together := 0 // events that became durable with the one before
		check := func(s *server) {
			t.Helper()
			for i, id := range ids {
				if strings.Count(id, "-") > 1 {
					together++
				}
				rest, _, _, err := s.follow(&reprisev1.WatchEventsRequest{AfterEventId: id, UntilPresent: true})
				if diff := cmp.Diff(all[i+1:], rest); err != nil || len(rest)+len(all[i+1:]) > 0 && diff != "" {
					t.Errorf("after %s: %v\n%s", id, err, diff)
				}
			}
		}
		check(s)
		after := s.killed()
		s.stop()
		if again, _ := after.everything(); len(again) < len(all) {
			t.Fatalf("%d events after a restart, of %d", len(again), len(all))
		}
		check(after)
		if together == 0 {
			t.Error("no two events became durable together: the test shows nothing of them")
		}
	})
}

// Watchers that begin and are cut at any moment, also by a restart, and go on from
// the last thing they were told, have seen each event once and in order.
func TestAWatcherThatGoesOnMissesNothing(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		s.create(many(12))
		var told []string
		at, cuts := "", 0
		watch := func(s *server, d time.Duration) {
			ctx, cancel := context.WithTimeout(s.ctx, d)
			defer cancel()
			w, err := s.replays.WatchEvents(ctx, &reprisev1.WatchEventsRequest{AfterEventId: at, FromBeginning: at == ""})
			for err == nil {
				var m *reprisev1.WatchEventsResponse
				if m, err = w.Recv(); err == nil {
					told, at = append(told, named(m.GetEvents())...), m.GetResumeEventId()
				}
			}
			cuts++
		}
		for i := range 12 {
			done := make(chan struct{})
			go func() { defer close(done); watch(s, time.Duration(5+i)*time.Millisecond) }()
			time.Sleep(time.Duration(i) * time.Millisecond)
			a.Report(sessiontest.Done(a.Dispatch()))
			a.Ack()
			<-done
			if i == 6 {
				after := s.killed()
				s.stop()
				s, a = after, after.agent("spool")
			}
		}
		watch(s, time.Second)
		all, _ := s.everything()
		if diff := cmp.Diff(all, told); diff != "" || len(all) < 24 || cuts != 13 {
			t.Errorf("%d cuts (-there +told):\n%s", cuts, diff)
		}
	})
}

func TestEventsBeginWithTheLiveReplays(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		gone, live := s.create(clicks("one")).GetReplayId(), s.create(clicks("two")).GetReplayId()
		if err := s.cancel(gone); err != nil {
			t.Fatal(err)
		}
		w, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Recv()
		if err != nil || len(m.GetSnapshot()) != 1 || m.GetSnapshot()[0].GetReplayId() != live || m.GetSnapshotPending() || m.GetResumeEventId() == "" || len(m.GetEvents()) != 0 {
			t.Fatalf("%v, %v", m, err)
		}
		s.pause(live)
		m, err = w.Recv()
		if err != nil || len(m.GetEvents()) != 1 || len(m.GetSnapshot()) != 0 {
			t.Fatalf("%v, %v", m, err)
		}
		e := m.GetEvents()[0]
		if e.GetType() != "replay_paused" || e.GetReplayId() != live || e.GetMachineId() != machine || e.GetBy() != "operator" || e.GetEventId() != m.GetResumeEventId() {
			t.Errorf("%v", e)
		}
	})
}

func TestEventsAreFiltered(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		s.register("desk-2")
		here, there := s.create(clicks("one")).GetReplayId(), s.submit(&reprisev1.CreateReplayRequest{MachineId: "desk-2", Workflow: clicks("one")}).GetReplayId()
		s.pause(here)
		for _, tt := range []struct {
			req  *reprisev1.WatchEventsRequest
			want []string
		}{
			{&reprisev1.WatchEventsRequest{MachineId: "desk-2"}, []string{there + " 1 replay_created "}},
			{&reprisev1.WatchEventsRequest{ReplayId: here}, []string{here + " 1 replay_created ", here + " 2 replay_paused "}},
			{&reprisev1.WatchEventsRequest{ReplayId: here, MachineId: "desk-2"}, nil},
		} {
			tt.req.FromBeginning, tt.req.UntilPresent = true, true
			got, _, resume, err := s.follow(tt.req)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || resume != s.position() {
				t.Errorf("%v: %v, at %s\n%s", tt.req, err, resume, diff)
			}
		}
	})
}

// A watcher to whom nothing happens is told where it is, so that its id never
// grows too old; not more often than that.
func TestAWatcherToWhomNothingHappensLearnsWhereItIs(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		w, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{MachineId: "desk-9"})
		if err != nil {
			t.Fatal(err)
		}
		first, err := w.Recv()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 5 {
			time.Sleep(time.Second)
			s.pause(id)
			if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); err != nil {
				t.Fatal(err)
			}
		}
		m, err := w.Recv()
		if took := time.Since(began); err != nil || len(m.GetEvents()) != 0 || took < 29*time.Second || took > 31*time.Second {
			t.Fatalf("%v, %v after %v", m, err, took)
		}
		if m.GetResumeEventId() == first.GetResumeEventId() || m.GetResumeEventId() != s.position() {
			t.Errorf("%s, then %s; the journal is at %s", first.GetResumeEventId(), m.GetResumeEventId(), s.position())
		}
		more := make(chan error, 1)
		go func() { _, err := w.Recv(); more <- err }()
		time.Sleep(5 * time.Minute) // nothing moves: nothing is told
		if len(more) != 0 {
			t.Errorf("told again: %v", <-more)
		}
	})
}

func TestEventsOfWhatWasForgottenAreSaidToBeSo(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		dir := t.TempDir()
		s.stop()
		s = start(t, dir, func(set *settings.Settings) { set.ReplayStateTTL = 10 * time.Minute })
		for i := range 3 {
			if err := s.cancel(s.create(clicks(fmt.Sprint(i))).GetReplayId()); err != nil {
				t.Fatal(err)
			}
		}
		_, ids := s.everything()
		kept := s.create(clicks("kept")).GetReplayId()
		time.Sleep(15 * time.Minute)
		_, _, _, err := s.follow(&reprisev1.WatchEventsRequest{AfterEventId: ids[0], UntilPresent: true})
		refused(t, err, codes.OutOfRange, "EVENTS_FORGOTTEN")
		last := ids[len(ids)-1] // nothing after it was forgotten
		got, _, _, err := s.follow(&reprisev1.WatchEventsRequest{AfterEventId: last, UntilPresent: true})
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], kept) {
			t.Errorf("%v, %v", got, err)
		}
		if all, _ := s.everything(); len(all) != 1 {
			t.Errorf("from the beginning: %v", all)
		}
	})
}

func TestAWatcherOfEventsThatDoesNotReadIsEnded(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		heavy := &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: clicks("one"), Labels: map[string]string{}}
		for i := range 64 {
			heavy.Labels[fmt.Sprint("label ", i)] = strings.Repeat("x", 255)
		}
		id := ""
		for range 20 { // the snapshot alone is more than a stream and its buffers hold
			id = s.submit(heavy).GetReplayId()
		}
		slow, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		s.pause(id)
		time.Sleep(15 * time.Second)
		told := ""
		for range 3 {
			var m *reprisev1.WatchEventsResponse
			if m, err = slow.Recv(); err != nil {
				break
			}
			told = m.GetResumeEventId()
		}
		refused(t, err, codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		rest, _, _, err := s.follow(&reprisev1.WatchEventsRequest{AfterEventId: told, UntilPresent: true})
		if err != nil || len(rest) != 1 {
			t.Errorf("going on after %q: %v, %v", told, rest, err)
		}
	})
}
