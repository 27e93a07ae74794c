package replay

import "fmt"

// MaxSteps is how many steps a replay may have altogether.
const MaxSteps = 100_000

// appended is what is remembered of one append, so that it is taken once.
type appended struct {
	hash         string // of the request's body
	first, count int    // its steps
}

// AppendCommand adds steps to the end of an open replay.
type AppendCommand struct {
	RequestID   string // the same id appends once; empty: every call is another one
	RequestHash string // of the request's body
	By          string
	Steps       []Step
	Close       bool // these were the last
}

// DecideAppend adds steps to an open replay, whatever its state: a paused one
// stays paused. What was appended under the same id before changes nothing, also
// when the replay was closed or has ended since.
func (r *Replay) DecideAppend(c AppendCommand) ([]Event, error) {
	known, repeated := r.appends[c.RequestID]
	switch {
	case repeated && known.hash != c.RequestHash:
		return nil, fmt.Errorf("%w: by an append to this replay, with another body", ErrRequestIDTaken)
	case repeated:
		return nil, nil
	case r.State.Ended():
		return nil, fmt.Errorf("%w: it is %v", ErrEnded, r.State)
	case !r.Open:
		return nil, fmt.Errorf("%w: it is closed", ErrNotOpen)
	case len(r.Steps)+len(c.Steps) > MaxSteps:
		return nil, fmt.Errorf("%w: %d and %d more; %d are the limit", ErrTooMany, len(r.Steps), len(c.Steps), MaxSteps)
	}
	events := []Event{Appended{RequestID: c.RequestID, RequestHash: c.RequestHash, By: c.By, Steps: c.Steps}}
	if c.Close {
		events = append(events, Closed{By: c.By})
	}
	return events, nil
}

// DecideClose says that no more steps come. Closing a replay that is closed or
// completed changes nothing.
func (r *Replay) DecideClose(by string) ([]Event, error) {
	switch {
	case r.State == Failed || r.State == Cancelled:
		return nil, fmt.Errorf("%w: it is %v", ErrEnded, r.State)
	case !r.Open:
		return nil, nil
	}
	return []Event{Closed{By: by}}, nil
}

// AppendedBy returns the steps that a request appended; false: it appended none.
func (r *Replay) AppendedBy(requestID string) (first, count int, ok bool) {
	a, ok := r.appends[requestID]
	return a.first, a.count, ok
}

// StepActionIDs returns the ids of the first decisions to run some steps, in the
// order of the steps.
func (r *Replay) StepActionIDs(first, count int) []string {
	ids := make([]string, 0, count)
	for step := first; step < first+count; step++ {
		ids = append(ids, actionID(r.ID, step, 0, 0))
	}
	return ids
}

// StepNamed finds a step by its own name; of several with one name, the first.
func (r *Replay) StepNamed(name string) (int, bool) {
	step, ok := r.names[name]
	return step, ok
}

// Idle says whether the replay is open and has nothing to do until it gets more
// steps or is closed. A paused one waits for a person, and is not idle.
func (r *Replay) Idle() bool {
	if !r.Open || r.InFlight >= 0 || r.helpless > 0 || r.State != Queued && r.State != Running {
		return false
	}
	_, ok := r.Next()
	return !ok
}

// has says whether there is such a step.
func (r *Replay) has(step int) bool { return step >= 0 && step < len(r.Steps) }

func (r *Replay) append(ev Appended) error {
	if !r.Open {
		return impossible(r, ev)
	}
	first := len(r.Steps)
	r.Steps = append(r.Steps, ev.Steps...)
	r.queueFrom(first)
	if ev.RequestID != "" {
		r.appends[ev.RequestID] = appended{hash: ev.RequestHash, first: first, count: len(ev.Steps)}
	}
	return nil
}

// queueFrom makes the first decision to run each step from one on.
func (r *Replay) queueFrom(first int) {
	for step := first; step < len(r.Steps); step++ {
		r.current = append(r.current, 0)
		r.add(Action{Step: step})
		name := r.Steps[step].Name
		if _, taken := r.names[name]; name != "" && !taken {
			r.names[name] = step
		}
	}
}

func (r *Replay) close(ev Closed) error {
	if !r.Open {
		return impossible(r, ev)
	}
	r.Open = false
	return nil
}
