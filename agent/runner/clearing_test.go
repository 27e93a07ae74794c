package runner

import "testing"

// What waits for keys to be let go of is received and not started: the end of its
// stream drops it, and nobody vouches for it any more.
func TestTheEndOfTheStreamDropsWhatWaitsForTheKeys(t *testing.T) {
	c := known(startedRecord("z", false))
	run(c, Starting{Crashed: true}, Opened{}, ask("a", "a1"), Lost{})
	if got := run(c, Released{}); len(got) != 0 {
		t.Errorf("once the keys are let go of: %v", got)
	}
	if got := run(c, Opened{}, ask("a", "a2")); len(got) != 2 || got[1] != "execute a2" {
		t.Errorf("asked again: %v", got)
	}
}
