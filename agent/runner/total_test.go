package runner

import (
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/work"
)

// Every state of the agent, by the events that lead to it.
var everyState = map[string][]any{
	"idle without a stream":     nil,
	"idle":                      {Opened{}},
	"looking":                   {Opened{}, ask("a", "a1")},
	"sending input":             {Opened{}, ask("a", "a1"), Began{"a"}},
	"sending input, offline":    {Opened{}, ask("a", "a1"), Began{"a"}, Lost{}},
	"one more waits":            {Opened{}, ask("a", "a1"), Began{"a"}, ask("b", "b1")},
	"stopping the action":       {Opened{}, ask("a", "a1"), Began{"a"}, Cancelled{"r", ""}},
	"storing":                   {Opened{}, ask("a", "a1"), Began{"a"}, Finished{"a", done}},
	"withdrawing":               {Opened{}, ask("a", "a1"), Began{"a"}, Finished{"a", failed(work.DesktopUnavailable, work.NotStarted)}},
	"hanging, storing":          {Opened{}, ask("a", "a1"), Began{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}},
	"hanging":                   {Opened{}, ask("a", "a1"), Began{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Stored{"a", nil}},
	"reported":                  {Opened{}, ask("a", "a1"), Began{"a"}, Finished{"a", done}, Stored{"a", nil}},
	"acknowledged":              {Opened{}, ask("a", "a1"), Finished{"a", done}, Stored{"a", nil}, Acked{Ack{"a", "a1"}}},
	"spool broken":              {Opened{}, SpoolFailed{errDisk}},
	"spool broken in an action": {Opened{}, ask("a", "a1"), Began{"a"}, SpoolFailed{errDisk}},
	"server going":              {Opened{}, ask("a", "a1"), GoingAway{}},
	"process ending":            {Opened{}, ask("a", "a1"), Began{"a"}, Stopping{}},
	"process ending, idle":      {Opened{}, Stopping{}},
	"process ended":             {Opened{}, Stopping{}, Released{}},
	"process ended, gave up":    {Opened{}, Stopping{}, at{5 * time.Second, Due{}}},
	"keys are tried again":      {Opened{}, ask("a", "a1"), Panicked{"a"}, Released{errDisk}, Stored{"a", nil}, at{time.Second, Due{}}},
	"letting go at the start":   {Opened{}, ask("z", "z1"), Began{"z"}, Finished{"z", done}, Stored{"z", nil}, Starting{Crashed: true}},
	"letting go, one waits":     {Opened{}, ask("z", "z1"), Began{"z"}, Finished{"z", done}, Stored{"z", nil}, Starting{Crashed: true}, ask("a", "a1")},
	"panicked":                  {Opened{}, ask("a", "a1"), Began{"a"}, Panicked{"a"}},
	"panicked, and hangs":       {Opened{}, ask("a", "a1"), Began{"a"}, Panicked{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Stored{"a", nil}},
	"panicked while it hangs":   {Opened{}, ask("a", "a1"), Began{"a"}, Cancelled{"r", ""}, at{5 * time.Second, Due{}}, Panicked{"a"}},
	"stopped by the person":     {Opened{}, stopped},
	"stopped in an action":      {Opened{}, ask("a", "a1"), Began{"a"}, stopped},
	"stopped, offline":          {Opened{}, ask("a", "a1"), Began{"a"}, Lost{}, stopped},
	"taken over":                {Opened{}, ask("a", "a1"), Began{"a"}, used},
	"keys are still down":       {Opened{}, ask("a", "a1"), Panicked{"a"}, Released{errDisk}, Stored{"a", nil}},
}

var everyEvent = []Event{
	Opened{}, Opened{Stop: true, Acks: []Ack{{"a", "a1"}}, Closed: []string{"a"}}, Lost{}, ask("a", "a2"), ask("c", "c1"), askFor("a_resume", "n1", "a"),
	Acked{Ack{"a", "a1"}}, Cancelled{"r", ""}, Cancelled{"r", "a"}, Paused{work.Pause{PauseID: "p"}}, Resumed{"r", "p"}, GoingAway{},
	Began{"a"}, Doing{"a", "x"}, Finished{"a", done}, Stored{"a", nil}, Stored{"a", errDisk}, SpoolFailed{errDisk}, SpoolMended{}, Due{}, Stopping{},
	stopped, used, wantsOn, Paused{work.Pause{PauseID: "q", Reason: work.PauseByOperator}},
	Panicked{"a"}, Released{}, Released{errDisk}, Starting{}, Starting{Crashed: true, Broken: errDisk},
}

// Every state meets every event, twice: no panic, no second execution beside
// one that runs or while keys are let go of, and nothing is sent without a stream.
func TestEveryStateMeetsEveryEvent(t *testing.T) {
	for name, path := range everyState {
		for _, event := range everyEvent {
			c := known()
			run(c, path...)
			for range 2 {
				held := c.hold != nil
				busy := c.running != nil && c.running.busy
				stopping, releasing := c.stopping, c.keys.releasing
				effects := c.Step(start.Add(time.Hour), event)
				for _, effect := range effects {
					switch e := effect.(type) {
					case Release:
						if _, released := event.(Released); releasing && !released {
							t.Errorf("%s: %T lets go of keys that are being let go of", name, event)
						}
						if e.Why == "it failed before" && busy {
							t.Errorf("%s: %T lets go of keys while an action may send input", name, event)
						}
					case GoOn:
						held = false
					case Execute:
						if held {
							t.Errorf("%s: %T executes %s though the person has stopped the agent", name, event, e.Dispatch.ActionID)
						}
						if _, released := event.(Released); releasing && !released {
							t.Errorf("%s: %T executes %s while keys are let go of", name, event, e.Dispatch.ActionID)
						}
						if busy && !frees(event) {
							t.Errorf("%s: %T executes %s beside a running action", name, event, e.Dispatch.ActionID)
						}
						if stopping || c.broken != nil {
							t.Errorf("%s: %T executes %s while nothing may be", name, event, e.Dispatch.ActionID)
						}
					case SendReport, SendProgress, SendPerson, Reopen:
						if !c.open {
							t.Errorf("%s: %T sends without a stream: %v", name, event, words(effects))
						}
					}
				}
			}
			if next := c.Next(); !next.IsZero() && next.Before(start) {
				t.Errorf("%s: after %T the next deadline is %v", name, event, next)
			}
		}
	}
}

// A deadline that has been served does not stay due, or the loop would spin.
func TestNothingStaysDueAfterItWasServed(t *testing.T) {
	for name, path := range everyState {
		c := known()
		run(c, path...)
		now := start.Add(time.Hour)
		c.Step(now, Due{})
		c.Step(now, Due{})
		if next := c.Next(); !next.IsZero() && !next.After(now) {
			t.Errorf("%s: still due at %v", name, next)
		}
	}
}

// frees says whether an event may end an execution, so that the next one begins.
func frees(e Event) bool {
	switch e.(type) {
	case Finished, Released:
		return true
	}
	return false
}
