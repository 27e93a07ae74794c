package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/work"
)

// An answer that is no result takes the machine for unusable until it is told otherwise,
// so it is said only where the server would wait without it.
func TestWhatFoundNoStreamIsAnsweredOnlyIfTheHelloNamedItAsExecuting(t *testing.T) {
	unbegun := Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}
	for _, c := range []struct {
		name         string
		before, then []any // the hello
		executing    bool
		want         []string
	}{
		{"it ended before the hello", []any{unbegun}, nil, false, nil},
		{"it ends behind the hello", nil, []any{unbegun}, true, []string{"report a1 desktop_unavailable not_started"}},
	} {
		core := known()
		run(core, Opened{}, ask("a", "a1"), Lost{})
		run(core, c.before...)
		if executing := core.Hail().Executing != nil; executing != c.executing {
			t.Errorf("%s: the hello names it as executing: %v", c.name, executing)
		}
		run(core, c.then...)
		if diff := cmp.Diff(c.want, run(core, Opened{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if got := run(core, ask("a", "a2")); len(got) != 2 || got[1] != "execute a2" {
			t.Errorf("%s: asked again: %v", c.name, got)
		}
	}
}

// A hello that was not answered is followed by another one, which knows better.
func TestAHelloThatWasNotTakenOwesNothing(t *testing.T) {
	core := known()
	run(core, Opened{}, ask("a", "a1"), Lost{})
	core.Hail()
	run(core, Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)})
	core.Hail()
	if got := run(core, Opened{}); len(got) != 0 {
		t.Errorf("once a stream is open: %v", got)
	}
}
