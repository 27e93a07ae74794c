package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

func ids(heads []replay.Head) (out []string) {
	for _, h := range heads {
		out = append(out, h.ReplayID)
	}
	return out
}

func TestPagesStayTrueWhileOthersWrite(t *testing.T) {
	j := open(t, Options{})
	scripts := map[string]*script{}
	add := func(id string) {
		scripts[id] = newScript()
		mustAppend(t, j, scripts[id].next(t, id, created(id, "m", 1)))
	}
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("r%d", i)
		add(id)
		want = append([]string{id}, want...) // the newest first
	}
	var got []string
	for page, token := 0, ""; page == 0 || token != ""; page++ {
		heads, next, err := j.Heads(t.Context(), replay.Filter{PageSize: 2, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		got, token = append(got, ids(heads)...), next
		// Between the pages a replay is created, another changes and one goes.
		add(fmt.Sprintf("new%d", page))
		id := want[len(want)-1-page]
		mustAppend(t, j, scripts[id].next(t, id, replay.Started{}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pages differ (-want +got):\n%s", diff)
	}
}

func TestHeadsAreFiltered(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, life(t, "over1", "m1")...)
	mustAppend(t, j, life(t, "over2", "m2")...)
	mustAppend(t, j, create(t, "new1", "m1"))
	mustAppend(t, j, life(t, "run1", "m1")[:2]...)
	for name, c := range map[string]struct {
		filter replay.Filter
		want   []string
	}{
		"all":               {replay.Filter{}, []string{"run1", "new1", "over2", "over1"}},
		"of a machine":      {replay.Filter{MachineID: "m1"}, []string{"run1", "new1", "over1"}},
		"in states":         {replay.Filter{States: []replay.State{replay.Queued, replay.Running}}, []string{"run1", "new1"}},
		"both":              {replay.Filter{MachineID: "m1", States: []replay.State{replay.Cancelled}}, []string{"over1"}},
		"of no machine":     {replay.Filter{MachineID: "m3"}, nil},
		"a page too large":  {replay.Filter{PageSize: 1 << 40}, []string{"run1", "new1", "over2", "over1"}},
		"a page of no size": {replay.Filter{PageSize: -1, MachineID: "m2"}, []string{"over2"}},
	} {
		t.Run(name, func(t *testing.T) {
			heads, next, err := j.Heads(t.Context(), c.filter)
			if err != nil || next != "" {
				t.Errorf("next page %q, %v", next, err)
			}
			if diff := cmp.Diff(c.want, ids(heads)); diff != "" {
				t.Errorf("the list differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATokenOfAnotherListIsRefused(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, create(t, "a", "m"))
	mustAppend(t, j, create(t, "b", "m"))
	_, token, err := j.Heads(t.Context(), replay.Filter{PageSize: 1, MachineID: "m"})
	if err != nil || token == "" {
		t.Fatalf("token %q, %v", token, err)
	}
	for _, f := range []replay.Filter{
		{PageToken: token},
		{PageToken: token, MachineID: "m", States: []replay.State{replay.Queued}},
		{PageToken: "nonsense", MachineID: "m"},
		{PageToken: "!", MachineID: "m"},
	} {
		if _, _, err := j.Heads(t.Context(), f); !errors.Is(err, replay.ErrPageToken) {
			t.Errorf("Heads(%+v) = %v, want %v", f, err, replay.ErrPageToken)
		}
	}
	// The size of a page and the order of the states may change on the way.
	heads, _, err := j.Heads(t.Context(), replay.Filter{PageSize: 5, MachineID: "m", PageToken: token})
	if err != nil || !slices.Equal(ids(heads), []string{"a"}) {
		t.Errorf("the second page is %v, %v", ids(heads), err)
	}
}

// ended appends a replay that ended at a time.
func ended(t *testing.T, j *Journal, id string, at time.Time) {
	t.Helper()
	s := &script{now: at.Add(-3 * time.Second)}
	mustAppend(t, j,
		s.next(t, id, created(id, "m", 1)),
		s.next(t, id, replay.Started{}),
		s.next(t, id, replay.Ended{State: replay.Cancelled}))
}

func TestPurgeKeepsLiveAndYoungReplaysAndNoMoreThanTheLimit(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, create(t, "live", "m"))
	for _, id := range []string{"d", "a", "c", "b"} { // created in another order than they ended
		ended(t, j, id, start.Add(time.Duration(id[0]-'a')*time.Hour))
	}
	purge := func(before time.Time, keep int, want ...string) {
		t.Helper()
		got, err := j.Purge(t.Context(), before, keep)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("purged (-want +got):\n%s", diff)
		}
	}
	purge(time.Time{}, -1)
	purge(start, 4) // ended at the limit is not before it
	purge(start.Add(time.Minute), 4, "a")
	purge(time.Time{}, 2, "b")
	purge(start.Add(9*time.Hour), 0, "c", "d")
	if _, err := j.Records(t.Context(), "a"); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("a purged replay: %v", err)
	}
	if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || !slices.Equal(ids(heads), []string{"live"}) {
		t.Errorf("left: %v, %v", ids(heads), err)
	}
	// The request id is free again, and a late record has no place.
	mustAppend(t, j, create(t, "a", "m"))
	if err := j.Append(t.Context(), life(t, "c", "m")[1:2]); !errors.Is(err, replay.ErrStale) {
		t.Errorf("a record of a purged replay: %v", err)
	}
}

func TestPurgeTakesManyInSeveralSteps(t *testing.T) {
	j := open(t, Options{})
	var entries []replay.Entry
	for i := range 2*purgeBatch + 1 {
		entries = append(entries, life(t, fmt.Sprintf("r%03d", i), "m")...)
	}
	mustAppend(t, j, entries...)
	got, err := j.Purge(t.Context(), time.Time{}, 1)
	if err != nil || len(got) != 2*purgeBatch {
		t.Errorf("%d purged, %v; want %d", len(got), err, 2*purgeBatch)
	}
	if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || len(heads) != 1 {
		t.Errorf("%d left, %v", len(heads), err)
	}
}

func TestEndedReplaysAreListedByMachine(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, life(t, "z", "m1")...)
	mustAppend(t, j, life(t, "a", "m1")...)
	mustAppend(t, j, life(t, "b", "m2")...)
	mustAppend(t, j, create(t, "live", "m2"))
	got, err := j.EndedIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"m1": {"z", "a"}, "m2": {"b"}}, got); diff != "" {
		t.Errorf("ended replays differ (-want +got):\n%s", diff)
	}
}
