package mutants

// deliveries are mistakes in redelivery, give-up and what the opening of a stream
// leads to.
var deliveries = []Mutant{
	{
		Name: "redelivery-at-the-tail", Promise: "I7: workflow order holds through redelivery",
		File: "server/replay/apply.go",
		Old:  "r.toHead(a.Step)\n\treturn nil\n}\n\n// loseMemory",
		New:  "r.tail = append(r.tail, a.Step)\n\treturn nil\n}\n\n// loseMemory",
	},
	{
		Name: "a-cut-link-spends-a-resend", Promise: "3.1: a cut link spends nothing",
		File: "server/replay/decide_hello.go",
		Old:  "died := a.BootID != s.BootID && !s.Clean",
		New:  "died := a.BootID != s.BootID && !s.Clean || reason == Reconnect",
	},
	{
		Name: "a-missed-receipt-spends-a-resend", Promise: "3.1: what was not received is redelivered and no resend is spent",
		File: "server/replay/decide_delivery.go",
		Old:  "return []Event{Requeued{ActionID: a.ID, Reason: NotReceived}}",
		New:  "return []Event{Requeued{ActionID: a.ID, Reason: NotReceived, Spent: true}}",
	},
	{
		Name: "resends-never-run-out", Promise: "3.1: used-up resends are a give-up",
		File: "server/replay/decide_delivery.go",
		Old:  "|| a.Resent >= p.MaxResends:",
		New:  ":",
	},
	{
		Name: "a-critical-give-up-goes-on", Promise: "8.1: the give-up of a critical kind pauses",
		File: "server/replay/decide_delivery.go",
		Old:  `(step.Critical || reason == "delivery_failed")`,
		New:  `reason == "delivery_failed"`,
	},
	{
		Name: "a-dead-agent-pauses-nothing", Promise: "8.1: give-ups in a row with no report between pause the replay",
		File: "server/dispatch/deadlines.go",
		Old:  "return m.cfg.DeadClientGiveUps > 0 && len(m.recentGiveUps())+1 >= m.cfg.DeadClientGiveUps",
		New:  "return m.cfg.DeadClientGiveUps > 0 && len(m.recentGiveUps()) > m.cfg.DeadClientGiveUps",
	},
	{
		Name: "a-give-up-is-not-counted", Promise: "8.1: give-ups in a row with no report between pause the replay",
		File: "server/dispatch/deadlines.go",
		Old:  "m.giveUps = append(m.recentGiveUps(), m.now)",
		New:  "m.giveUps = m.recentGiveUps()",
	},
	{
		Name: "a-report-between-give-ups-means-nothing", Promise: "section 7: the dead-agent signal needs give-ups with no report between",
		File: "server/dispatch/agent.go",
		Old:  `m.giveUps, m.unreceived = nil, ""`,
		New:  `m.unreceived = ""`,
	},
	{
		Name: "another-memory-is-not-noticed", Promise: "5.1, I8: with another spool what was delivered is outcome unknown",
		File: "server/replay/decide_hello.go",
		Old:  "if !r.started || r.State.Ended() {",
		New:  `if !r.started || r.State.Ended() || spoolID != "" {`,
	},
	{
		Name: "what-is-executing-does-not-count", Promise: "5.1: the executing action of the hello counts as dispatched",
		File: "server/replay/decide_hello.go",
		Old:  "return GoOn, append(events, Adopted{ActionID: a.ID, AttemptID: attemptID})",
		New:  "return GoOn, events",
	},
	{
		Name: "the-welcome-lets-the-cancelled-go-on", Promise: "5.1: the welcome says stop for what was cancelled meanwhile",
		File: "server/dispatch/agent.go",
		Old:  "if r == nil {\n\t\treturn replay.Stop",
		New:  "if r == nil {\n\t\treturn replay.GoOn",
	},
	{
		Name: "the-stored-results-come-last", Promise: "5.1: the stored results are taken before anything is delivered again",
		File: "server/dispatch/agent.go",
		Old: `	for _, res := range in.Results {
		welcome.Verdicts = append(welcome.Verdicts, m.take(recs, res))
	}
	for _, r := range m.live {
		recs.add(r, r.DecideOtherMemory(session.SpoolID)...)
	}
	for _, r := range m.live {
		m.redeliver(recs, r, goesOn)
	}
`,
		New: `	for _, r := range m.live {
		recs.add(r, r.DecideOtherMemory(session.SpoolID)...)
	}
	for _, r := range m.live {
		m.redeliver(recs, r, goesOn)
	}
	for _, res := range in.Results {
		welcome.Verdicts = append(welcome.Verdicts, m.take(recs, res))
	}
`,
	},
	{
		Name: "what-is-not-asked-for-again-is-not-closed", Promise: "section 4: the server closes what it will not ask for again",
		File: "server/dispatch/agent.go",
		Old:  "r == nil || !r.Expects(u.ActionID) {",
		New:  "r != nil && !r.Expects(u.ActionID) {",
	},
}
