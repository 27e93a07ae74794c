package mutants

// streams are mistakes in who holds a machine and in the pings over its stream.
var streams = []Mutant{
	{
		Name: "another-agent-takes-over-without-a-probe", Promise: "case j: another agent is refused while the holder answers",
		File: "server/registry/seat.go",
		Old:  `if s.session != "" && s.spool != spoolID {`,
		New:  `if s.session != "" && s.spool == "" && spoolID != "" {`,
	},
	{
		Name: "a-takeover-ends-nothing", Promise: "I7, case j: one session holds a machine",
		File: "server/registry/seat.go",
		Old:  `if s.session != "" && s.session != sessionID {`,
		New:  `if s.session != "" && s.spool != spoolID {`,
	},
	{
		Name: "a-late-clean-up-frees-the-machine", Promise: "case j: an older session's clean-up removes only its own",
		File: "server/registry/seat.go",
		Old:  `if sessionID == "" || s.session != sessionID {`,
		New:  `if sessionID == "" || s.session == "" {`,
	},
	{
		Name: "pings-end-with-the-first-answer", Promise: "architecture: a machine is alive only while that very stream answers",
		File: "internal/liveness/liveness.go",
		Old:  "p.unanswered, p.next = false, now.Add(p.interval)",
		New:  "p.unanswered, p.next = false, now.Add(1000*p.interval)",
	},
	{
		Name: "an-unanswered-ping-is-forgiven", Promise: "case h: a silent agent is noticed by pings",
		File: "internal/liveness/liveness.go",
		Old:  "if p.unanswered {\n\t\tp.dead = true",
		New:  "if p.unanswered && p.last > 1000 {\n\t\tp.dead = true",
	},
}
