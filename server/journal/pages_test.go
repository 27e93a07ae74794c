package journal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

// strange are texts that a query could misread.
var strange = []string{"ward", "", `a"b`, "$.ward", "a.b", "<&>", "ключ", "1", "null", `\u0061`, "nul\x00l", "'"}

func TestHeadsAreFilteredByLabelsAndTimeOfCreation(t *testing.T) {
	j := open(t, Options{})
	add := func(id string, at time.Time, labels map[string]string) {
		e := create(t, id, "m")
		e.Head.Labels, e.Head.CreatedAt = labels, at
		mustAppend(t, j, e)
	}
	all := map[string]string{}
	for i, key := range strange {
		all[key] = strange[len(strange)-1-i]
	}
	add("none", start, nil)
	add("all", start.Add(time.Nanosecond), all)
	add("other", start.Add(2*time.Nanosecond), map[string]string{"ward": "4", "x": "1"})
	add("part", start.Add(time.Hour), map[string]string{"ward": "4"})
	check := func(f replay.Filter, want ...string) {
		t.Helper()
		heads, _, err := j.Heads(t.Context(), f)
		if diff := cmp.Diff(want, ids(heads)); err != nil || diff != "" {
			t.Errorf("Heads(%+v): %v (-want +got):\n%s", f, err, diff)
		}
	}
	check(replay.Filter{Labels: map[string]string{"ward": "4"}}, "part", "other")
	check(replay.Filter{Labels: map[string]string{"ward": "4", "x": "1"}}, "other")
	check(replay.Filter{Labels: map[string]string{"ward": "4", "y": ""}})
	check(replay.Filter{Labels: all}, "all")
	for key, value := range all {
		check(replay.Filter{Labels: map[string]string{key: value}}, "all")
		check(replay.Filter{Labels: map[string]string{key: value + "x"}})
	}
	check(replay.Filter{CreatedFrom: start.Add(time.Nanosecond)}, "part", "other", "all")
	check(replay.Filter{CreatedBefore: start.Add(2 * time.Nanosecond)}, "all", "none")
	check(replay.Filter{CreatedFrom: start.Add(1), CreatedBefore: start.Add(2)}, "all")
	// Times that no replay can have are limits all the same.
	early, late := time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	check(replay.Filter{CreatedFrom: early, CreatedBefore: late}, "part", "other", "all", "none")
	check(replay.Filter{CreatedBefore: early})
	check(replay.Filter{CreatedFrom: late})
}

func TestATokenBelongsToLabelsAndTimesToo(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, create(t, "a", "m"))
	mustAppend(t, j, create(t, "b", "m"))
	f := replay.Filter{PageSize: 1, Labels: map[string]string{"ward": "3"}, CreatedFrom: start, CreatedBefore: start.Add(time.Hour)}
	_, token, err := j.Heads(t.Context(), f)
	if err != nil || token == "" {
		t.Fatalf("token %q, %v", token, err)
	}
	f.PageToken = token
	for name, change := range map[string]func(*replay.Filter){
		"other labels": func(f *replay.Filter) { f.Labels = nil },
		"other value":  func(f *replay.Filter) { f.Labels = map[string]string{"ward": "4"} },
		"other from":   func(f *replay.Filter) { f.CreatedFrom = f.CreatedFrom.Add(1) },
		"other before": func(f *replay.Filter) { f.CreatedBefore = time.Time{} },
	} {
		other := f
		change(&other)
		if _, _, err := j.Heads(t.Context(), other); !errors.Is(err, replay.ErrPageToken) {
			t.Errorf("%s: %v, want %v", name, err, replay.ErrPageToken)
		}
	}
	if heads, _, err := j.Heads(t.Context(), f); err != nil || !slices.Equal(ids(heads), []string{"a"}) {
		t.Errorf("the second page is %v, %v", ids(heads), err)
	}
}

// model is a list of heads as simple as can be, beside the journal.
type model struct {
	r      *rand.Rand
	j      *Journal
	heads  []replay.Head // in order of creation
	number int
}

func (m *model) pick(texts ...string) string { return texts[m.r.IntN(len(texts))] }

