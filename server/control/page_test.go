package control

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// retried is a replay of three steps, of which the first two were decided on more
// than once.
func retried(t *testing.T) *replay.Replay {
	t.Helper()
	r := &replay.Replay{}
	steps := []replay.Step{{Kind: "wait", Name: strings.Repeat("n", 1000)}, {Kind: "wait"}, {Kind: "wait"}}
	events := []replay.Event{replay.Created{MachineID: "m", Steps: steps}, replay.Started{}}
	for _, id := range []string{"r-1", "r-1_retry1", "r-1_retry2", "r-2", "r-2_retry1"} {
		outcome := replay.OutcomeRetried
		if id == "r-1_retry2" {
			outcome = replay.OutcomeAcked
		}
		events = append(events, replay.Dispatched{ActionID: id, AttemptID: "t"}, replay.Reported{ActionID: id, Outcome: outcome})
	}
	for _, ev := range events {
		if err := r.ApplyEvent("r", ev, time.Now()); err != nil {
			t.Fatalf("%T: %v", ev, err)
		}
	}
	return r
}

// Wherever a page is cut, the next one goes on.
func TestThePlaceOfTheLastActionOfAPageIsWhereTheNextOneBegins(t *testing.T) {
	r := retried(t)
	places := []replay.Place{{}}
	for p := range r.After(replay.Place{}) {
		places = append(places, p)
	}
	if len(places) != 8 {
		t.Fatalf("%v", places)
	}
	for i, after := range places {
		var shown []*reprisev1.ActionStatus
		for _, a := range dispatch.PageOf(r, after, 100).Actions {
			shown = append(shown, fromAction("r", "m", &a))
		}
		for n := 1; n <= len(shown); n++ {
			if got := lastPlace(shown[:n], after); got != places[i+n] {
				t.Errorf("%d actions after %v: %v, want %v", n, after, got, places[i+n])
			}
		}
	}
}

// A page of actions ends at so many bytes as well as at so many actions.
func TestAPageOfLargeActionsIsShorterAndNothingIsMissed(t *testing.T) {
	const steps, page = 900, 300
	r := &replay.Replay{}
	all := make([]replay.Step, steps)
	for i := range all {
		all[i] = replay.Step{Kind: "wait", Name: strings.Repeat("n", 20_000)}
	}
	if err := r.ApplyEvent("r", replay.Created{MachineID: "m", Steps: all}, time.Now()); err != nil {
		t.Fatal(err)
	}
	seen, pages, after := 0, 0, replay.Place{}
	for token := "first"; token != ""; pages++ {
		m := fromPage(replay.Head{ReplayID: "r", MachineID: "m"}, dispatch.PageOf(r, after, page), after)
		if size := proto.Size(m); size > maxPage+100 || len(m.GetActions()) == 0 {
			t.Fatalf("a page of %d actions has %d bytes", len(m.GetActions()), size)
		}
		for _, a := range m.GetActions() {
			if int(a.GetStep()) != seen {
				t.Fatalf("step %d after %d", a.GetStep(), seen)
			}
			seen++
		}
		token = m.GetNextPageToken()
		var err error
		if after, err = parseActionToken("r", token); err != nil {
			t.Fatal(err)
		}
	}
	if seen != steps || pages < 9 {
		t.Errorf("%d actions on %d pages", seen, pages)
	}
}

func TestAPageOfLargeReplaysIsShorterAndNothingIsMissed(t *testing.T) {
	l := &library{}
	for i := range 400 {
		l.heads = append(l.heads, replay.Head{ReplayID: fmt.Sprint(i), State: replay.Completed, Workflow: strings.Repeat("w", i*50)})
	}
	s := New(Config{Journal: l, Registry: &registry.Registry{}})
	req, seen, pages := &reprisev1.ListReplaysRequest{PageSize: 200}, 0, 0
	for again := true; again; again = req.PageToken != "" {
		m, err := s.ListReplays(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if size := proto.Size(m); size > maxPage+100 || len(m.GetReplays()) == 0 || len(m.GetReplays()) > 200 {
			t.Fatalf("a page of %d replays has %d bytes", len(m.GetReplays()), size)
		}
		for _, r := range m.GetReplays() {
			if r.GetReplayId() != fmt.Sprint(seen) {
				t.Fatalf("replay %s after %d", r.GetReplayId(), seen)
			}
			seen++
		}
		req.PageToken, pages = m.GetNextPageToken(), pages+1
	}
	if seen != len(l.heads) || pages < 3 {
		t.Errorf("%d replays on %d pages", seen, pages)
	}
}
