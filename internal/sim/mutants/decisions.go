package mutants

// decisions are mistakes in what a report, a pause and a resume lead to.
var decisions = []Mutant{
	{
		Name: "a-second-report-counts", Promise: "I3: a report is taken once",
		File: "server/replay/decide_report.go",
		Old:  "case a.Reported || a.Lost || rep.SpoolID",
		New:  "case a.Lost || rep.SpoolID",
	},
	{
		Name: "a-report-of-an-older-memory-settles", Promise: "5.1: a report from an older spool settles nothing",
		File: "server/replay/decide_report.go",
		Old:  `|| rep.SpoolID != "" && rep.SpoolID != a.SpoolID:`,
		New:  `:`,
	},
	{
		Name: "a-late-report-leaves-it-queued", Promise: "I5, section 3: a report that comes before the redelivery takes the action out of the queue",
		File: "server/replay/decide_report.go",
		Old:  "case ActionDispatched, ActionQueued, ActionNeedsHelp:\n\t\treturn true",
		New:  "case ActionDispatched, ActionNeedsHelp:\n\t\treturn true",
	},
	{
		Name: "a-late-success-leaves-its-resume-queued", Promise: "section 3: a late success of the older id takes the queued _resume out",
		File: "server/replay/apply_report.go",
		Old:  "if newer := r.current[step]; newer != i {",
		New:  "if newer := r.current[step]; newer != i && r.Actions[newer].State != ActionQueued {",
	},
	{
		Name: "an-unusable-desktop-is-a-result", Promise: "5.7: desktop_unavailable is no failure, spends nothing and settles nothing",
		File: "server/replay/decide_report.go",
		Old:  "case rep.Code == CodeDesktopUnavailable:",
		New:  "case rep.Code == CodeDesktopUnavailable && a.State != ActionDispatched:",
	},
	{
		Name: "an-unusable-desktop-concerns-every-attempt", Promise: "section 4: desktop_unavailable concerns its own attempt only",
		File: "server/replay/decide_report.go",
		Old:  `if a.State != ActionDispatched || attemptID != "" && attemptID != a.AttemptID {`,
		New:  `if a.State != ActionDispatched {`,
	},
	{
		Name: "what-may-have-run-is-retried", Promise: "5.7, I8: what may have run and is not safe to run twice goes to a person",
		File: "server/replay/decide_report.go",
		Old:  "return nothingSent || step.Safe || step.RetryExecuted",
		New:  "return nothingSent || step.Safe || step.RetryExecuted || rep.Completion == CompletionUnknown",
	},
	{
		Name: "a-lost-message-spends-a-retry", Promise: "section 2: a lost message never spends the retry budget",
		File: "server/replay/decide_report.go",
		Old:  "case mayRetry && a.Retries < limit:",
		New:  "case mayRetry && a.Retries+a.Resent < limit:",
	},
	{
		Name: "a-retry-goes-to-the-tail", Promise: "I7: workflow order holds through a retry",
		File: "server/replay/apply.go",
		Old:  "r.add(a)\n\tr.toHead(a.Step)",
		New:  "r.add(a)\n\tr.tail = append(r.tail, a.Step)",
	},
	{
		Name: "a-pause-lets-the-next-action-go", Promise: "I6: a paused replay dispatches nothing",
		File: "server/replay/apply_report.go",
		Old:  "r.State = Paused\n\tif i, ok",
		New:  "if r.InFlight < 0 {\n\t\tr.State = Paused\n\t}\n\tif i, ok",
	},
	{
		Name: "a-resume-keeps-the-id", Promise: "section 2: every decision to run an action again has an id never used before",
		File: "server/replay/apply_report.go",
		Old:  "next.Resumes++",
		New:  "next.Resumes = max(next.Resumes, 1)",
	},
	{
		Name: "a-resume-names-nothing-that-it-replaces", Promise: "section 4: a dispatch names the unsettled ids that it replaces",
		File: "server/replay/apply_report.go",
		Old:  "(a.Open() || a.RanLate && !a.Lost)",
		New:  "a.RanLate && !a.Lost",
	},
	{
		Name: "the-state-moves-beside-the-journal", Promise: "I10: the state of a replay is the fold of its journal",
		File: "server/dispatch/follow.go",
		Old:  "a := &r.Actions[r.InFlight]\n\tstep := r.Steps[a.Step]",
		New:  "a := &r.Actions[r.InFlight]\n\ta.LastResentAt = m.now\n\tstep := r.Steps[a.Step]",
	},
}
