package runner

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// world is an agent whose process may die at any moment: the disk holds what was
// written, the desktop counts the input that it got.
type world struct {
	t       *rapid.T
	now     time.Time
	core    *Core
	disk    *spool.Memory
	backlog []Write
	open    bool
	job     *Execute
	stopped bool           // the job was asked to stop
	began   bool           // its "started" is on the disk
	input   bool           // it has sent input
	down    bool           // it, or one before it, left a key down
	freeing bool           // keys are being let go of
	stuck   bool           // they could not be, the last time
	inputs  map[string]int // by step: how often it had an effect
	owed    map[string]bool
	attempt int
	decided map[string]int // by step: the newest decision; no older one is asked for
}

// A step is decided on up to three times; each decision replaces the earlier.
var steps = []string{"click", "type", "move"}

func decision(step string, n int) string {
	return step + []string{"", "_resume", "_resume2"}[n]
}

func (w *world) step(e Event) {
	for _, effect := range w.core.Step(w.now, e) {
		switch e := effect.(type) {
		case Execute:
			if w.job != nil {
				w.t.Fatalf("%s executes beside %s", e.Dispatch.ActionID, w.job.Dispatch.ActionID)
			}
			if w.freeing || (w.down && !w.stuck) {
				w.t.Fatalf("%s executes while a key is down; it is being let go of: %v", e.Dispatch.ActionID, w.freeing)
			}
			w.job, w.stopped, w.began, w.input = &e, false, false, false
		case Release:
			if w.freeing {
				w.t.Fatal("keys are let go of twice at a time")
			}
			if w.job != nil && e.Why == "it failed before" {
				w.t.Fatalf("keys are let go of while %s may send input", w.job.Dispatch.ActionID)
			}
			w.freeing = true
		case Stop:
			w.stopped = true
		case Write:
			w.backlog = append(w.backlog, e)
		case SendReport:
			w.checkReport(e.Report)
		case SendProgress, Reopen:
			if !w.open {
				w.t.Fatalf("%T without a stream", effect)
			}
		}
	}
}

// checkReport holds the agent to "stored before it is sent".
func (w *world) checkReport(r work.Report) {
	if !w.open {
		w.t.Fatal("a report without a stream")
	}
	if r.Outcome.Code == work.DesktopUnavailable || (r.Outcome.Code == work.Internal && r.Outcome.Completion == work.NotStarted) {
		return // not results
	}
	if e, ok := w.disk.Get(r.ActionID); !ok || (e.State != spool.Finished && e.State != spool.Acknowledged) {
		w.t.Fatalf("the report of %s is sent and its result is not on the disk", r.ActionID)
	}
}

func (w *world) dispatch(t *rapid.T) {
	step := rapid.SampledFrom(steps).Draw(t, "step")
	n := rapid.SampledFrom([]int{w.decided[step], w.decided[step], min(w.decided[step]+1, 2)}).Draw(t, "decision")
	w.decided[step] = n
	w.attempt++
	d := work.Dispatch{Ref: work.Ref{ReplayID: "r", ActionID: decision(step, n), AttemptID: fmt.Sprint(w.attempt)}, Safe: step == "move"}
	for earlier := range n {
		d.Replaces = append(d.Replaces, decision(step, earlier))
	}
	w.step(Dispatched{d})
}

func (w *world) begin(*rapid.T) {
	if w.job == nil || w.began || w.stopped {
		return
	}
	d := w.job.Dispatch
	w.disk.Apply(spool.Record{Type: spool.TypeStarted, Ref: d.Ref, Safe: d.Safe})
	w.began = true
	w.step(Began{d.ActionID})
}

func (w *world) sendInput(*rapid.T) {
	if w.job == nil || !w.began || w.input || w.stopped {
		return
	}
	w.input, w.down = true, true
	step := w.job.Dispatch.ActionID
	for _, s := range steps {
		if len(step) >= len(s) && step[:len(s)] == s {
			w.inputs[s]++
		}
	}
}

// click takes a step up to its input, so that walks reach what lies behind.
func (w *world) click(t *rapid.T) {
	w.dispatch(t)
	w.begin(t)
	w.sendInput(t)
}

