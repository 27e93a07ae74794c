package dispatch

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/server/replay"
)

// walk is a random walk of a machine and its agent.
type walk struct {
	t *rapid.T
	w *world
	a *agent
	n int // replays so far
}

var outcomes = []replay.Report{
	{Success: true, Completion: replay.CompletionCompleted},
	{Success: true, Completion: replay.CompletionCompleted, NoChange: true},
	{Success: true, Completion: replay.CompletionCompleted, NeedsHuman: true},
	{Code: replay.CodeTargetNotFound, Completion: replay.CompletionNotStarted},
	{Code: replay.CodeWrongWindow, Completion: replay.CompletionNotStarted},
	{Code: replay.CodeTimeout, Completion: replay.CompletionUnknown},
	{Code: replay.CodeVerifyFailed, Completion: replay.CompletionCompleted},
}

func (k *walk) step() {
	w, a := k.w, k.a
	switch what := rapid.IntRange(0, 44).Draw(k.t, "what"); what {
	default:
		k.work()
	case 20, 21:
		k.submit()
	case 22:
		a.open()
	case 23:
		a.cut()
	case 24:
		a.crash()
	case 25:
		if rapid.IntRange(0, 2).Draw(k.t, "reinstall") == 0 {
			a.reinstall()
		}
	case 26:
		a.start(rapid.SampledFrom(outcomes).Draw(k.t, "outcome"))
	case 27, 28:
		a.hand(true)
	case 29:
		a.locked = !a.locked
		w.do(Desktop{SessionID: a.session, Usable: !a.locked})
	case 30, 31, 32:
		k.wait()
	case 33:
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(k.t, "seconds")) * time.Second)
		w.do(Sweep{Done: func(Swept) {}})
	case 34, 35, 36:
		k.command()
	case 37, 38:
		if len(w.m.live) > 0 {
			w.resume(w.m.live[0].ID, replay.ResumeCommand{})
		}
	case 39:
		k.mishap()
	case 40, 41, 42, 43:
		k.feed()
	case 44:
		k.w.close(k.replay())
	}
}

// work lets the agent do what comes next; it says whether there was anything.
func (k *walk) work() bool {
	a := k.a
	switch {
	case a.session == "":
		a.open()
	case len(a.inbox) > 0:
		a.read()
	case a.busy != nil:
		a.end()
	case len(a.outbox) > 0:
		a.hand(false)
	case a.held != nil:
		a.start(outcomes[0])
	default:
		return false
	}
	return true
}

// wait lets the machine's next deadline pass; it says whether there was one.
func (k *walk) wait() bool {
	at, ok := k.w.m.Next()
	if ok && at.After(k.w.now) {
		k.w.now = at
	}
	k.w.do(Tick{})
	return ok
}

func (k *walk) submit() {
	k.n++
	c := replay.Created{Open: rapid.Bool().Draw(k.t, "open"), Unattended: rapid.Bool().Draw(k.t, "unattended")}
	least := 1
	if c.Open {
		least = 0
	}
	c.Steps = k.steps(least, 4)
	if rapid.Bool().Draw(k.t, "masked") {
		c.Masks = []replay.Mask{{Monitor: k.n, Width: 1, Height: 0.5}}
	}
	k.w.create(fmt.Sprintf("r%d", k.n), c)
}

func (k *walk) steps(least, most int) []replay.Step {
	kinds := rapid.SampledFrom([]replay.Step{click, click, click, scroll, focus, human, asks})
	return rapid.SliceOfN(kinds, least, most).Draw(k.t, "steps")
}

// feed appends to a replay, now and then with a request that was made before, or
// with its id and another body.
func (k *walk) feed() {
	n := rapid.IntRange(1, 8).Draw(k.t, "request")
	c := replay.AppendCommand{RequestID: fmt.Sprintf("q%d", n), Steps: k.steps(1, 3), Close: rapid.IntRange(0, 9).Draw(k.t, "last") == 0}
	c.RequestHash = rapid.SampledFrom([]string{"body", "body", "body", "other"}).Draw(k.t, "body")
	k.w.feed(k.replay(), c)
}

