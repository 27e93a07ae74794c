package servertest

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// running is the action that executes.
type running struct {
	dispatch *reprisev1.Dispatch
	attempt  string // the newest one
	begun    time.Time
	cancel   context.CancelCauseFunc
}

func (r *running) ref() *reprisev1.ActionRef {
	return &reprisev1.ActionRef{ReplayId: r.dispatch.GetReplayId(), ActionId: r.dispatch.GetActionId(), AttemptId: r.attempt}
}

// dispatched takes in what the server asks for. At most one action is received and
// not begun: a newer one replaces it. The caller holds mu, here and below.
func (a *Agent) dispatched(d *reprisev1.Dispatch) {
	a.waiting = nil
	switch known := a.memory.result(d.GetActionId()); {
	case known != nil:
		a.report(known)
	case a.running == nil:
		a.begin(d)
	case a.running.dispatch.GetActionId() == d.GetActionId():
		a.running.attempt = d.GetAttemptId()
		a.progress(d, reprisev1.ProgressState_PROGRESS_STATE_EXECUTING)
	default:
		a.waiting = d
		a.progress(d, reprisev1.ProgressState_PROGRESS_STATE_RECEIVED)
	}
}

// begin answers an action from memory, or has it executed.
func (a *Agent) begin(d *reprisev1.Dispatch) {
	if r := a.memory.remembered(d); r != nil {
		a.memory.finish(d, r)
		a.report(r)
		return
	}
	if a.desktop.GetKind() > reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE {
		a.refuse(d)
		return
	}
	a.progress(d, reprisev1.ProgressState_PROGRESS_STATE_RECEIVED)
	ctx, cancel := context.WithCancelCause(a.life)
	run := &running{dispatch: d, attempt: d.GetAttemptId(), begun: time.Now(), cancel: cancel}
	a.running = run
	a.work.Go(func() {
		defer cancel(nil)
		a.execute(ctx, run)
	})
}

// refuse says that the desktop takes no input. It is not a result, and not kept.
func (a *Agent) refuse(d *reprisev1.Dispatch) {
	r := a.memory.report(d)
	r.Success, r.Completion, r.Effect = false, reprisev1.Completion_COMPLETION_NOT_STARTED, reprisev1.Effect_EFFECT_NOT_CHECKED
	r.Error = &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE, Message: a.desktop.GetDetail()}
	a.report(r)
}

// execute asks what to do about an action and does it. It runs without mu.
func (a *Agent) execute(ctx context.Context, run *running) {
	reaction := a.react(run.dispatch)
	if !reaction.begins() {
		a.during(run, func() { a.withdraw(run, reaction.does) })
		return
	}
	report := a.result(ctx, run, reaction)
	a.during(run, func() {
		a.memory.begin(run.dispatch)
		if report.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
			a.touched = append(a.touched, stepOf(run.dispatch))
		}
	})
	if reaction.does == diesWithin {
		a.during(run, a.die)
		return
	}
	if err := a.spend(ctx, run, reaction.takes); err != nil {
		cutShort(report, err)
	}
	report.EndedAt = timestamppb.Now()
	a.during(run, func() {
		report.AttemptId = run.attempt
		a.memory.finish(run.dispatch, report)
		if reaction.does == diesAfter {
			a.die()
			return
		}
		a.report(report)
		a.next()
	})
}

// withdraw ends an execution that has not begun.
func (a *Agent) withdraw(run *running, does conduct) {
	switch does {
	case diesBefore:
		a.die()
		a.present = false
		return
	case locked:
		a.setDesktop(&reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "the workstation is locked"})
		a.refuse(run.dispatch)
	}
	a.next()
}

// next goes on with the action that waits.
func (a *Agent) next() {
	a.running = nil
	if d := a.waiting; d != nil {
		a.waiting = nil
		a.begin(d)
	}
}

