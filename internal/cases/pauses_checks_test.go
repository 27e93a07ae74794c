package cases

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// awaitPause waits until the replay is paused for a reason, with nothing in
// flight, to decide on an action: the empty string, or what follows the replay's
// id in the action'w.
func (w *ward) awaitPause(id string, reason reprisev1.PauseReason, decide string) *reprisev1.Replay {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Hour)
	defer cancel()
	watch, err := w.replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id})
	w.must(err)
	for {
		res, err := watch.Recv()
		if err != nil {
			r := w.get(id)
			w.t.Fatalf("the replay is %v for %v, want paused for %v: %v", r.GetState(), r.GetPause().GetReason(), reason, err)
		}
		if r := res.GetReplay(); !r.GetPausing() && r.GetPause().GetReason() == reason {
			break
		}
	}
	r := w.get(id)
	if decide != "" {
		decide = id + decide
	}
	if got := r.GetPause().GetActionToDecide(); got != decide {
		w.t.Errorf("to decide on %q, want %q", got, decide)
	}
	if r.GetPause().GetMessage() == "" {
		w.t.Error("the pause says nothing to a person")
	}
	return r
}

// stays checks that a paused replay dispatches nothing, and that its agent was
// told of the pause in the words that people read.
func (w *ward) stays(r *reprisev1.Replay) {
	w.t.Helper()
	w.rests()
	told := seen(w.relay, func(m message) (string, bool) {
		p := m.down.GetPause()
		return p.GetMessage(), p.GetPauseId() == r.GetPause().GetPauseId() && p.GetReason() == r.GetPause().GetReason()
	})
	if !slices.Contains(told, r.GetPause().GetMessage()) {
		w.t.Errorf("the agent was told %q of the pause, people %q", told, r.GetPause().GetMessage())
	}
}

// rests checks that nothing is in flight, and nothing dispatched for a while.
func (w *ward) rests() {
	w.t.Helper()
	sent := len(w.relay.dispatches())
	time.Sleep(20 * time.Second)
	if now := w.relay.dispatches(); len(now) != sent {
		w.t.Errorf("a paused replay dispatched %s", now[sent].GetActionId())
	}
	if w.machine().GetActionInFlight() != "" {
		w.t.Errorf("%s is in flight", w.machine().GetActionInFlight())
	}
}

// says checks the words of a pause.
func (w *ward) says(r *reprisev1.Replay, parts ...string) {
	w.t.Helper()
	for _, part := range parts {
		if got := r.GetPause().GetMessage(); !strings.Contains(got, part) {
			w.t.Errorf("the pause says %q, want %q in it", got, part)
		}
	}
}

// resumeWith resumes a replay in a special way.
func (w *ward) resumeWith(req *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
	return w.replays.ResumeReplay(w.ctx, req)
}

func (w *ward) skip(id string) {
	w.t.Helper()
	_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP})
	w.must(err)
}

// refused checks a command's error: its code, its reason for programs, and what
// it says to people.
func (w *ward) refused(err error, code codes.Code, reason string, parts ...string) {
	w.t.Helper()
	st := status.Convert(err)
	got := ""
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			got = info.GetReason()
		}
	}
	if st.Code() != code || got != reason {
		w.t.Errorf("refused with %v %s (%v), want %v %s", st.Code(), got, err, code, reason)
	}
	for _, part := range parts {
		if !strings.Contains(st.Message(), part) {
			w.t.Errorf("the refusal says %q, want %q in it", st.Message(), part)
		}
	}
}

// ids are the replay's decisions to run its steps, with their states.
func (w *ward) ids(id string) map[string]reprisev1.ActionState {
	w.t.Helper()
	all := map[string]reprisev1.ActionState{}
	for _, a := range w.get(id).GetActions() {
		all[strings.TrimPrefix(a.GetActionId(), id)] = a.GetState()
	}
	return all
}

// actions checks all decisions of a replay and their states.
func (w *ward) actions(id string, want map[string]reprisev1.ActionState) {
	w.t.Helper()
	if got := w.ids(id); !maps.Equal(got, want) {
		w.t.Errorf("the actions are %v, want %v", got, want)
	}
}

// The states of an action, in short.
const (
	acked      = reprisev1.ActionState_ACTION_STATE_ACKED
	queued     = reprisev1.ActionState_ACTION_STATE_QUEUED
	needsHelp  = reprisev1.ActionState_ACTION_STATE_NEEDS_HELP
	superseded = reprisev1.ActionState_ACTION_STATE_SUPERSEDED
	skipped    = reprisev1.ActionState_ACTION_STATE_SKIPPED
	abandoned  = reprisev1.ActionState_ACTION_STATE_ABANDONED
	cancelled  = reprisev1.ActionState_ACTION_STATE_CANCELLED
)
