package link_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/internal/backoff"
)

// most is the random number that takes nearly the whole wait.
const most = 1 - 1e-12

func TestWhenAStreamIsTriedAgain(t *testing.T) {
	short := backoff.Policy{Steps: []time.Duration{time.Second, 3 * time.Second}}
	for _, c := range []struct {
		name   string
		policy backoff.Policy
		ends   []link.Ending
		want   time.Duration // after the last one
	}{
		{"soon after the first failure", backoff.Policy{}, make([]link.Ending, 1), time.Second},
		{"later after more of them", backoff.Policy{}, make([]link.Ending, 3), 5 * time.Second},
		{"by the last step after many", short, make([]link.Ending, 9), 3 * time.Second},
		{"one that opens and dies at once is one more failure", backoff.Policy{}, []link.Ending{{}, {Lived: time.Second}}, 2 * time.Second},
		{"a stable one begins anew", backoff.Policy{}, []link.Ending{{}, {}, {}, {Lived: time.Minute}}, time.Second},
		{"a refusal waits longest at once", backoff.Policy{}, []link.Ending{{Refused: true}}, 15 * time.Second},
		{"by a policy of its own too", short, []link.Ending{{Refused: true}}, 3 * time.Second},
		{"and does not count for more than it is", backoff.Policy{}, []link.Ending{{Refused: true}, {}}, 2 * time.Second},
		{"what the server asks for is kept to", backoff.Policy{}, []link.Ending{{}, {}, {After: 7 * time.Second, Refused: true}}, 7 * time.Second},
		{"and counts as a failure all the same", backoff.Policy{}, []link.Ending{{After: 7 * time.Second}, {}}, 2 * time.Second},
	} {
		r := link.Retry{Policy: c.policy}
		var got time.Duration
		for _, e := range c.ends {
			got = r.Wait(e, most)
		}
		if got.Round(time.Millisecond) != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNoWaitIsLongerThanTheLastStepUnlessTheServerAsksForIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r link.Retry
		for range rapid.IntRange(1, 20).Draw(t, "streams") {
			e := link.Ending{
				Lived:   time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "lived")),
				After:   time.Duration(rapid.SampledFrom([]int64{0, 0, int64(time.Hour)}).Draw(t, "after")),
				Refused: rapid.Bool().Draw(t, "refused"),
			}
			wait := r.Wait(e, rapid.Float64Range(0, most).Draw(t, "random"))
			if e.After > 0 && wait != e.After {
				t.Fatalf("the server asked for %v, and the wait is %v", e.After, wait)
			}
			if e.After == 0 && (wait < 0 || wait > backoff.Policy{}.Longest()) {
				t.Fatalf("the wait after %+v is %v", e, wait)
			}
		}
	})
}
