package replay

import (
	"flag"
	"fmt"
	"os"
	"slices"
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
	if w.r.Open {
		s += ", open"
	}
	if n := len(w.r.Steps) - w.r.Settled; n > 0 && !w.r.State.Ended() {
		s += fmt.Sprintf(", %d left", n)
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
		table(t, "The replay's own states:", "replay is", replayConditions, append(deliveries[:1:1], slices.Concat(openings[3:5], commands, feeding)...), becameOfReplay),
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
		Appended{RequestID: "z", Steps: []Step{click, human}}, Closed{}, Resumed{From: -1, Skip: true}, Resumed{From: 0}, Ended{State: Completed}, Ended{State: Failed}, Ended{State: Cancelled},
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
