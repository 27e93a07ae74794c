package replay

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the state tables into ARCHITECTURE.md")

const (
	architecture = "../../ARCHITECTURE.md"
	tableBegin   = "<!-- state-table:begin -->"
	tableEnd     = "<!-- state-table:end -->"
)

// condition is a state that a test can bring the action "r-1" and its replay into.
type condition struct {
	name    string
	prepare func(t testing.TB) *world
}

// input is something that a replay meets. It returns what was answered, if that
// is worth a word.
type input struct {
	name string
	meet func(*world) string
}

// actionConditions are the states of an action, told apart where the contract
// tells them apart.
var actionConditions = []condition{
	{"QUEUED", func(t testing.TB) *world { return begin(t, click, click) }},
	{"DISPATCHED", func(t testing.TB) *world { return running(t, click, click) }},
	{"QUEUED again", after(func(w *world) { w.orphan() })},
	{"ACKED", after(func(w *world) { w.take("r-1", success) })},
	{"NEEDS_HELP, reported", after(func(w *world) { w.take("r-1", failed(CodeWrongWindow, CompletionNotStarted)) })},
	{"NEEDS_HELP, unreported", after(func(w *world) { w.apply(w.r.DecideAgentAway()...) })},
	{"SUPERSEDED, `_resume` queued", after(func(w *world) { w.giveUp(); w.quietly(ResumeCommand{}) })},
	{"SUPERSEDED, `_resume` sent", after(func(w *world) { w.giveUp(); w.resume(ResumeCommand{}) })},
	{"SKIPPED", after(func(w *world) { w.giveUp(); w.quietly(ResumeCommand{Skip: true}) })},
	{"ABANDONED, went on", func(t testing.TB) *world {
		w := running(t, scroll, click)
		w.giveUp()
		return w
	}},
	{"ABANDONED, paused", after(func(w *world) { w.giveUp() })},
	{"FAILED", func(t testing.TB) *world {
		w := running(t, with(click, func(s *Step) { s.FailExhausted, s.MaxRetries = true, 0 }), click)
		w.take("r-1", failed(CodeTimeout, CompletionNotStarted))
		return w
	}},
	{"CANCELLED", after(func(w *world) { w.command(w.r.DecideCancel("alice", "")) })},
}

// replayConditions are the states of a replay.
var replayConditions = []condition{
	{"QUEUED", func(t testing.TB) *world { return begin(t, click, click) }},
	{"RUNNING, in flight", func(t testing.TB) *world { return running(t, click, click) }},
	{"RUNNING, queued", after(func(w *world) { w.orphan() })},
	{"RUNNING, all settled", func(t testing.TB) *world {
		w := running(t, click)
		w.take("r-1", success)
		return w
	}},
	{"PAUSED, pausing", after(func(w *world) { w.pause() })},
	{"PAUSED, to decide", after(func(w *world) { w.take("r-1", failed(CodeWrongWindow, CompletionNotStarted)) })},
	{"PAUSED, nothing to decide", after(func(w *world) { w.pause(); w.take("r-1", success) })},
	{"PAUSED, before a step", func(t testing.TB) *world { return running(t, checked, click) }},
	{"COMPLETED", func(t testing.TB) *world {
		w := running(t, click)
		w.report("r-1", success)
		return w
	}},
	{"FAILED", func(t testing.TB) *world { return actionConditions[11].prepare(t) }},
	{"CANCELLED", after(func(w *world) { w.command(w.r.DecideCancel("alice", "")) })},
}

func after(f func(*world)) func(testing.TB) *world {
	return func(t testing.TB) *world {
		w := running(t, click, click)
		f(w)
		return w
	}
}

var reports = []input{
	{"success", reported(success)},
	{"failure, retries left", reported(failed(CodeTargetNotFound, CompletionNotStarted))},
	{"failure, no retries left", func(w *world) string {
		w.policy.MaxRetries = 0
		return reported(failed(CodeTargetNotFound, CompletionNotStarted))(w)
	}},
	{"failure for a person", reported(failed(CodeInputBlocked, CompletionNotStarted))},
	{"`desktop_unavailable`", reported(failed(CodeDesktopUnavailable, CompletionNotStarted))},
	{"success from another memory", reported(Report{Success: true, SpoolID: "spool0"})},
}

var deliveries = []input{
	{"machine free", func(w *world) string { return w.settle(w.r.DecideNext(there)) }},
	{"deadline, resends left", func(w *world) string { return w.settle(w.r.DecideOrphan("r-1", w.policy, false)) }},
	{"deadline, none left", func(w *world) string { return w.settle(w.r.DecideOrphan("r-1", Policy{}, false)) }},
	{"no receipt", func(w *world) string { return w.settle(w.r.DecideNotReceived("r-1", w.policy, false)) }},
}

var openings = []input{
	{"executing it", func(w *world) string {
		verdict, events := w.r.DecideExecuting("r-1", "r-1.1")
		w.apply(events...)
		return map[Executing]string{GoOn: "go on", Stop: "stop"}[verdict]
	}},
	{"same process", func(w *world) string {
		return w.settle(w.r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, w.policy, false))
	}},
	{"new process", func(w *world) string {
		return w.settle(w.r.DecideReconnect(Session{BootID: "boot2"}, Reconnect, w.policy, false))
	}},
	{"another memory", func(w *world) string { return w.settle(w.r.DecideOtherMemory("spool2")) }},
	{"away past the grace", func(w *world) string { return w.settle(w.r.DecideAgentAway()) }},
}

var commands = []input{
	{"pause", func(w *world) string { return w.command(w.r.DecidePause("alice", "")) }},
	{"resume", func(w *world) string { return w.command(w.r.DecideResume(ResumeCommand{Acked: w.required()})) }},
	{"resume, skip", func(w *world) string {
		return w.command(w.r.DecideResume(ResumeCommand{Skip: true, Acked: w.required()}))
	}},
	{"resume from it", func(w *world) string {
		return w.command(w.r.DecideResume(ResumeCommand{From: "r-1", Acked: w.required()}))
	}},
	{"cancel", func(w *world) string { return w.command(w.r.DecideCancel("alice", "")) }},
}

func reported(rep Report) func(*world) string {
	return func(w *world) string {
		if v := w.take("r-1", rep); v != Accepted {
			return "`" + v.String() + "`"
		}
		return ""
	}
}

func (w *world) settle(events []Event) string {
	w.apply(events...)
	return ""
}

func (w *world) command(events []Event, err error) string {
	if err != nil {
		return "refused"
	}
	w.apply(events...)
	return ""
}

// quietly resumes while no agent is there: nothing is dispatched.
func (w *world) quietly(c ResumeCommand) { w.command(w.r.DecideResume(c)) }

func (w *world) required() []string {
	if w.r.Pause != nil && len(w.r.Pause.Checks) > 0 {
		return []string{"saved"}
	}
	return nil
}

// becameOfAction says what an action became: its state, the decision that took its place, and what
// its replay became.
func becameOfAction(w *world) string {
	a := w.r.Find("r-1")
	words := []string{a.State.String()}
	if newest := w.r.Current(a.Step); newest.ID != a.ID {
		words[0] += " by `" + strings.TrimPrefix(newest.ID, "r-1") + "` " + newest.State.String()
	}
	return strings.Join(append(words, w.r.State.String()), ", ")
}

func becameOfReplay(w *world) string {
	s := w.r.State.String()
	if w.r.Pause != nil {
		s += " (" + w.r.Pause.Reason + ")"
	}
	if w.inFlight() != "" {
		s += ", in flight"
	}
	return s
}

