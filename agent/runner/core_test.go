package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var errDisk = errors.New("no space left")

func ask(id, attempt string) Dispatched {
	return Dispatched{work.Dispatch{Ref: work.Ref{ReplayID: "r", ActionID: id, AttemptID: attempt}, SessionID: "s"}}
}

func askSafe(id, attempt string) Dispatched {
	d := ask(id, attempt)
	d.Safe = true
	return d
}

func askFor(id, attempt string, replaces ...string) Dispatched {
	d := ask(id, attempt)
	d.Replaces = replaces
	return d
}

var done = work.Outcome{Completion: work.Completed, Effect: work.Seen}

func failed(code work.Code, c work.Completion) work.Outcome { return work.Failure(code, c, "") }

// at is an event some time after the start.
type at struct {
	after time.Duration
	event Event
}

// run feeds events, all at the start unless wrapped in at, and returns the
// effects of the last one in words.
func run(c *Core, events ...any) []string {
	var last []Effect
	for _, e := range events {
		switch e := e.(type) {
		case at:
			last = c.Step(start.Add(e.after), e.event)
		case Event:
			last = c.Step(start, e)
		}
	}
	return words(last)
}

func words(effects []Effect) []string {
	var out []string
	for _, effect := range effects {
		switch e := effect.(type) {
		case Release:
			out = append(out, "release: "+e.Why)
		case GiveUp:
			out = append(out, "give up")
		case Execute:
			out = append(out, "execute "+e.Dispatch.AttemptID)
		case Stop:
			out = append(out, "stop: "+e.Cause.Error())
		case Write:
			w := strings.TrimSpace(fmt.Sprintf("write %s %s", e.Record.Type, e.Record.ActionID))
			if o := e.Record.Outcome; o != nil {
				w += " " + say(*o)
			}
			out = append(out, w)
		case Mend:
			out = append(out, "mend")
		case SendReport:
			out = append(out, fmt.Sprintf("report %s %s", e.AttemptID, say(e.Outcome)))
		case SendProgress:
			state := "received"
			if e.Executing {
				state = "executing"
			}
			out = append(out, strings.TrimSpace(fmt.Sprintf("progress %s %s %s", e.AttemptID, state, e.Doing)))
		case Reopen:
			out = append(out, "reopen")
		case SendPerson:
			out = append(out, strings.TrimSpace(fmt.Sprintf("ask to %v %s", e.Wish, e.ReplayID)))
		case GoOn:
			out = append(out, "go on")
		case Show:
			out = append(out, "show "+e.PauseID)
		case Hide:
			out = append(out, "hide "+e.PauseID)
		}
	}
	return out
}

func say(o work.Outcome) string {
	parts := []string{"success"}
	if !o.Success() {
		parts[0] = string(o.Code)
	}
	parts = append(parts, string(o.Completion))
	for _, w := range o.Warnings {
		parts = append(parts, string(w))
	}
	return strings.Join(parts, " ")
}

func known(records ...spool.Record) *Core {
	m := spool.NewMemory()
	for _, r := range records {
		m.Apply(r)
	}
	return NewCore(m, 0)
}

func startedRecord(id string, safe bool) spool.Record {
	return spool.Record{Type: spool.TypeStarted, Ref: work.Ref{ReplayID: "r", ActionID: id, AttemptID: id + "1"}, Safe: safe}
}

func resultRecord(id string, o work.Outcome) spool.Record {
	return spool.Record{Type: spool.TypeResult, Ref: work.Ref{ReplayID: "r", ActionID: id, AttemptID: id + "1"}, Outcome: &o}
}

