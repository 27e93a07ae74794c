package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/work"
)

func TestWhenKeysAreLetGoOf(t *testing.T) {
	const earlier, panicked, again, ends = "release: an earlier process ended while it may have sent input",
		"release: the executor panicked", "release: it failed before", "release: the agent ends"
	opened, crashed := Opened{}, Starting{Crashed: true}
	stuck := []any{opened, ask("a", "a1"), Panicked{"a"}, Released{errDisk}, Stored{"a", nil}}
	for _, c := range []struct {
		name   string
		core   *Core
		events []any
		want   []string
	}{
		{"a process that begins with nothing has nothing to let go of", known(), []any{Starting{}}, nil},
		{"nor after a crash before any input", known(resultRecord("a", failed(work.TargetNotFound, work.NotStarted))), []any{crashed}, nil},
		{"nor after an end in order", known(resultRecord("a", done)), []any{Starting{}}, nil},
		{"a memory that is new says nothing of the processes before", known(), []any{Starting{Fresh: true}},
			[]string{"release: what an earlier process has done is not known"}},
		{"an action in the middle may have left keys down", known(startedRecord("a", false)), []any{Starting{}}, []string{earlier}},
		{"so may one that was given up and hung, after a crash", known(resultRecord("a", failed(work.Timeout, work.Unknown))), []any{crashed}, []string{earlier}},
		{"what is asked for meanwhile waits", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1")}, []string{"progress a1 received"}},
		{"until they are", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Released{}}, []string{"execute a1"}},
		{"or are not: then the desktop says why", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Released{errDisk}}, []string{"execute a1"}},
		{"the memory answers meanwhile", known(startedRecord("z", false)), []any{crashed, opened, ask("z", "z2")},
			[]string{"progress z2 received", "write result z outcome_unknown unknown"}},
		{"a newer one waits behind it", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), ask("b", "b1")}, []string{"progress b1 received"}},
		{"one that waits is stopped at once", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Cancelled{"r", "a"}},
			[]string{"write result a interrupted not_started"}},
		{"and reports its longest time", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), at{time.Minute, Due{}}},
			[]string{"write result a timeout not_started"}},
		{"the next one waits again", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Cancelled{"r", "a"}, Stored{"a", nil}, ask("b", "b1")},
			[]string{"progress b1 received"}},
		{"and is the one to be executed", known(startedRecord("z", false)),
			[]any{crashed, opened, ask("a", "a1"), Cancelled{"r", "a"}, Stored{"a", nil}, ask("b", "b1"), Released{}}, []string{"execute b1"}},
		{"one that waits when the process ends is left to the next", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Stopping{}}, nil},
		{"and not executed any more", known(startedRecord("z", false)), []any{crashed, opened, ask("a", "a1"), Stopping{}, Released{}}, []string{ends}},

		{"a panic lets go of keys before its result is stored", known(), []any{opened, ask("a", "a1"), Began{"a"}, Panicked{"a"}}, []string{panicked}},
		{"and is a report then", known(), []any{opened, ask("a", "a1"), Began{"a"}, Panicked{"a"}, Released{}}, []string{"write result a internal unknown"}},
		{"also when they stay down", known(), []any{opened, ask("a", "a1"), Panicked{"a"}, Released{errDisk}}, []string{"write result a internal not_started"}},
		{"once", known(), []any{opened, ask("a", "a1"), Panicked{"a"}, Panicked{"a"}}, nil},
		{"and is not told as something else", known(), []any{opened, ask("a", "a1"), Panicked{"a"}, Finished{"a", done}}, nil},
		{"one whose keys are not let go of in time is reported", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, Panicked{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}}, []string{"write result a internal unknown"}},
		{"nothing is executed before they are", known(),
			[]any{opened, ask("a", "a1"), Panicked{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Stored{"a", nil}, ask("b", "b1")}, []string{"report b1 internal not_started"}},
		{"and then again", known(),
			[]any{opened, ask("a", "a1"), Panicked{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Stored{"a", nil}, Released{}, ask("b", "b1")},
			[]string{"progress b1 received", "execute b1"}},
		{"a panic after it was given up as hanging lets go too", known(),
			[]any{opened, ask("a", "a1"), Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Stored{"a", nil}, Panicked{"a"}}, []string{panicked}},

		{"keys that stayed down are tried again before the next action", known(), append(stuck, ask("b", "b1")), []string{"progress b1 received", again}},
		{"and only then is it executed", known(), append(stuck, ask("b", "b1"), Released{}), []string{"execute b1"}},
		{"once they are let go of it is over", known(),
			append(stuck, ask("b", "b1"), Released{}, Finished{"b", done}, Stored{"b", nil}, ask("c", "c1")), []string{"progress c1 received", "execute c1"}},
		{"keys that stayed down are tried again without an action", known(), append(stuck, at{time.Second, Due{}}), []string{again}},
		{"not before its time", known(), append(stuck, at{time.Second - 1, Due{}}), nil},
		{"once", known(), append(stuck, at{time.Second, Due{}}, at{4 * time.Second, Due{}}), nil},
		{"and the next time later", known(), append(stuck, at{time.Second, Due{}}, at{time.Second, Released{errDisk}}, at{3*time.Second - 1, Due{}}), nil},
		{"and again", known(), append(stuck, at{time.Second, Due{}}, at{time.Second, Released{errDisk}}, at{3 * time.Second, Due{}}), []string{again}},
		{"until they are let go of", known(), append(stuck, at{time.Second, Due{}}, at{time.Second, Released{}}, at{4 * time.Second, Due{}}), nil},
		{"not while an action may send input", known(), append(stuck, ask("b", "b1"), Released{errDisk}, at{2 * time.Second, Due{}}), []string{"progress b1 executing"}},
		{"but after it", known(),
			append(stuck, ask("b", "b1"), Released{errDisk}, Finished{"b", done}, Stored{"b", nil}, at{2 * time.Second, Due{}}), []string{again}},

		{"the end lets go of every key", known(), []any{opened, Stopping{}}, []string{ends}},
		{"once", known(), []any{opened, Stopping{}, Released{errDisk}, Stopping{}}, nil},
		{"but not before the action in flight is over", known(), []any{opened, ask("a", "a1"), Stopping{}}, nil},
		{"and stored", known(), []any{opened, ask("a", "a1"), Stopping{}, Finished{"a", done}}, []string{"write result a success completed"}},
		{"then it does", known(), []any{opened, ask("a", "a1"), Stopping{}, Finished{"a", done}, Stored{"a", nil}}, []string{"report a1 success completed", ends}},
		{"what is under way is waited for", known(startedRecord("z", false)), []any{crashed, Stopping{}}, nil},
		{"and done once more", known(startedRecord("z", false)), []any{crashed, Stopping{}, Released{}}, []string{ends}},
		{"not without end", known(), []any{opened, Stopping{}, at{5 * time.Second, Due{}}}, []string{"give up"}},
		{"once", known(), []any{opened, Stopping{}, at{5 * time.Second, Due{}}, at{time.Hour, Due{}}}, nil},
		{"nor before its time", known(), []any{opened, Stopping{}, at{5*time.Second - 1, Due{}}}, nil},
		{"a release that was under way has no longer either", known(startedRecord("z", false)), []any{crashed, Stopping{}, at{5 * time.Second, Due{}}}, []string{"give up"}},
		{"nothing is tried again then", known(), append(stuck, Stopping{}, Released{errDisk}, at{4 * time.Second, Due{}}), nil},
		{"an answer that nobody waits for changes nothing", known(), []any{opened, Released{}}, nil},
	} {
		if diff := cmp.Diff(c.want, run(c.core, c.events...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestAFailureToLetGoIsSaidToMatterOnceInputMayHaveLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		core   *Core
		events []Event
		want   bool
	}{
		{"nothing was begun", known(), []Event{Starting{}, Stopping{}}, false},
		{"by this process", known(), []Event{Starting{}, Opened{}, ask("a", "a1"), Began{"a"}, Panicked{"a"}}, true},
		{"by the one before", known(startedRecord("a", false)), []Event{Starting{}}, true},
	} {
		var last []Effect
		for _, e := range c.events {
			last = c.core.Step(start, e)
		}
		if r, ok := last[len(last)-1].(Release); !ok || r.Pressed != c.want {
			t.Errorf("%s: %+v", c.name, last)
		}
	}
}

// The longest wait is bounded, so that a machine that was locked for a day is let go of
// within a minute of its return.
func TestB19_KeysThatStayDownAreTriedAgainAtLeastEveryMinute(t *testing.T) {
	c, now := known(startedRecord("a", false)), start
	c.Step(now, Starting{})
	for range 20 {
		c.Step(now, Released{errDisk})
		next := c.Next()
		if wait := next.Sub(now); wait < time.Second || wait > time.Minute {
			t.Fatalf("tried again after %v", wait)
		}
		now = next
		if diff := cmp.Diff([]string{"release: it failed before"}, words(c.Step(now, Due{}))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestAFailureToLetGoMattersNoMoreOnceItSucceeded(t *testing.T) {
	c := known(startedRecord("a", false))
	c.Step(start, Starting{})
	c.Step(start, Released{})
	if r, ok := c.Step(start, Stopping{})[0].(Release); !ok || r.Pressed || r.Again {
		t.Errorf("%+v", r)
	}
}

// A process ends when nothing is in flight and every key was let go of, no sooner.
func TestTheProcessEndsAfterItsKeysWereLetGoOf(t *testing.T) {
	c := known()
	for _, s := range []struct {
		event Event
		want  bool
	}{
		{Opened{}, false}, {ask("a", "a1"), false}, {Began{"a"}, false}, {Stopping{}, false}, {Finished{"a", done}, false},
		{Stored{"a", nil}, false}, {Acked{Ack{"a", "a1"}}, false}, {Released{errDisk}, true}, {Lost{}, true},
	} {
		c.Step(start, s.event)
		if c.Ended() != s.want {
			t.Errorf("after %T: ended %v", s.event, c.Ended())
		}
	}
	c = known()
	c.Step(start, Stopping{})
	if c.Step(start.Add(releaseTime), Due{}); !c.Ended() {
		t.Error("a desktop that does not answer keeps the process from its end")
	}
}
