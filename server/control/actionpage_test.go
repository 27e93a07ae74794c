package control

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// However a replay goes on between the pages: no action comes twice, and none that
// was there at the first page is missed.
func TestPagesOfAReplayThatGoesOnAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var actions []dispatch.ActionView
		grow := func(label string) {
			for range rapid.IntRange(0, 6).Draw(t, label) {
				step := rapid.IntRange(0, 5).Draw(t, "step")
				id := fmt.Sprint("a", len(actions))
				actions = append(actions, dispatch.ActionView{Action: replay.Action{ID: id, Step: step}})
			}
		}
		grow("at first")
		there := map[string]bool{}
		for _, a := range actions {
			there[a.ID] = true
		}
		size := rapid.IntRange(1, 4).Draw(t, "size")
		var got []string
		var after actionPlace
		for {
			sorted := slices.Clone(actions)
			slices.SortStableFunc(sorted, func(a, b dispatch.ActionView) int { return cmp.Compare(a.Step, b.Step) })
			page, last := actionPage(sorted, after, size)
			for _, a := range page {
				got = append(got, a.ID)
				delete(there, a.ID)
			}
			token := last.token("r-1")
			if token == "" {
				break
			}
			if len(page) != size {
				t.Fatalf("a page in the middle has %d", len(page))
			}
			var err error
			if after, err = parseActionToken("r-1", token); err != nil || after != last {
				t.Fatalf("%v is read back as %v, %v", last, after, err)
			}
			if len(actions) < 60 { // or it might never end
				grow("between")
			}
		}
		slices.Sort(got)
		if len(there) > 0 || len(slices.Compact(got)) != len(got) {
			t.Fatalf("%v came; %v were missed", got, there)
		}
	})
}