// cell says what a condition becomes when it meets an input; a dash: nothing.
func cell(t testing.TB, c condition, in input, became func(*world) string) string {
	w := c.prepare(t)
	before, ended := became(w), w.r.State.Ended()
	answer := in.meet(w)
	now := became(w)
	if ended && now != before {
		t.Errorf("%s met %q after its end and became %s", c.name, in.name, now)
	}
	if now == before {
		now = "–"
	}
	if answer != "" {
		now += "<br>" + answer
	}
	return now
}

func table(t testing.TB, title, corner string, conditions []condition, inputs []input, became func(*world) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| %s |", title, corner)
	for _, in := range inputs {
		fmt.Fprintf(&b, " %s |", in.name)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(inputs)+1) + "\n")
	for _, c := range conditions {
		fmt.Fprintf(&b, "| %s |", c.name)
		for _, in := range inputs {
			fmt.Fprintf(&b, " %s |", cell(t, c, in, became))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func render(t testing.TB) string {
	const action = "action is"
	return strings.Join([]string{
		"Each cell names the action's state and its replay's; a dash: nothing changes. The action is a click, but where it went on it is a scroll.\n",
		table(t, "A report of the action comes:", action, actionConditions, reports, becameOfAction),
		table(t, "Its delivery:", action, actionConditions, deliveries, becameOfAction),
		table(t, "The agent opens a stream, or stays away:", action, actionConditions, openings, becameOfAction),
		table(t, "A person says:", action, actionConditions, commands, becameOfAction),
		table(t, "The replay's own states:", "replay is", replayConditions, append(deliveries[:1:1], append(openings[3:5:5], commands...)...), becameOfReplay),
	}, "\n")
}

// Every state meets every input: nothing panics, what has ended stays so, and
// the tables in ARCHITECTURE.md are what the code does. Run it with -update to
// write them.
func TestStateTable(t *testing.T) {
	page, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), tableBegin)
	old, tail, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines %s and %s", architecture, tableBegin, tableEnd)
	}
	want := "\n" + render(t) + "\n"
	if *update && want != old {
		if err := os.WriteFile(architecture, []byte(head+tableBegin+want+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, want); diff != "" {
		t.Errorf("ARCHITECTURE.md is out of date; run go test ./server/replay -run TestStateTable -update (-page +code):\n%s", diff)
	}
}

// Every state meets every event, also those that nothing decides there: an event
// that does not fit is an error, and an end is final.
func TestEveryStateMeetsEveryEvent(t *testing.T) {
	events := []Event{
		Created{}, Started{}, Dispatched{ActionID: "r-1", AttemptID: "r-1.9"}, Adopted{ActionID: "r-1"}, Requeued{ActionID: "r-1"},
		Requeued{ActionID: "r-1", Tail: true}, LostMemory{ActionID: "r-1"}, GaveUp{ActionID: "r-1"},
		PausedBy{Reason: "operator", Gate: -1}, PausedBy{Reason: "wrong_window", Decide: "r-1", Gate: -1}, PausedBy{Gate: 0}, GatePassed{},
		Resumed{From: -1}, Resumed{From: -1, Skip: true}, Resumed{From: 0}, Ended{State: Completed}, Ended{State: Failed}, Ended{State: Cancelled},
	}
	for o := OutcomeAcked; o <= OutcomeRecorded; o++ {
		events = append(events, Reported{ActionID: "r-1", Outcome: o})
	}
	for _, c := range append(append([]condition(nil), actionConditions...), replayConditions...) {
		for _, ev := range events {
			w := c.prepare(t)
			state, ended := w.r.State, w.r.State.Ended()
			err := w.r.ApplyEvent("r", ev, began)
			if ended && (err == nil || w.r.State != state) {
				t.Errorf("%s took %T: %v, and is %v", c.name, ev, err, w.r.State)
			}
			if _, ok := w.r.Next(); ok && w.r.State.Ended() {
				t.Errorf("%s took %T and has a queue after its end", c.name, ev)
			}
		}
	}
}