func (w *world) finish(t *rapid.T) {
	if w.job == nil {
		return
	}
	id := w.job.Dispatch.ActionID
	outcomes := []work.Outcome{failed(work.TargetNotFound, work.NotStarted), failed(work.DesktopUnavailable, work.NotStarted)}
	if w.input {
		outcomes = []work.Outcome{done, failed(work.VerifyFailed, work.Completed), failed(work.DesktopUnavailable, work.Unknown)}
	}
	if w.stopped {
		completion := work.NotStarted
		if w.input {
			completion = work.Unknown
		}
		outcomes = append(outcomes, failed(work.Interrupted, completion))
	}
	w.job, w.down = nil, false
	w.step(Finished{id, rapid.SampledFrom(outcomes).Draw(t, "outcome")})
}

// panic ends the executor; what it pressed stays down.
func (w *world) panic(*rapid.T) {
	if w.job == nil {
		return
	}
	id := w.job.Dispatch.ActionID
	w.job = nil
	w.step(Panicked{id})
}

func (w *world) letGo(t *rapid.T) {
	if !w.freeing {
		return
	}
	w.freeing, w.stuck = false, rapid.IntRange(0, 4).Draw(t, "luck") == 0
	if w.stuck {
		w.step(Released{errDisk})
		return
	}
	w.down = false
	w.step(Released{})
}

func (w *world) write(*rapid.T) {
	if len(w.backlog) == 0 {
		return
	}
	e := w.backlog[0]
	w.backlog = w.backlog[1:]
	w.disk.Apply(e.Record)
	if e.Record.Type == spool.TypeResult {
		w.owed[e.Record.ActionID] = true
	}
	if e.Record.Type == spool.TypeAcknowledged {
		delete(w.owed, e.Record.ActionID)
	}
	if e.Await {
		w.step(Stored{e.Record.ActionID, nil})
	}
}

func (w *world) acknowledge(t *rapid.T) {
	results := w.core.Opening().Results
	if !w.open || len(results) == 0 {
		return
	}
	r := rapid.SampledFrom(results).Draw(t, "result")
	w.step(Acked{Ack{r.ActionID, r.AttemptID}})
}

func (w *world) toggleStream(t *rapid.T) {
	w.open = !w.open
	if w.open {
		w.core.Hail()
		w.step(Opened{Stop: rapid.Bool().Draw(t, "stop")})
		return
	}
	w.step(Lost{})
}

func (w *world) crash(*rapid.T) {
	w.core, w.backlog, w.job, w.open, w.freeing, w.stuck = NewCore(w.disk, 0), nil, nil, false, false, false
	w.step(Starting{Crashed: true})
}

func (w *world) pass(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 70_000).Draw(t, "ms")) * time.Millisecond)
	w.step(Due{})
}

func (w *world) check(t *rapid.T) {
	for _, s := range steps {
		if s != "move" && w.inputs[s] > 1 {
			t.Fatalf("%s had %d effects", s, w.inputs[s])
		}
	}
	var told []string
	for _, r := range w.core.Opening().Results {
		told = append(told, r.ActionID)
	}
	for id := range w.owed {
		pending := slices.ContainsFunc(w.backlog, func(e Write) bool { return e.Record.Type == spool.TypeAcknowledged && e.Record.ActionID == id })
		if !pending && !slices.Contains(told, id) {
			t.Fatalf("the result of %s is not acknowledged and no longer told", id)
		}
	}
}

// Short walks rarely cross a crash and a second decision. A flag on the command
// line still wins.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.steps": "150", "rapid.checks": "300"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

func TestNoWalkGivesAnUnsafeStepASecondEffectLosesAResultOrExecutesOverAKeyThatIsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk := spool.NewMemory()
		w := &world{t: t, now: start, core: NewCore(disk, 0), disk: disk, inputs: map[string]int{}, owed: map[string]bool{}, decided: map[string]int{}}
		t.Repeat(map[string]func(*rapid.T){
			"dispatch": w.dispatch, "click": w.click, "begin": w.begin, "input": w.sendInput, "finish": w.finish,
			"write": w.write, "write more": w.write, "acknowledge": w.acknowledge, "stream": w.toggleStream, "crash": w.crash, "time": w.pass,
			"panic": w.panic, "let go": w.letGo, "let go soon": w.letGo,
			"cancel": func(*rapid.T) { w.step(Cancelled{ReplayID: "r"}) },
			"stop":   func(*rapid.T) { w.step(Stopping{}) },
			"":       w.check,
		})
	})
}
