package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// However a replay goes on between the pages: no decision comes twice, none that was
// there at the first page is missed, and they come in the workflow's order.
func TestPlacesStayTrueWhileTheReplayGoesOn(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := running(t, click, scroll, click, click)
		for range random.IntN(8) {
			w.stir(random)
		}
		missing := map[string]bool{}
		for i := range w.r.Actions {
			missing[w.r.Actions[i].ID] = true
		}
		seen := map[string]bool{}
		var after Place
		for size := 1 + random.IntN(3); ; {
			n, last := 0, after
			for at, a := range w.r.After(after) {
				if n == size {
					break
				}
				if seen[a.ID] || a.Step != at.Step || at.Step < last.Step {
					t.Fatalf("seed %d: %s came at %v, after %v", seed, a.ID, at, last)
				}
				seen[a.ID], last = true, at
				delete(missing, a.ID)
				n++
			}
			if n == 0 {
				break
			}
			after = last
			w.stir(random)
		}
		if len(missing) > 0 {
			t.Fatalf("seed %d: %v were missed", seed, missing)
		}
	}
}

// stir makes something happen to the replay, which may add decisions anywhere.
func (w *world) stir(random *rand.Rand) {
	switch {
	case w.r.State.Ended() || len(w.r.Actions) > 40:
	case w.r.State == Paused:
		first := w.r.Actions[random.IntN(len(w.r.Actions))].ID
		if w.r.InFlight < 0 && random.IntN(2) == 0 {
			w.resume(ResumeCommand{From: first})
		} else {
			w.resume(ResumeCommand{})
		}
	case random.IntN(4) == 0:
		w.pause()
	case w.r.InFlight >= 0 && random.IntN(2) == 0:
		w.report(w.r.Actions[w.r.InFlight].ID, failed(CodeTargetNotFound, CompletionNotStarted))
	case w.r.InFlight >= 0:
		w.report(w.r.Actions[w.r.InFlight].ID, success)
	}
	w.next()
}

// The decisions to run a step come in the order in which they were taken, and their
// places count them.
func TestPlacesAreThoseOfTheDecisions(t *testing.T) {
	w := running(t, click)
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.pause()
	w.resume(ResumeCommand{})
	var ids []string
	for at, a := range w.r.After(Place{}) {
		ids = append(ids, a.ID)
		if at.Decision != len(ids) {
			t.Errorf("%s is at %v", a.ID, at)
		}
	}
	if want := []string{"r-1", "r-1_retry1"}; !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
}
