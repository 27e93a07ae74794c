package execute

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/work"
)

// over is a mask that tells them apart.
func over(monitor int) []work.Mask { return []work.Mask{{Monitor: monitor, Width: 1, Height: 1}} }

func begun(replay, action string, monitor int) work.Begun {
	return work.Begun{Ref: work.Ref{ReplayID: replay, ActionID: action}, Masks: over(monitor)}
}

func TestWhatAReplayLeavesIsCoveredInTheFirstActionOfTheNext(t *testing.T) {
	var v veil
	one, first, second := begun("one", "a", 1), begun("two", "b", 2), begun("two", "c", 2)
	v.receive(one.Masks)
	v.begin(one)
	v.receive(nil)
	for _, c := range []struct {
		name      string
		do        func()
		of        work.Ref
		left, all []work.Mask
	}{
		{"before the next replay", func() {}, first.Ref, over(1), over(1)},
		{"its own actions", func() {}, work.Ref{ReplayID: "one", ActionID: "z"}, nil, over(1)},
		{"while its first action is carried out", func() { v.begin(first) }, first.Ref, over(1), union(over(2), over(1))},
		{"when that is delivered again", func() { v.begin(first) }, first.Ref, over(1), union(over(2), over(1))},
		{"at its second action", func() {}, second.Ref, nil, union(over(2), over(1))},
		{"while that is carried out", func() { v.begin(second) }, second.Ref, nil, over(2)},
	} {
		c.do()
		if diff := cmp.Diff(c.left, v.left(c.of)); diff != "" {
			t.Errorf("%s, its pictures:\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.all, v.all()); diff != "" {
			t.Errorf("%s, pictures beside it:\n%s", c.name, diff)
		}
	}
}

// Whatever comes in whatever order, a picture that is taken now hides what the newest
// dispatch, the last action and, on a replay's first action, the replay before hide;
// and what is remembered does not grow.
func TestTheVeilCoversWhatCameLastAndNeverGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v veil
		var received, last work.Begun
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			b := begun(fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "replay")), fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "action")), rapid.IntRange(0, 9).Draw(t, "mask"))
			v.receive(b.Masks)
			received = b
			if rapid.Bool().Draw(t, "begins") {
				if left := v.left(b.Ref); b.ReplayID != last.ReplayID {
					covers(t, left, last.Masks)
				}
				v.begin(b)
				if b.ReplayID != last.ReplayID {
					covers(t, v.all(), last.Masks)
				}
				last = b
			}
			covers(t, v.all(), received.Masks)
			covers(t, v.all(), last.Masks)
			if n := len(v.all()); n > 3 {
				t.Fatalf("%d masks", n)
			}
		}
	})
}

func covers(t *rapid.T, all, these []work.Mask) {
	for _, m := range these {
		if !slices.Contains(all, m) {
			t.Fatalf("%v does not cover %v", all, m)
		}
	}
}
