package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

var (
	stopped = PersonActs{work.PersonStops, "stop key"}
	used    = PersonActs{work.PersonTakesOver, "mouse"}
	wantsOn = PersonActs{work.PersonGoesOn, "tray icon"}
)

func pause(id, reason string) Paused {
	return Paused{work.Pause{ReplayID: "r", PauseID: id, Reason: reason}}
}

// What the person at the machine does, and what the agent makes of it.
func TestThePersonAtTheMachineDecidesWhetherAnythingIsExecuted(t *testing.T) {
	byPerson := failed(work.Person, work.NotStarted)
	for name, c := range map[string]struct {
		events []any
		want   []string
	}{
		"a stop ends the action and asks the server to hold the replay": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, stopped},
			[]string{"ask to stop", "stop: stopped by the person at the machine", "write held"},
		},
		"what comes after a stop is refused, and that is a result": {
			[]any{Opened{}, stopped, ask("a", "a1")},
			[]string{"progress a1 received", "write result a person not_started"},
		},
		"what waits behind the stopped action is refused too": {
			[]any{Opened{}, ask("a", "a1"), ask("b", "b1"), stopped, Finished{"a", byPerson}, Stored{"a", nil}},
			[]string{"report a1 person not_started", "write result b person not_started"},
		},
		"a stop without a stream is told on the next one, before all else": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, Lost{}, stopped, Finished{"a", failed(work.Person, work.Unknown)}, Stored{"a", nil}, Opened{}},
			[]string{"ask to stop", "report a1 person unknown"},
		},
		"a stream that is lost with the question on it is asked again": {
			[]any{Opened{}, stopped, Lost{}, Opened{}},
			[]string{"ask to stop"},
		},
		"the server's answer to the refusal ends the agent's own hold: it holds the replay now": {
			[]any{Opened{}, stopped, ask("a", "a1"), Stored{"a", nil}, Acked{Ack{"a", "a1"}}},
			[]string{"write acknowledged a", "go on", "write lifted"},
		},
		"so does a pause that follows from the question": {
			[]any{Opened{}, stopped, pause("p", "operator")},
			[]string{"go on", "write lifted", "show p"},
		},
		"a pause for something else says nothing about the stop": {
			[]any{Opened{}, stopped, pause("p", "wrong_window")},
			[]string{"show p"},
		},
		"a pause that was there when there was no stream to ask on does not either": {
			[]any{Opened{}, pause("p", "operator"), Lost{}, stopped, ask("a", "a1")},
			nil,
		},
		"after it actions are executed again": {
			[]any{Opened{}, stopped, pause("p", "operator"), Resumed{"r", "p"}, ask("a", "a1")},
			[]string{"progress a1 received", "execute a1"},
		},
		"the stop is still there when the replay resumes that was paused for something else": {
			[]any{Opened{}, pause("p", "wrong_window"), stopped, Resumed{"r", "p"}, ask("a", "a1")},
			[]string{"progress a1 received", "write result a person not_started"},
		},
		"mouse or keyboard used while input is sent pauses, and the action comes to its end": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, used},
			[]string{"ask to take over"},
		},
		"what would follow is refused": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, used, Finished{"a", done}, Stored{"a", nil}, ask("b", "b1")},
			[]string{"progress b1 received", "write result b person not_started"},
		},
		"used again, it is asked once": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, used, used}, nil,
		},
		"a stop counts after it all the same": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, used, stopped},
			[]string{"ask to stop", "stop: stopped by the person at the machine", "write held"},
		},
		"used while nothing is executed, it is the person's affair":     {[]any{Opened{}, used}, nil},
		"used while the agent only looks for the target, it is as well": {[]any{Opened{}, ask("a", "a1"), used}, nil},
		"to go on ends the stop": {
			[]any{Opened{}, stopped, wantsOn}, []string{"go on", "write lifted"},
		},
		"a stop that is told again is written down once": {
			[]any{Opened{}, stopped, stopped}, []string{"ask to stop"},
		},
		"to go on asks the server to resume what is shown": {
			[]any{Opened{}, pause("p", "wrong_window"), wantsOn}, []string{"ask to go on r"},
		},
		"to go on asks for nothing that is over": {
			[]any{Opened{}, pause("p", "wrong_window"), Resumed{"r", "p"}, wantsOn}, nil,
		},
		"to go on asks for nothing that this stream did not show": {
			[]any{Opened{}, pause("p", "wrong_window"), Lost{}, Opened{}, wantsOn}, nil,
		},
		"an action that could not be kept from its end is a success": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, stopped, Finished{"a", done}},
			[]string{"write result a success completed"},
		},
		"one that does not stop is reported as stopped by the person": {
			[]any{Opened{}, ask("a", "a1"), Began{"a"}, stopped, at{hangTime, Due{}}},
			[]string{"release: the executor hangs", "write result a person unknown"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, run(known(), c.events...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Somebody presses the stop key while the network is down, and starts the machine again.
func TestB19_AStopOutlivesTheProcess(t *testing.T) {
	stop := spool.Record{Type: spool.TypeHeld, Hold: &spool.Hold{By: "stop key"}}
	for name, c := range map[string]struct {
		events []any
		want   []string
	}{
		"the server is asked on the first stream, before anything is heard of it": {
			[]any{Opened{}}, []string{"ask to stop"},
		},
		"nothing is executed": {
			[]any{Opened{}, ask("a", "a1")}, []string{"progress a1 received", "write result a person not_started"},
		},
		"until the server holds the replay": {
			[]any{Opened{}, pause("p", "operator")}, []string{"go on", "write lifted", "show p"},
		},
		"or the person wants on": {
			[]any{Opened{}, wantsOn}, []string{"go on", "write lifted"},
		},
		"and it is not written down again when the desktop tells of it again": {
			[]any{stopped, Opened{}}, []string{"ask to stop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, run(known(stop), c.events...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
