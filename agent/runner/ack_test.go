package runner

import (
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// An agent that is asked again and again for what it has reported would never find
// out that its reports do not arrive.
func TestAReportThatIsSaidAgainIsNotWaitedForAnew(t *testing.T) {
	c := NewCore(spool.NewMemory(), 0)
	run(c, Opened{}, ask("a", "a.1"), Began{"a"}, Finished{"a", done}, Stored{"a", nil})
	run(c, at{6 * time.Second, ask("a", "a.2")})
	if got := run(c, at{10 * time.Second, Due{}}); len(got) != 1 || got[0] != "reopen" {
		t.Errorf("ten seconds after the first report: %v, want the stream opened anew", got)
	}
}
