package replay

import (
	"fmt"
	"slices"
	"time"
)

// Entry is one record and the head of its replay after it: what the journal
// stores in one transaction.
type Entry struct {
	Record Record
	Head   Head
}

// Fold makes a replay of its records, which are all of them from the first.
func Fold(records []Record) (*Replay, error) {
	r := &Replay{}
	for _, rec := range records {
		if err := r.Apply(rec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Apply moves the replay by one record. An error means that the record does not
// follow from the ones before; the replay is then of no use any more.
func (r *Replay) Apply(rec Record) error {
	if rec.Seq != r.Revision+1 {
		return fmt.Errorf("replay %s: record %d follows %d", rec.ReplayID, rec.Seq, r.Revision)
	}
	for _, ev := range rec.Events {
		if err := r.ApplyEvent(rec.ReplayID, ev, rec.At); err != nil {
			return err
		}
	}
	r.Revision = rec.Seq
	return nil
}

// ApplyEvent moves the replay by one event of a record that is being made; the
// record's sequence number counts once, when it is complete.
func (r *Replay) ApplyEvent(id string, ev Event, at time.Time) error {
	if c, ok := ev.(Created); ok {
		return r.create(id, c, at)
	}
	if r.ID == "" || r.State.Ended() {
		return impossible(r, ev)
	}
	r.UpdatedAt = at
	err := r.apply(ev, at)
	r.advance()
	return err
}

func (r *Replay) apply(ev Event, at time.Time) error {
	switch ev := ev.(type) {
	case Started:
		r.started = true
		if r.State == Queued {
			r.State = Running
		}
		return nil
	case Appended:
		return r.append(ev)
	case Closed:
		return r.close(ev)
	case PausedBy:
		return r.pause(ev, at)
	case GatePassed:
		if !r.has(ev.Step) {
			return impossible(r, ev)
		}
		r.passGate(ev.Step, false)
		return nil
	case Resumed:
		return r.resume(ev)
	case Ended:
		r.end(ev, at)
		return nil
	case Dispatched:
		return r.withAction(ev.ActionID, ev, func(i int) error { return r.dispatch(i, ev, at) })
	case Adopted:
		return r.withAction(ev.ActionID, ev, func(i int) error { return r.adopt(i, ev) })
	case Requeued:
		return r.withAction(ev.ActionID, ev, func(i int) error { return r.requeue(i, ev, at) })
	case Reported:
		return r.withAction(ev.ActionID, ev, func(i int) error { return r.report(i, ev) })
	case LostMemory:
		return r.withAction(ev.ActionID, ev, r.loseMemory)
	case GaveUp:
		return r.withAction(ev.ActionID, ev, func(i int) error {
			r.setState(i, ActionAbandoned)
			return nil
		})
	}
	return impossible(r, ev)
}

func (r *Replay) withAction(id string, ev Event, f func(int) error) error {
	i, ok := r.byID[id]
	if !ok {
		return fmt.Errorf("replay %s at %d: %T names the unknown action %q", r.ID, r.Revision, ev, id)
	}
	return f(i)
}

func (r *Replay) create(id string, c Created, at time.Time) error {
	if r.ID != "" {
		return impossible(r, c)
	}
	*r = Replay{
		ID: id, MachineID: c.MachineID, Workflow: c.Workflow, RequestID: c.RequestID, RequestHash: c.RequestHash,
		Labels: c.Labels, Unattended: c.Unattended, Masks: c.Masks, Popups: c.Popups, Open: c.Open, State: Queued, InFlight: -1, CreatedAt: at, UpdatedAt: at,
		Actions: make([]Action, 0, len(c.Steps)), current: make([]int, 0, len(c.Steps)),
		older: map[int][]int{}, byID: make(map[string]int, len(c.Steps)), gatePassed: map[int]bool{},
		appends: map[string]appended{}, names: make(map[string]int, len(c.Steps)),
	}
	r.Steps = slices.Clip(c.Steps) // what is appended must not grow into the event's own steps
	r.queueFrom(0)
	return nil
}

// decide adds another decision to run a step, in the place of the current one;
// it is queued at the head.
func (r *Replay) decide(a Action) {
	r.older[a.Step] = append(r.older[a.Step], r.current[a.Step])
	r.add(a)
	r.toHead(a.Step)
}

func (r *Replay) add(a Action) {
	a.ID, a.State = actionID(r.ID, a.Step, a.Resumes, a.Retries), ActionQueued
	r.Actions = append(r.Actions, a)
	r.current[a.Step] = len(r.Actions) - 1
	r.byID[a.ID] = len(r.Actions) - 1
}

func (r *Replay) toHead(step int) {
	r.cursor = min(r.cursor, step)
	r.tail = slices.DeleteFunc(r.tail, func(s int) bool { return s == step })
}

// advance keeps the queue an index over the states: the cursor stands at the
// first queued step that is not at the tail.
func (r *Replay) advance() {
	for r.cursor < len(r.Steps) && (!r.queued(r.cursor) || slices.Contains(r.tail, r.cursor)) {
		r.cursor++
	}
	r.tail = slices.DeleteFunc(r.tail, func(s int) bool { return !r.queued(s) })
}

func (r *Replay) queued(step int) bool { return r.Current(step).State == ActionQueued }

// Current returns the newest decision to run a step.
func (r *Replay) Current(step int) *Action { return &r.Actions[r.current[step]] }

// Next returns the step at the head of the queue; false: the queue is empty.
func (r *Replay) Next() (int, bool) {
	switch {
	case r.State.Ended():
		return 0, false
	case r.cursor < len(r.Steps):
		return r.cursor, true
	case len(r.tail) > 0:
		return r.tail[0], true
	}
	return 0, false
}

// Find returns the action with an id; nil: the replay has none.
func (r *Replay) Find(actionID string) *Action {
	if i, ok := r.byID[actionID]; ok {
		return &r.Actions[i]
	}
	return nil
}

// setState is the only way an action's state changes.
func (r *Replay) setState(i int, s ActionState) {
	a := &r.Actions[i]
	if r.current[a.Step] == i {
		r.Settled += settled(s) - settled(a.State)
		r.helpless += helpless(s) - helpless(a.State)
	}
	if r.InFlight == i {
		r.InFlight = -1
	}
	if s == ActionDispatched {
		r.InFlight = i
	}
	a.State = s
}

func settled(s ActionState) int {
	switch s {
	case ActionAcked, ActionSkipped, ActionAbandoned:
		return 1
	}
	return 0
}

func helpless(s ActionState) int {
	if s == ActionNeedsHelp {
		return 1
	}
	return 0
}

func (r *Replay) dispatch(i int, ev Dispatched, at time.Time) error {
	a := &r.Actions[i]
	if a.State != ActionQueued || r.InFlight >= 0 || r.State != Running {
		return impossible(r, ev)
	}
	a.AttemptID, a.SpoolID, a.BootID, a.Reason, a.Lost = ev.AttemptID, ev.SpoolID, ev.BootID, ev.Reason, false
	a.Dispatches++
	a.Deliveries++
	a.LastDispatchedAt = at
	if a.FirstDispatchedAt.IsZero() {
		a.FirstDispatchedAt = at
	}
	r.setState(i, ActionDispatched)
	return nil
}

func (r *Replay) adopt(i int, ev Adopted) error {
	if r.InFlight >= 0 && r.InFlight != i {
		return impossible(r, ev)
	}
	if r.Pause != nil && r.Pause.Decide == ev.ActionID {
		r.Pause.Decide = ""
	}
	if ev.AttemptID != "" {
		r.Actions[i].AttemptID = ev.AttemptID
	}
	r.setState(i, ActionDispatched)
	return nil
}

func (r *Replay) requeue(i int, ev Requeued, at time.Time) error {
	a := &r.Actions[i]
	if a.State != ActionDispatched {
		return impossible(r, ev)
	}
	r.setState(i, ActionQueued)
	a.Reason = ev.Reason
	switch {
	case ev.Refund:
		a.Deliveries--
	default:
		a.LastResentAt = at
	}
	if ev.Spent {
		a.Resent++
	}
	if ev.Tail {
		r.tail = append(r.tail, a.Step)
		return nil
	}
	r.toHead(a.Step)
	return nil
}

// loseMemory leaves a step to a person, unless it is safe to run twice: whether
// the action, or the decision that replaced it, has run is known to nobody.
func (r *Replay) loseMemory(i int) error {
	step := r.Actions[i].Step
	r.Actions[i].Lost = true
	if s := r.Current(step).State; !r.Steps[step].Safe && (s == ActionDispatched || s == ActionQueued) {
		r.setState(r.current[step], ActionNeedsHelp)
	}
	return nil
}

func (r *Replay) end(ev Ended, at time.Time) {
	for i := range r.Actions {
		switch r.Actions[i].State {
		case ActionQueued, ActionDispatched, ActionNeedsHelp:
			r.setState(i, ActionCancelled)
		}
	}
	r.State, r.EndReason, r.EndedAt, r.Pause, r.Open = ev.State, ev.Reason, at, nil, false
}