// step does what others do between two pages.
func (m *model) step(t *testing.T) {
	t.Helper()
	switch m.r.IntN(6) {
	case 0, 1, 2:
		if len(m.heads) == 30 {
			return
		}
		m.number++
		e := create(t, fmt.Sprintf("r%d", m.number), m.pick("m1", "m2"))
		e.Head.CreatedAt = start.Add(time.Duration(m.r.IntN(4)))
		e.Head.Labels = map[string]string{m.pick(strange[:3]...): m.pick(strange[:3]...), m.pick(strange...): m.pick(strange...)}
		mustAppend(t, m.j, e)
		m.heads = append(m.heads, e.Head)
	case 3, 4:
		if len(m.heads) == 0 {
			return
		}
		h := &m.heads[m.r.IntN(len(m.heads))]
		h.Revision++
		h.State, h.EndedAt = replay.Running, time.Time{}
		if m.r.IntN(2) == 0 {
			h.State, h.EndedAt = replay.Completed, start.Add(time.Duration(h.Revision))
		}
		rec := replay.Record{ReplayID: h.ReplayID, Seq: h.Revision, At: start, Events: []replay.Event{replay.Started{}}}
		mustAppend(t, m.j, replay.Entry{Record: rec, Head: *h})
	case 5:
		gone, err := m.j.Purge(t.Context(), time.Time{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		m.heads = slices.DeleteFunc(m.heads, func(h replay.Head) bool { return slices.Contains(gone, h.ReplayID) })
	}
}

func (m *model) filter() (f replay.Filter) {
	f.PageSize = 1 + m.r.IntN(4)
	if m.r.IntN(2) == 0 {
		f.MachineID = m.pick("m1", "m2")
	}
	if m.r.IntN(2) == 0 {
		f.States = []replay.State{replay.Queued, replay.Completed}[m.r.IntN(2):]
	}
	if m.r.IntN(2) == 0 {
		f.Labels = map[string]string{m.pick(strange[:3]...): m.pick(strange[:3]...)}
	}
	if m.r.IntN(2) == 0 {
		f.CreatedFrom = start.Add(1)
	}
	if m.r.IntN(2) == 0 {
		f.CreatedBefore = start.Add(3)
	}
	return f
}

// fitting returns the ids of the heads that fit, the newest first.
func (m *model) fitting(f replay.Filter) (out []string) {
	for _, h := range slices.Backward(m.heads) {
		fits := (f.MachineID == "" || h.MachineID == f.MachineID) && (len(f.States) == 0 || slices.Contains(f.States, h.State)) &&
			!h.CreatedAt.Before(f.CreatedFrom) && (f.CreatedBefore.IsZero() || h.CreatedAt.Before(f.CreatedBefore))
		for key, want := range f.Labels {
			got, ok := h.Labels[key]
			fits = fits && ok && got == want
		}
		if fits {
			out = append(out, h.ReplayID)
		}
	}
	return out
}

// Pages with any filter, while replays come, change and go between them: each
// holds what fits at its moment, none comes twice, and what fitted all the time is
// there.
func TestPagesOfAnyFilterAreTrue(t *testing.T) {
	m := &model{r: rand.New(rand.NewPCG(7, 8)), j: open(t, Options{})}
	const walks = 100
	found := 0
	for walk := range walks {
		f := m.filter()
		always, got, last := m.fitting(f), []string(nil), math.MaxInt
		for page := 0; page == 0 || f.PageToken != ""; page++ {
			now := m.fitting(f)
			heads, next, err := m.j.Heads(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range heads {
				at := 0
				if _, err := fmt.Sscanf(h.ReplayID, "r%d", &at); err != nil || at >= last || !slices.Contains(now, h.ReplayID) {
					t.Fatalf("walk %d, %+v: %s follows r%d, and these fit: %v", walk, f, h.ReplayID, last, now)
				}
				got, last = append(got, h.ReplayID), at
			}
			always = slices.DeleteFunc(always, func(id string) bool { return !slices.Contains(now, id) })
			f.PageToken = next
			for range m.r.IntN(4) {
				m.step(t)
			}
		}
		found += len(got)
		for _, id := range always {
			if !slices.Contains(got, id) {
				t.Fatalf("walk %d, %+v: %s was there all the time and is not in %v", walk, f, id, got)
			}
		}
	}
	if found < walks {
		t.Errorf("%d walks found %d replays: the filters leave nothing to find", walks, found)
	}
}