// replay is one of those that were ever created.
func (k *walk) replay() string {
	if len(k.w.m.live) > 0 && rapid.Bool().Draw(k.t, "current") {
		return k.w.m.live[0].ID
	}
	return fmt.Sprintf("r%d", rapid.IntRange(1, k.n).Draw(k.t, "replay"))
}

func (k *walk) command() {
	id := k.replay()
	switch rapid.IntRange(0, 8).Draw(k.t, "command") {
	case 0:
		k.w.pause(id)
	case 8:
		k.w.command(id, func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("bob", "in other words") })
	case 1:
		k.w.cancel(id)
	case 2:
		k.w.resume(id, replay.ResumeCommand{Skip: true})
	case 3:
		k.w.resume(id, replay.ResumeCommand{From: fmt.Sprintf("%s-%d", id, rapid.IntRange(1, 4).Draw(k.t, "from"))})
	case 4:
		k.w.resume(id, replay.ResumeCommand{Position: &replay.Point{X: 0.5, Y: 0.5}})
	default:
		k.w.resume(id, replay.ResumeCommand{})
	}
}

func (k *walk) mishap() {
	w, a := k.w, k.a
	switch rapid.IntRange(0, 4).Draw(k.t, "mishap") {
	case 0, 1:
		w.fail = true
	case 2:
		a.lose()
		w.restart()
	case 3: // reports that answer nothing
		if a.session == "" {
			return
		}
		w.report(a.session, "r1-9", outcomes[0])
		w.report(a.session, "wait-injected", outcomes[0])
	case 4: // a stream that does not hold the machine
		w.do(Closed{SessionID: "old"})
		w.do(Desktop{SessionID: "old"})
	}
}

// settle lets everything work from here on. Whatever happened before, each replay
// comes to its end.
func (k *walk) settle() {
	w, a := k.w, k.a
	w.fail, a.locked = false, false
	a.open()
	for range 400 {
		if len(w.m.live) == 0 {
			return
		}
		r := w.m.live[0]
		switch {
		case k.work():
		case r.Idle():
			w.close(r.ID)
		case r.State == replay.Paused:
			w.resume(r.ID, replay.ResumeCommand{})
		case !k.wait():
			k.t.Fatalf("%s stands still: %v", r.ID, w)
		}
	}
	k.t.Fatalf("%s does not come to its end: %v", w.m.live[0].ID, w)
}

// Whatever happens to a machine and its agent, in whatever order, the contract's
// invariants hold after every step, no action that is not safe to run twice
// touches the desktop twice, and once all works again every replay ends.
func TestNoOrderOfEventsBreaksAnInvariant(t *testing.T) {
	for name, set := range map[string]func(*Config, *rapid.T){
		"with the usual settings":     func(*Config, *rapid.T) {},
		"with redelivery at the tail": func(c *Config, _ *rapid.T) { c.Policy.RequeueAtTail = true },
		"with small budgets": func(c *Config, t *rapid.T) {
			c.Policy.MaxResends = rapid.IntRange(0, 1).Draw(t, "resends")
			c.Policy.MaxRetries = rapid.IntRange(0, 1).Draw(t, "retries")
			c.Policy.MaxDeliveries = rapid.IntRange(1, 4).Draw(t, "deliveries")
			c.Policy.SwallowedInput = rapid.IntRange(0, 2).Draw(t, "swallowed")
		},
		"with a skipped kind":   func(c *Config, _ *rapid.T) { c.Policy.SkipKinds = map[string]bool{"click": true} },
		"with the watchdog off": func(c *Config, _ *rapid.T) { c.Timeouts.Off = true },
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			cfg := config()
			set(&cfg, t)
			k := &walk{t: t, w: newWorld(t, cfg)}
			k.a = newAgent(k.w)
			k.submit()
			k.a.open()
			for range rapid.IntRange(1, 80).Draw(t, "length") {
				k.step()
				k.a.check()
			}
			k.w.checkJournal()
			k.settle()
			k.a.check()
			k.w.checkJournal()
		}))
	}
}