// during changes the agent's state, if run is what it still executes.
func (a *Agent) during(run *running, f func()) {
	a.change(func() {
		if a.running == run {
			f()
		}
	})
}

// react finds the reaction to an action.
func (a *Agent) react(d *reprisev1.Dispatch) Reaction {
	c := Call{Dispatch: d, Step: stepOf(d), Kind: kind.Of(d.GetAction()).Name}
	var own *Reaction
	a.change(func() {
		key := [2]string{d.GetReplayId(), c.Step}
		a.tries[key]++
		c.Try = a.tries[key]
		a.calls = append(a.calls, c)
		if s := a.steps[c.Step]; s != nil {
			own = &s.reactions[min(s.next, len(s.reactions)-1)]
			s.next++
		}
	})
	if own != nil {
		return *own
	}
	return a.script(c)
}

func stepOf(d *reprisev1.Dispatch) string {
	if name := d.GetAction().GetName(); name != "" {
		return name
	}
	return d.GetActionId()
}

// spend lets an action take its time, with signs of life, and returns why it was
// cut short.
func (a *Agent) spend(ctx context.Context, run *running, takes time.Duration) error {
	if takes <= 0 {
		return nil
	}
	if limit := run.dispatch.GetTimeout().AsDuration(); limit > 0 && limit < takes {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimedOut)
		defer cancel()
	}
	done := time.NewTimer(takes)
	defer done.Stop()
	first, again := a.intervals()
	sign := time.NewTimer(first)
	defer sign.Stop()
	for {
		select {
		case <-done.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sign.C:
			a.during(run, func() { a.progress(run.dispatch, reprisev1.ProgressState_PROGRESS_STATE_EXECUTING) })
			sign.Reset(again)
		}
	}
}

// intervals are when an agent says that an action runs, as the server wants it.
func (a *Agent) intervals() (first, again time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, again = 200*time.Millisecond, 5*time.Second
	if a.stream == nil {
		return first, again
	}
	if d := a.stream.settings.GetProgressAfter().AsDuration(); d > 0 {
		first = d
	}
	if d := a.stream.settings.GetProgressInterval().AsDuration(); d > 0 {
		again = d
	}
	return first, again
}

// cutShort makes the report of an action that was stopped in the middle.
func cutShort(r *reprisev1.Report, why error) {
	code := reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED
	if errors.Is(why, errTimedOut) {
		code = reprisev1.ErrorCode_ERROR_CODE_TIMEOUT
	}
	r.Success, r.Completion, r.Effect = false, reprisev1.Completion_COMPLETION_UNKNOWN, reprisev1.Effect_EFFECT_NOT_CHECKED
	r.Error = &reprisev1.ActionError{Code: code, Message: why.Error()}
}

// result makes the report of an action, with its pictures at the server.
func (a *Agent) result(ctx context.Context, run *running, reaction Reaction) *reprisev1.Report {
	a.mu.Lock()
	r := a.memory.report(run.dispatch)
	if run.dispatch.GetAction().GetScreenshot() != nil && reaction.after == nil {
		reaction.after = a.screen
	}
	a.mu.Unlock()
	r.StartedAt = timestamppb.New(run.begun)
	for _, edit := range reaction.edits {
		edit(r)
	}
	if !r.GetSuccess() {
		r.Target = run.dispatch.GetAction().GetTarget()
	}
	if reaction.does == reports || reaction.does == diesAfter {
		r.ScreenshotBefore = a.picture(ctx, reaction.before, r.GetScreenshotBefore())
		r.ScreenshotAfter = a.picture(ctx, reaction.after, r.GetScreenshotAfter())
	}
	return r
}

func (a *Agent) report(r *reprisev1.Report) {
	a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: r}})
}

func (a *Agent) progress(d *reprisev1.Dispatch, state reprisev1.ProgressState) {
	a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{
		ActionId: d.GetActionId(), AttemptId: d.GetAttemptId(), State: state,
	}}})
}
