package replay

import "testing"

// condition is a state that a test can bring the action "r-1" and its replay into.
type condition struct {
	name    string
	prepare func(t testing.TB) *world
}

// input is something that a replay meets. It returns what was answered, if that
// is worth a word.
type input struct {
	name string
	meet func(*world) string
}

// actionConditions are the states of an action, told apart where the contract
// tells them apart.
var actionConditions = []condition{
	{"QUEUED", func(t testing.TB) *world { return begin(t, click, click) }},
	{"DISPATCHED", func(t testing.TB) *world { return running(t, click, click) }},
	{"QUEUED again", after(func(w *world) { w.orphan() })},
	{"ACKED", after(func(w *world) { w.take("r-1", success) })},
	{"NEEDS_HELP, reported", after(func(w *world) { w.take("r-1", failed(CodeWrongWindow, CompletionNotStarted)) })},
	{"NEEDS_HELP, unreported", after(func(w *world) { w.apply(w.r.DecideAgentAway()...) })},
	{"SUPERSEDED, `_resume` queued", after(func(w *world) { w.giveUp(); w.quietly(ResumeCommand{}) })},
	{"SUPERSEDED, `_resume` sent", after(func(w *world) { w.giveUp(); w.resume(ResumeCommand{}) })},
	{"SKIPPED", after(func(w *world) { w.giveUp(); w.quietly(ResumeCommand{Skip: true}) })},
	{"ABANDONED, went on", func(t testing.TB) *world {
		w := running(t, scroll, click)
		w.giveUp()
		return w
	}},
	{"ABANDONED, paused", after(func(w *world) { w.giveUp() })},
	{"FAILED", func(t testing.TB) *world {
		w := running(t, with(click, func(s *Step) { s.FailExhausted, s.MaxRetries = true, 0 }), click)
		w.take("r-1", failed(CodeTimeout, CompletionNotStarted))
		return w
	}},
	{"CANCELLED", after(func(w *world) { w.command(w.r.DecideCancel("alice", "")) })},
}

// replayConditions are the states of a replay.
var replayConditions = []condition{
	{"QUEUED", func(t testing.TB) *world { return begin(t, click, click) }},
	{"RUNNING, in flight", func(t testing.TB) *world { return running(t, click, click) }},
	{"RUNNING, queued", after(func(w *world) { w.orphan() })},
	{"RUNNING, all settled", func(t testing.TB) *world {
		w := running(t, click)
		w.take("r-1", success)
		return w
	}},
	{"PAUSED, pausing", after(func(w *world) { w.pause() })},
	{"PAUSED, to decide", after(func(w *world) { w.take("r-1", failed(CodeWrongWindow, CompletionNotStarted)) })},
	{"PAUSED, nothing to decide", after(func(w *world) { w.pause(); w.take("r-1", success) })},
	{"PAUSED, before a step", func(t testing.TB) *world { return running(t, checked, click) }},
	{"QUEUED, open, no step", func(t testing.TB) *world { return open(t) }},
	{"RUNNING, open, in flight", openAfter(func(*world) {})},
	{"RUNNING, open, all settled", openAfter(func(w *world) { w.report("r-1", success) })},
	{"PAUSED, open, nothing to decide", openAfter(func(w *world) { w.pause(); w.take("r-1", success) })},
	{"COMPLETED", func(t testing.TB) *world {
		w := running(t, click)
		w.report("r-1", success)
		return w
	}},
	{"FAILED", func(t testing.TB) *world { return actionConditions[11].prepare(t) }},
	{"CANCELLED", after(func(w *world) { w.command(w.r.DecideCancel("alice", "")) })},
}

func after(f func(*world)) func(testing.TB) *world {
	return func(t testing.TB) *world {
		w := running(t, click, click)
		f(w)
		return w
	}
}

func openAfter(f func(*world)) func(testing.TB) *world {
	return func(t testing.TB) *world {
		w := open(t, click)
		w.next()
		f(w)
		return w
	}
}

var reports = []input{
	{"success", reported(success)},
	{"failure, retries left", reported(failed(CodeTargetNotFound, CompletionNotStarted))},
	{"failure, no retries left", func(w *world) string {
		w.policy.MaxRetries = 0
		return reported(failed(CodeTargetNotFound, CompletionNotStarted))(w)
	}},
	{"failure for a person", reported(failed(CodeInputBlocked, CompletionNotStarted))},
	{"`desktop_unavailable`", reported(failed(CodeDesktopUnavailable, CompletionNotStarted))},
	{"success from another memory", reported(Report{Success: true, SpoolID: "spool0"})},
}

var deliveries = []input{
	{"machine free", func(w *world) string { return w.settle(w.r.DecideNext(there)) }},
	{"deadline, resends left", func(w *world) string { return w.settle(w.r.DecideOrphan("r-1", w.policy, false)) }},
	{"deadline, none left", func(w *world) string { return w.settle(w.r.DecideOrphan("r-1", Policy{}, false)) }},
	{"no receipt", func(w *world) string { return w.settle(w.r.DecideNotReceived("r-1", w.policy, false)) }},
}

var openings = []input{
	{"executing it", func(w *world) string {
		verdict, events := w.r.DecideExecuting("r-1", "r-1.1")
		w.apply(events...)
		return map[Executing]string{GoOn: "go on", Stop: "stop"}[verdict]
	}},
	{"same process", func(w *world) string {
		return w.settle(w.r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, w.policy, false))
	}},
	{"new process", func(w *world) string {
		return w.settle(w.r.DecideReconnect(Session{BootID: "boot2"}, Reconnect, w.policy, false))
	}},
	{"another memory", func(w *world) string { return w.settle(w.r.DecideOtherMemory("spool2")) }},
	{"away past the grace", func(w *world) string { return w.settle(w.r.DecideAgentAway()) }},
}

var commands = []input{
	{"pause", func(w *world) string { return w.command(w.r.DecidePause("alice", "")) }},
	{"resume", func(w *world) string { return w.command(w.r.DecideResume(ResumeCommand{Acked: w.required()})) }},
	{"resume, skip", func(w *world) string {
		return w.command(w.r.DecideResume(ResumeCommand{Skip: true, Acked: w.required()}))
	}},
	{"resume from it", func(w *world) string {
		return w.command(w.r.DecideResume(ResumeCommand{From: "r-1", Acked: w.required()}))
	}},
	{"cancel", func(w *world) string { return w.command(w.r.DecideCancel("alice", "")) }},
}

// feeding is what those say who left a replay open; what follows from it by itself
// is in the cell.
var feeding = []input{
	{"append", func(w *world) string {
		return w.fed(w.r.DecideAppend(AppendCommand{RequestID: "a", Steps: []Step{click}}))
	}},
	{"append and close", func(w *world) string {
		return w.fed(w.r.DecideAppend(AppendCommand{RequestID: "a", Steps: []Step{click}, Close: true}))
	}},
	{"close", func(w *world) string { return w.fed(w.r.DecideClose("alice")) }},
}

func (w *world) fed(events []Event, err error) string {
	answer := w.command(events, err)
	if len(events) > 0 {
		w.apply(w.r.DecideNext(there)...)
	}
	return answer
}
