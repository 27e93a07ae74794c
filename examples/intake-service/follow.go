package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Status is how an intake stands, for the front desk.
type Status struct {
	State     string   `json:"state"`                // queued, running, paused, completed, failed, cancelled
	Steps     int      `json:"steps"`                // of the workflow
	Done      int      `json:"done"`                 // carried out by the machine
	ByHand    int      `json:"by_hand"`              // left to a person
	GivenUp   int      `json:"given_up"`             // passed over, since the agent never answered
	AgentAway bool     `json:"agent_away,omitempty"` // nothing moves until it is back
	Need      *Need    `json:"need,omitempty"`       // a person must decide
	Why       string   `json:"why,omitempty"`        // it failed or was cancelled
	Log       []string `json:"log"`                  // what has happened, in order
	Stale     bool     `json:"stale,omitempty"`      // the server cannot be asked at the moment
	Trouble   string   `json:"trouble,omitempty"`    // why not, for whoever looks after this service
	Lost      bool     `json:"lost,omitempty"`       // it is not asked again; the same form once more follows anew
}

// Need is why a person is needed.
type Need struct {
	PauseID string  `json:"pause_id"` // to be given with the decision
	Reason  string  `json:"reason"`   // such as outcome_unknown
	Message string  `json:"message"`
	Step    string  `json:"step,omitempty"` // the action to decide on: retry or skip
	Checks  []Check `json:"checks,omitempty"`
}

// Check is something to confirm.
type Check struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Required bool   `json:"required"`
}

// follower keeps the status of one replay.
type follower struct {
	replayID string
	revision int64                            // up to which all events were seen; run's own
	actions  map[string]reprisev1.ActionState // run's own

	mu     sync.Mutex
	status Status
}

func (f *follower) get() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.status
	s.Log = append([]string(nil), s.Log...)
	return s
}

// run follows the replay until it has ended or ctx ends. A watch that breaks, for
// example because the server is restarted, goes on after the last revision that was
// seen: no event is missed and none comes twice. Whatever keeps the status from being
// true stands in it.
func (f *follower) run(ctx context.Context, replays reprisev1.ReplayServiceClient) error {
	var r retries
	for ctx.Err() == nil {
		before := f.revision
		err := f.watch(ctx, replays)
		if err == nil {
			return nil
		}
		if f.revision > before {
			r = retries{} // it was a healthy stream
		}
		f.fail(err, false)
		if !r.more(ctx, err) && ctx.Err() == nil {
			f.fail(err, true) // forgotten, not ours to see, or never whole
			return fmt.Errorf("%s: %w", trouble(err), err)
		}
	}
	return nil // the service ends
}

// fail notes that the status is not what the server has.
func (f *follower) fail(err error, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Stale, f.status.Trouble, f.status.Lost = true, trouble(err), lost
}

// watch follows one stream and returns nil when the replay has ended.
func (f *follower) watch(ctx context.Context, replays reprisev1.ReplayServiceClient) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of the stream
	stream, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: f.replayID, AfterRevision: &f.revision})
	if err != nil {
		return err
	}
	for {
		change, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.take(change)
	}
}

// take takes a change in.
func (f *follower) take(change *reprisev1.WatchReplayResponse) {
	r := change.GetReplay()
	for _, a := range r.GetActions() { // all at first, later those that have changed
		f.actions[a.GetActionId()] = a.GetState()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.status
	s.Stale, s.Trouble = false, ""
	s.State, s.Steps = word(r.GetState().String(), "REPLAY_STATE_"), int(r.GetActionCount())
	s.AgentAway, s.Why, s.Need = r.GetAgentAway(), r.GetEndReason(), need(r.GetPause())
	s.Done, s.ByHand, s.GivenUp = 0, 0, 0
	for _, state := range f.actions {
		switch state {
		case reprisev1.ActionState_ACTION_STATE_ACKED:
			s.Done++
		case reprisev1.ActionState_ACTION_STATE_SKIPPED:
			s.ByHand++
		case reprisev1.ActionState_ACTION_STATE_ABANDONED:
			s.GivenUp++
		}
	}
	for _, e := range change.GetEvents() {
		s.Log = append(s.Log, strings.TrimSpace(e.GetType()+" "+e.GetActionId()))
	}
	f.revision = r.GetRevision()
}

func need(p *reprisev1.PauseInfo) *Need {
	if p == nil {
		return nil
	}
	n := &Need{PauseID: p.GetPauseId(), Reason: word(p.GetReason().String(), "PAUSE_REASON_"), Message: p.GetMessage(), Step: p.GetActionToDecide()}
	for _, c := range p.GetSafetyChecks() {
		n.Checks = append(n.Checks, Check{ID: c.GetId(), Label: c.GetLabel(), Required: c.GetRequired()})
	}
	return n
}

// word is an enum value's name as people write it.
func word(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }
