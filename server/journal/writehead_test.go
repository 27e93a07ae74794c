package journal

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

// moved is what may follow a first record while a replay lives: each column of its
// head that can change then has changed.
func moved(first replay.Entry) replay.Entry {
	e := first
	e.Record.Seq, e.Record.Events = 2, []replay.Event{replay.Started{}}
	h := &e.Head
	h.Revision, h.Actions, h.Settled = 2, first.Head.Actions+1, first.Head.Settled+1
	h.Open, h.State, h.Pausing, h.PauseReason = !first.Head.Open, replay.Paused, true, "operator"
	h.UpdatedAt = first.Head.UpdatedAt.Add(1)
	return e
}

func TestAHeadWhoseNumberIsKnownIsWrittenAsOneThatIsNot(t *testing.T) {
	for name, forget := range map[string]func(*Journal){
		"known": func(*Journal) {}, "not known": func(j *Journal) { clear(j.writer.live) },
	} {
		j := open(t, Options{})
		first := create(t, "r", "m")
		mustAppend(t, j, first)
		forget(j)
		want := moved(first)
		mustAppend(t, j, want)
		got, err := j.Head(t.Context(), "r")
		if diff := cmp.Diff(want.Head, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestAPositionThatIsTakenIsRefusedWhetherOrNotTheNumberIsKnown(t *testing.T) {
	j := open(t, Options{})
	first := create(t, "r", "m")
	second := moved(first)
	mustAppend(t, j, first, second)
	for range 2 { // a refusal leaves the next one as it is
		if err := j.Append(t.Context(), []replay.Entry{second}); !errors.Is(err, replay.ErrStale) {
			t.Errorf("Append = %v, want %v", err, replay.ErrStale)
		}
		clear(j.writer.live)
	}
	if got, err := j.Head(t.Context(), "r"); err != nil || got.Revision != 2 {
		t.Errorf("the head is at %d: %v", got.Revision, err)
	}
}

// The number that a head got in an append that was taken back is given again.
func TestANumberThatWasTakenBackBelongsToNobody(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, Options{Dir: dir})
		half, other := create(t, "half", "m"), create(t, "other", "m")
		errs := inOneGroup(t, j,
			[]replay.Entry{half, moved(create(t, "missing", "m"))},
			[]replay.Entry{other},
			[]replay.Entry{moved(half)},
			[]replay.Entry{moved(other)},
		)
		for i, want := range []error{replay.ErrStale, nil, replay.ErrStale, nil} {
			if !errors.Is(errs[i], want) {
				t.Errorf("append %d = %v, want %v", i, errs[i], want)
			}
		}
		if _, err := j.Head(t.Context(), "half"); !errors.Is(err, replay.ErrNotFound) {
			t.Errorf("half of a refused append is there: %v", err)
		}
	})
}

// What the writer remembers is bounded by the replays that live.
func TestTheNumberOfAReplayThatHasEndedIsForgotten(t *testing.T) {
	j := open(t, Options{})
	entries := life(t, "r", "m")
	mustAppend(t, j, entries[0])
	if len(j.writer.live) != 1 {
		t.Errorf("%d numbers are known of one replay that lives", len(j.writer.live))
	}
	mustAppend(t, j, entries[1:]...)
	if len(j.writer.live) != 0 {
		t.Errorf("%v are known of replays that have ended", j.writer.live)
	}
}
