package mutants

// machine are mistakes in the machine that holds the replays, in its pending map,
// and in the order of journal and effects.
var machine = []Mutant{
	{
		Name: "effects-leave-before-the-commit", Promise: "I9: what is acknowledged survives kill -9",
		File: "server/dispatch/core.go",
		Old:  "return Want{Append: c.step.Entries}",
		New:  "entries := c.step.Entries\n\t\treturn Want{Append: entries, Effects: c.release()}",
	},
	{
		Name: "a-failed-write-is-acknowledged", Promise: "I9: every answer waits for its own record",
		File: "server/dispatch/core.go",
		Old:  "return Want{Effects: refuseAll(failed, unwritable(err)), Read: true}",
		New:  "return Want{Effects: failed, Read: true}",
	},
	{
		Name: "a-failed-write-leaves-its-mark", Promise: "I10: the state is the fold of the journal, also after a write that failed",
		File: "server/dispatch/core.go",
		Old:  "c.machine.Reset(live)",
		New:  "_ = live",
	},
	{
		Name: "recovery-forgets-what-is-in-flight", Promise: "I1, case i: the server goes on from its journal with actions in flight",
		File: "server/dispatch/machine.go",
		Old:  "if r.InFlight >= 0 {\n\t\t\tm.putInFlight(r, true)",
		New:  "if r.InFlight >= 0 && m.session != nil {\n\t\t\tm.putInFlight(r, true)",
	},
	{
		Name: "a-reported-action-stays-pending", Promise: "I5: nothing is redelivered that was reported",
		File: "server/dispatch/follow.go",
		Old:  `if b.inFlight != "" && b.inFlight != now.inFlight {`,
		New:  `if _, reported := ev.(replay.Reported); b.inFlight != "" && b.inFlight != now.inFlight && !reported {`,
	},
	{
		Name: "a-cancelled-action-stays-pending", Promise: "I4: after cancel no entry of the replay is pending",
		File: "server/dispatch/follow.go",
		Old:  `if b.inFlight != "" && b.inFlight != now.inFlight {`,
		New:  `if b.inFlight != "" && b.inFlight != now.inFlight && !r.State.Ended() {`,
	},
	{
		Name: "a-cancel-does-not-reach-the-agent", Promise: "5.5: a cancel asks the agent to stop",
		File: "server/dispatch/follow.go",
		Old:  `if ev.State == replay.Cancelled || b.inFlight != "" {`,
		New:  `if ev.State != replay.Cancelled && b.inFlight != "" {`,
	},
	{
		Name: "a-paused-replay-loses-the-machine", Promise: "3.1, I7: a paused replay keeps the machine",
		File: "server/dispatch/machine.go",
		Old:  "r := m.live[0]\n\t\tvar session",
		New:  "r := m.live[0]\n\t\tif r.State == replay.Paused {\n\t\t\tr = m.live[len(m.live)-1]\n\t\t}\n\t\tvar session",
	},
	{
		Name: "deadlines-run-while-the-agent-is-away", Promise: "3.1: without a stream the deadlines stand still",
		File: "server/dispatch/machine.go",
		Old:  "m.awayFrom, m.graceRan = m.now, false\n\tm.pending.StandStill()",
		New:  "m.awayFrom, m.graceRan = m.now, false",
	},
	{
		Name: "the-grace-never-ends", Promise: "8.1: an agent that has been away longer than the grace pauses its replay",
		File: "server/dispatch/deadlines.go",
		Old:  "recs.add(m.live[0], m.live[0].DecideAgentAway()...)",
		New:  "_ = m.live[0].DecideAgentAway()",
	},
	{
		Name: "the-deaf-are-not-hung-up-on", Promise: "3.1: the second receipt missed in a row closes the stream",
		File: "server/dispatch/deadlines.go",
		Old:  "\tm.unreceived = actionID\n}",
		New:  "\tm.unreceived = \"\"\n}",
	},
	{
		Name: "an-older-session-closes-the-newer", Promise: "architecture: frames of an older epoch are dropped",
		File: "server/dispatch/machine.go",
		Old:  "if m.session == nil || m.session.ID != in.SessionID {\n\t\treturn // an older session",
		New:  "if m.session == nil {\n\t\treturn // an older session",
	},
	{
		Name: "an-older-session-reports-progress", Promise: "architecture: frames of an older epoch are dropped, reports excepted",
		File: "server/dispatch/machine.go",
		Old:  "if m.session == nil || m.session.ID != in.SessionID {\n\t\treturn\n\t}\n\tif !m.pending",
		New:  "if m.session == nil {\n\t\treturn\n\t}\n\tif !m.pending",
	},
	{
		Name: "no-report-of-an-ended-replay-is-answered", Promise: "section 4: every answer to a report, also a negative one, lets the agent forget",
		File: "server/dispatch/agent.go",
		Old:  "case m.ended[id]:\n\t\treturn replay.NoActiveReplay",
		New:  "case m.ended[id]:\n\t\treturn 0",
	},
	{
		Name: "progress-moves-no-deadline", Promise: "5.3: each progress moves the deadline",
		File: "server/pending/pending.go",
		Old:  "it.Phase, it.Doing = max(it.Phase, p, Received), doing\n\tm.Arm(actionID, now)",
		New:  "it.Phase, it.Doing = max(it.Phase, p, Received), doing",
	},
	{
		Name: "an-orphan-is-never-due", Promise: "section 3: an action whose deadline passed is delivered again",
		File: "server/pending/pending.go",
		Old:  "it.kind, it.at = Orphan, now.Add(m.timeouts.Orphan)",
		New:  "it.kind, it.at = Orphan, now.Add(100*m.timeouts.Orphan)",
	},
}
