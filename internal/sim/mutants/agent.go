package mutants

// agent are mistakes in what the agent remembers and when it says so.
var agent = []Mutant{
	{
		Name: "done-before-input", Promise: "C6, lost: a result is stored when the input has been sent, not before",
		File: "agent/runner/core.go",
		Old:  "c.began(e.ActionID)",
		New: `c.began(e.ActionID)
		if r := c.running; r != nil {
			done := work.Outcome{Completion: work.Completed}
			return []Effect{c.write(spool.Record{Type: spool.TypeResult, Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, Outcome: &done})}
		}`,
	},
	{
		Name: "reported-before-it-is-stored", Promise: "C6: the result is on disk before the report is sent",
		File: "agent/runner/execution.go",
		Old:  "r.phase = storing\n\treturn []Effect{r.result()}",
		New: `r.phase = storing
	early := work.Report{Ref: r.Ref, SessionID: r.SessionID, Outcome: r.outcome}
	return []Effect{c.send(now, early), r.result()}`,
	},
	{
		Name: "forgotten-before-it-is-acknowledged", Promise: "C7: a result is kept until the server has acknowledged it",
		File: "agent/runner/execution.go",
		Old:  "effects = append(effects, c.send(now, report(entry)))",
		New:  "effects = append(effects, c.send(now, report(entry)), c.write(spool.Record{Type: spool.TypeAcknowledged, Ref: entry.Ref}))",
	},
	{
		Name: "a-newer-dispatch-does-not-replace-the-waiting-one", Promise: "section 4: a newer dispatch replaces the one that waits",
		File: "agent/runner/dispatch.go",
		Old:  "c.waiting = nil\n\tif e, ok := c.memory.Get(d.ActionID); ok && (",
		New:  "if c.waiting != nil {\n\t\treturn nil\n\t}\n\tif e, ok := c.memory.Get(d.ActionID); ok && (",
	},
	{
		Name: "the-end-of-the-stream-keeps-the-waiting-one", Promise: "section 4: the end of the stream drops what waits",
		File: "agent/runner/core.go",
		Old:  "c.open, c.leaving, c.waiting = false, false, nil",
		New:  "c.open, c.leaving = false, false",
	},
	{
		Name: "a-cancel-leaves-the-waiting-one", Promise: "I4: nothing of a cancelled replay is done any more",
		File: "agent/runner/execution.go",
		Old:  "if c.waiting != nil && meant(c.waiting.Ref) {",
		New:  "if c.waiting != nil && c.running == nil && meant(c.waiting.Ref) {",
	},
	{
		Name: "a-cancel-does-not-stop-the-running-one", Promise: "5.5: the agent stops at the next safe point",
		File: "agent/runner/execution.go",
		Old:  "if c.running != nil && meant(c.running.Ref) {",
		New:  "if c.running != nil && !c.running.busy && meant(c.running.Ref) {",
	},
	{
		Name: "an-action-begins-without-being-vouched-for", Promise: "I4, C2: what was taken back while the agent stood still is not done",
		File: "agent/link/lease.go",
		Old:  "l.beginning = patience{waits: true}\n\treturn false, l.ask(now)",
		New:  "l.beginning = patience{}\n\treturn true, 0",
	},
	{
		Name: "what-it-replaces-is-ignored", Promise: "section 4: an id whose predecessor has run is answered without input",
		File: "agent/runner/dispatch.go",
		Old:  "for _, id := range d.Replaces {",
		New:  "for _, id := range d.Replaces[:0] {",
	},
	{
		Name: "an-unusable-desktop-is-stored", Promise: "section 4: desktop_unavailable is not stored",
		File: "agent/runner/execution.go",
		Old:  "case r.outcome.Code == work.DesktopUnavailable:",
		New:  "case r.outcome.Code == work.DesktopUnavailable && c.stopping:",
	},
	{
		Name: "what-had-started-runs-again", Promise: "I8, C4: what started and has no result is not executed again",
		File: "agent/runner/dispatch.go",
		Old:  "if e, ok := c.memory.Get(d.ActionID); ok && !d.Safe {",
		New:  "if e, ok := c.memory.Get(d.ActionID); ok && !d.Safe && e.State != spool.Started {",
	},
	{
		Name: "what-is-executing-queues-behind-itself", Promise: "C4: a dispatch of what is executing is answered with progress",
		File: "agent/runner/dispatch.go",
		Old:  "if c.runs(d.ActionID) {",
		New:  "if c.runs(d.ActionID) && c.running.phase != executing {",
	},
	{
		Name: "redelivery-overwrites-the-result", Promise: "C4: a finished action is answered with its stored result",
		File: "agent/runner/dispatch.go",
		Old:  "(e.State == spool.Finished || e.State == spool.Acknowledged)",
		New:  "e.State == spool.Acknowledged",
	},
	{
		Name: "the-hello-hides-what-has-started", Promise: "section 4: the hello lists what has started and has no result",
		File: "agent/runner/opening.go",
		Old:  "if e.ActionID != current {",
		New:  "if current != \"\" && e.ActionID != current {",
	},
	{
		Name: "an-unacknowledged-report-waits-for-ever", Promise: "C10: a report without an answer reopens the stream",
		File: "agent/runner/core.go",
		Old:  "c.sent[r.ActionID] = now\n",
		New:  "c.sent[r.ActionID] = now.Add(1000 * c.settings.ReportAck)\n",
	},
	{
		Name: "a-pause-is-shown-again", Promise: "C5: a pause is shown once, however often it is repeated",
		File: "agent/runner/person.go",
		Old:  "c.shown = append(c.shown, p.PauseID)",
		New:  "c.shown = []string{p.ReplayID}",
	},
	{
		Name: "no-action-takes-too-long", Promise: "3.1: an action runs no longer than its longest time",
		File: "agent/runner/execution.go",
		Old:  "case r.cause == nil && past(r.deadline):",
		New:  "case r.cause == nil && past(r.deadline) && r.Safe:",
	},
	{
		Name: "what-is-not-acknowledged-is-evicted", Promise: "section 4: what is unfinished or unacknowledged is never evicted",
		File: "agent/spool/memory.go",
		Old:  "if excess <= 0 || state == Started || state == Finished {",
		New:  "if excess <= 0 || state == Started {",
	},
	{
		Name: "what-is-unfinished-is-evicted", Promise: "section 4: what is unfinished or unacknowledged is never evicted",
		File: "agent/spool/memory.go",
		Old:  "if excess <= 0 || state == Started || state == Finished {",
		New:  "if excess <= 0 || state == Finished {",
	},
	{
		Name: "keys-stay-down-after-a-crash", Promise: "C9: no key stays down, whatever happens",
		File: "agent/runner/keys.go",
		Old:  "case c.keys.pressed:",
		New:  "case c.keys.pressed && !e.Crashed:",
	},
	{
		Name: "keys-stay-down-with-a-lost-memory", Promise: "C9: no key stays down, whatever happens",
		File: "agent/runner/keys.go",
		Old:  "case e.Fresh:",
		New:  "case e.Fresh && c.keys.pressed:",
	},
	{
		Name: "a-stop-by-the-person-ends-with-the-action", Promise: "5.5: nothing is executed after the person's stop before the server holds the replay",
		File: "agent/runner/dispatch.go",
		Old:  "if c.hold != nil {",
		New:  "if c.hold != nil && c.hold.why == work.PersonTakesOver {",
	},
	{
		Name: "a-stop-by-the-person-ends-with-the-process", Promise: "5.5: nothing is executed after the person's stop before the server holds the replay",
		File: "agent/runner/core.go",
		Old:  "hold: holdOf(memory),",
		New:  "hold: holdOf(spool.NewMemory()),",
	},
	{
		Name: "a-stop-by-the-person-is-not-written-down", Promise: "5.5: nothing is executed after the person's stop before the server holds the replay",
		File: "agent/runner/person.go",
		Old:  "if c.memory.Held() != nil {\n\t\treturn nil\n\t}\n\treturn",
		New:  "if c.memory.Held() == nil {\n\t\treturn nil\n\t}\n\treturn",
	},
	{
		Name: "a-stop-by-the-person-lets-the-action-go-on", Promise: "5.5: no input event leaves after the person's stop",
		File: "agent/runner/person.go",
		Old:  "effects = append(effects, c.interrupt(now, work.ErrPerson)...)",
		New:  "_ = now",
	},
}
