package backoff_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/internal/backoff"
)

func TestTheBoundGrowsByTheListAndStaysAtItsEnd(t *testing.T) {
	almostOne := 1 - 1e-12
	for failures, want := range []time.Duration{0, 1, 2, 5, 10, 15, 15, 15} {
		got := backoff.Policy{}.Wait(failures, almostOne).Round(time.Millisecond)
		if got != want*time.Second {
			t.Errorf("after %d failures: %v, want %v", failures, got, want*time.Second)
		}
	}
}

func TestAWaitTakesTheWholeRangeFromNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := backoff.Default()
		failures := rapid.IntRange(1, 50).Draw(t, "failures")
		random := rapid.Float64Range(0, 0.999999).Draw(t, "random")
		bound := p.Steps[min(failures, len(p.Steps))-1]
		if got, want := p.Wait(failures, random), time.Duration(random*float64(bound)); got != want {
			t.Fatalf("Wait = %v, want %v of %v", got, want, bound)
		}
	})
}

func TestOnlyAStableSessionStartsTheCountAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy backoff.Policy
		lived  time.Duration
		want   int
	}{
		{"never opened", backoff.Default(), 0, 5},
		{"died young", backoff.Default(), 15*time.Second - 1, 5},
		{"lived as long as the longest wait", backoff.Default(), 15 * time.Second, 1},
		{"its own bound", backoff.Policy{Stable: time.Minute}, 59 * time.Second, 5},
	} {
		if got := c.policy.Failures(4, c.lived); got != c.want {
			t.Errorf("%s: %d failures, want %d", c.name, got, c.want)
		}
	}
}

func TestValidateNamesEveryBadStep(t *testing.T) {
	if err := backoff.Default().Validate(); err != nil {
		t.Errorf("default: %v", err)
	}
	bad := backoff.Policy{Steps: []time.Duration{2 * time.Second, time.Second, 0}}
	const want = "backoff step 2 is 1s, shorter than the one before it\n" +
		"backoff step 3 is 0s; it must be positive\n" +
		"backoff step 3 is 0s, shorter than the one before it"
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("Validate = %v, want %s", err, want)
	}
}