func TestRunnerDecisions(t *testing.T) {
	opened := Opened{}
	for _, c := range []struct {
		name   string
		core   *Core
		events []any
		want   []string
	}{
		{"an unknown action is received and executed", known(), []any{opened, ask("a", "a1")},
			[]string{"progress a1 received", "execute a1"}},
		{"its result goes to the disk first", known(), []any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", done}},
			[]string{"write result a success completed"}},
		{"and then to the server", known(), []any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed"}},
		{"an answer is a durable acknowledgement", known(resultRecord("a", done)), []any{opened, Acked{Ack{"a", "a1"}}},
			[]string{"write acknowledged a"}},
		{"an answer to another attempt settles nothing", known(resultRecord("a", done)), []any{opened, Acked{Ack{"a", "a0"}}}, nil},
		{"an answer without an attempt counts", known(resultRecord("a", done)), []any{opened, Acked{Ack{"a", ""}}},
			[]string{"write acknowledged a"}},

		{"finished: the stored result again", known(resultRecord("a", done)), []any{opened, ask("a", "a2")},
			[]string{"report a1 success completed already_executed"}},
		{"acknowledged: the stored result again", known(resultRecord("a", done)),
			[]any{opened, Acked{Ack{"a", "a1"}}, ask("a", "a2")}, []string{"report a1 success completed already_executed"}},
		{"executing: progress, under the newest attempt", known(), []any{opened, ask("a", "a1"), ask("a", "a2")},
			[]string{"progress a2 executing"}},
		{"started by a process that died: outcome unknown", known(startedRecord("a", false)), []any{opened, ask("a", "a2")},
			[]string{"progress a2 received", "write result a outcome_unknown unknown"}},
		{"the same, safe to run twice: executed when asked", known(startedRecord("a", true)), []any{opened, askSafe("a", "a2")},
			[]string{"progress a2 received", "execute a2"}},
		{"the same, safe to run twice: nothing unasked", known(startedRecord("a", true)), []any{opened}, nil},
		{"closed by the server and asked for all the same", known(startedRecord("a", false)),
			[]any{Opened{Closed: []string{"a"}}, ask("a", "a2")}, []string{"progress a2 received", "write result a outcome_unknown unknown"}},

		{"a dispatch waits for the one that executes", known(), []any{opened, ask("a", "a1"), ask("b", "b1")},
			[]string{"progress b1 received"}},
		{"and starts after it", known(), []any{opened, ask("a", "a1"), ask("b", "b1"), Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed", "execute b1"}},
		{"a newer dispatch replaces the waiting one", known(),
			[]any{opened, ask("a", "a1"), ask("b", "b1"), ask("c", "c1"), Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed", "execute c1"}},
		{"a repeated one replaces it too", known(),
			[]any{opened, ask("a", "a1"), ask("b", "b1"), ask("a", "a2"), Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed"}},
		{"the end of the stream drops the waiting one", known(),
			[]any{opened, ask("a", "a1"), ask("b", "b1"), Lost{}, opened, Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed"}},
		{"cancel drops the waiting one", known(),
			[]any{opened, ask("a", "a1"), ask("b", "b1"), Cancelled{"r", "b"}, Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed"}},

		{"one that it replaces has run", known(resultRecord("a", done)), []any{opened, askFor("a_resume", "n1", "a")},
			[]string{"progress n1 received", "write result a_resume success completed already_executed"}},
		{"one that it replaces failed before input", known(resultRecord("a", failed(work.TargetNotFound, work.NotStarted))),
			[]any{opened, askFor("a_resume", "n1", "a")}, []string{"progress n1 received", "execute n1"}},
		{"one that it replaces started and is not safe", known(startedRecord("a", false)), []any{opened, askFor("a_resume", "n1", "a")},
			[]string{"progress n1 received", "write result a_resume outcome_unknown unknown"}},
		{"one that it replaces started and is safe", known(startedRecord("a", true)), []any{opened, askFor("a_resume", "n1", "a")},
			[]string{"progress n1 received", "execute n1"}},
		{"one that it replaces was closed and is not safe", known(startedRecord("a", false)),
			[]any{Opened{Closed: []string{"a"}}, askFor("a_resume", "n1", "a")},
			[]string{"progress n1 received", "write result a_resume outcome_unknown unknown"}},
		{"one that it replaces still executes: it waits, then has that outcome", known(),
			[]any{opened, ask("a", "a1"), askFor("a_resume", "n1", "a"), Began{"a"}, Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed", "write result a_resume success completed already_executed"}},

		{"an unusable desktop is not a result", known(),
			[]any{opened, ask("a", "a1"), Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}},
			[]string{"report a1 desktop_unavailable not_started"}},
		{"so the next attempt executes", known(),
			[]any{opened, ask("a", "a1"), Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}, ask("a", "a2")},
			[]string{"progress a2 received", "execute a2"}},
		{"found out after started: taken back on the disk first", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}},
			[]string{"write withdrawn a"}},
		{"and the next attempt executes", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}, Stored{"a", nil}, ask("a", "a2")},
			[]string{"progress a2 received", "execute a2"}},
		{"gone in the middle of input: outcome unknown", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", failed(work.DesktopUnavailable, work.Unknown)}},
			[]string{"write result a outcome_unknown unknown"}},
		{"said on the next stream when there is none", known(),
			[]any{opened, ask("a", "a1"), Lost{}, Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}, opened},
			[]string{"report a1 desktop_unavailable not_started"}},

		{"an invalid dispatch is a report", known(), []any{opened, Dispatched{work.Dispatch{Ref: work.Ref{ActionID: "a", AttemptID: "a1"}, Invalid: "no kind"}}},
			[]string{"progress a1 received", "write result a invalid_action not_started"}},

		{"cancel stops the executing one", known(), []any{opened, ask("a", "a1"), Cancelled{"r", "a"}}, []string{"stop: stopped on request"}},
		{"cancel of the whole replay too", known(), []any{opened, ask("a", "a1"), Cancelled{"r", ""}}, []string{"stop: stopped on request"}},
		{"cancel asks once", known(), []any{opened, ask("a", "a1"), Cancelled{"r", ""}, Cancelled{"r", "a"}}, nil},
		{"cancel of another replay", known(), []any{opened, ask("a", "a1"), Cancelled{"q", ""}}, nil},
		{"cancel of another action", known(), []any{opened, ask("a", "a1"), Cancelled{"r", "b"}}, nil},
		{"cancel after the result is on its way", known(), []any{opened, ask("a", "a1"), Finished{"a", done}, Cancelled{"r", ""}}, nil},
		{"the welcome says stop", known(), []any{opened, ask("a", "a1"), Lost{}, Opened{Stop: true}},
			[]string{"stop: stopped on request", "progress a1 executing"}},
		{"the welcome says go on", known(), []any{opened, ask("a", "a1"), Lost{}, opened}, []string{"progress a1 executing"}},

		{"progress after 200 ms", known(), []any{opened, ask("a", "a1"), Doing{"a", "looking"}, at{200 * time.Millisecond, Due{}}},
			[]string{"progress a1 executing looking"}},
		{"not before", known(), []any{opened, ask("a", "a1"), at{200*time.Millisecond - 1, Due{}}}, nil},
		{"and again after 5 s", known(), []any{opened, ask("a", "a1"), at{200 * time.Millisecond, Due{}}, at{5200 * time.Millisecond, Due{}}},
			[]string{"progress a1 executing"}},
		{"the longest time is by setting", known(), []any{opened, ask("a", "a1"), at{time.Minute - 200, Due{}}, at{time.Minute, Due{}}},
			[]string{"stop: the longest time of the action passed"}},
		{"an executor that hangs is reported", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, at{time.Minute, Due{}}, at{65 * time.Second, Due{}}},
			[]string{"release: the executor hangs", "write result a timeout unknown"}},
		{"nothing is executed while it hangs", known(),
			[]any{opened, ask("a", "a1"), at{time.Minute, Due{}}, at{65 * time.Second, Due{}}, Stored{"a", nil}, ask("b", "b1")},
			[]string{"report b1 internal not_started"}},
		{"and then again", known(),
			[]any{opened, ask("a", "a1"), at{time.Minute, Due{}}, at{65 * time.Second, Due{}}, Stored{"a", nil}, Finished{"a", done}, ask("b", "b1")},
			[]string{"progress b1 received", "execute b1"}},

		{"an unacknowledged report reopens the stream", known(resultRecord("a", done)), []any{opened, at{10 * time.Second, Due{}}}, []string{"reopen"}},
		{"once", known(resultRecord("a", done)), []any{opened, at{10 * time.Second, Due{}}, at{11 * time.Second, Due{}}}, nil},
		{"and is said again on the next one", known(resultRecord("a", done)), []any{opened, at{10 * time.Second, Due{}}, Lost{}, opened},
			[]string{"report a1 success completed"}},
		{"a welcome that answers leaves nothing to say", known(resultRecord("a", done)), []any{Opened{Acks: []Ack{{"a", "a1"}}}},
			[]string{"write acknowledged a"}},
		{"what finished without a stream is not sent", known(), []any{opened, ask("a", "a1"), Lost{}, Finished{"a", done}, Stored{"a", nil}}, nil},
		{"but on the next one", known(), []any{opened, ask("a", "a1"), Lost{}, Finished{"a", done}, Stored{"a", nil}, opened},
			[]string{"report a1 success completed"}},
		{"unfinished ones may be forgotten", known(startedRecord("a", false)), []any{Opened{Closed: []string{"a", "b"}}}, []string{"write closed a"}},

		{"a pause is shown", known(), []any{opened, Paused{work.Pause{ReplayID: "r", PauseID: "p"}}}, []string{"show p"}},
		{"once, however often it is repeated", known(),
			[]any{opened, Paused{work.Pause{PauseID: "p"}}, Lost{}, opened, Paused{work.Pause{PauseID: "p"}}}, nil},
		{"a resume takes it away", known(), []any{opened, Resumed{"r", "p"}}, []string{"hide p"}},

		{"a result that can't be stored is told all the same", known(), []any{opened, ask("a", "a1"), Began{"a"}, Finished{"a", done}, Stored{"a", errDisk}},
			[]string{"report a1 success completed"}},
		{"nothing is executed untracked, and nothing is spent", known(), []any{opened, SpoolFailed{errDisk}, ask("a", "a1")},
			[]string{"progress a1 received", "report a1 desktop_unavailable not_started"}},
		{"the memory still answers", known(resultRecord("b", done)), []any{opened, SpoolFailed{errDisk}, ask("b", "b2")},
			[]string{"report b1 success completed already_executed"}},
		{"the spool is written again", known(), []any{SpoolFailed{errDisk}, at{10 * time.Second, Due{}}}, []string{"mend"}},
		{"and again", known(), []any{SpoolFailed{errDisk}, at{10 * time.Second, Due{}}, at{20 * time.Second, Due{}}}, []string{"mend"}},
		{"and then work goes on", known(), []any{opened, SpoolFailed{errDisk}, SpoolMended{}, ask("a", "a1")},
			[]string{"progress a1 received", "execute a1"}},

		{"the server goes, nothing is in flight", known(), []any{opened, GoingAway{}}, []string{"reopen"}},
		{"it goes after the action in flight is settled", known(),
			[]any{opened, ask("a", "a1"), GoingAway{}, Finished{"a", done}, Stored{"a", nil}, Acked{Ack{"a", "a1"}}},
			[]string{"write acknowledged a", "reopen"}},
		{"not before", known(), []any{opened, ask("a", "a1"), GoingAway{}, Finished{"a", done}, Stored{"a", nil}},
			[]string{"report a1 success completed"}},

		{"the process ends: the action may come to its end", known(), []any{opened, ask("a", "a1"), Stopping{}}, nil},
		{"but not for ever", known(), []any{opened, ask("a", "a1"), Stopping{}, at{5 * time.Second, Due{}}},
			[]string{"stop: stopped on request", "progress a1 executing"}},
		{"one that is safe to run twice stops at once", known(), []any{opened, askSafe("a", "a1"), Stopping{}}, []string{"stop: stopped on request"}},
		{"and is left to the next process", known(),
			[]any{opened, askSafe("a", "a1"), Began{"a"}, Stopping{}, Finished{"a", failed(work.Interrupted, work.Unknown)}},
			[]string{"write withdrawn a"}},
		{"one that was cut off in the middle is reported", known(),
			[]any{opened, ask("a", "a1"), Began{"a"}, Stopping{}, at{5 * time.Second, Due{}}, Finished{"a", failed(work.Interrupted, work.Unknown)}},
			[]string{"write result a interrupted unknown"}},
		{"nothing new is taken", known(), []any{opened, Stopping{}, ask("a", "a1")}, nil},
	} {
		if diff := cmp.Diff(c.want, run(c.core, c.events...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTheOpeningSaysWhatIsOpen(t *testing.T) {
	c := known(startedRecord("dead", false), resultRecord("done", done), resultRecord("known", done))
	run(c, Opened{Acks: []Ack{{"known", "known1"}}}, ask("a", "a1"), Began{"a"})
	o := c.Opening()
	if o.Executing == nil || o.Executing.ActionID != "a" {
		t.Errorf("executing %v, want a", o.Executing)
	}
	if len(o.Unfinished) != 1 || o.Unfinished[0].ActionID != "dead" {
		t.Errorf("unfinished %v, want dead alone", o.Unfinished)
	}
	if len(o.Results) != 1 || o.Results[0].ActionID != "done" {
		t.Errorf("results %v, want done alone", o.Results)
	}
}
