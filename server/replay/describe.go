package replay

import "fmt"

// Describe gives an event its name, as logs and watchers have it, and says which
// action it concerns and what is worth knowing of it. It never holds typed text.
func Describe(ev Event) (kind, action, detail string) {
	switch ev := ev.(type) {
	case Created:
		return "replay_created", "", ev.Workflow
	case Appended:
		return "actions_appended", "", fmt.Sprintf("%d actions", len(ev.Steps))
	case Closed:
		return "replay_closed", "", ""
	case Started:
		return "replay_started", "", ""
	case Dispatched:
		return "action_dispatched", ev.ActionID, fmt.Sprintf("attempt %s, %v", ev.AttemptID, ev.Reason)
	case Adopted:
		return "action_adopted", ev.ActionID, ""
	case Requeued:
		return "action_requeued", ev.ActionID, ev.Reason.String()
	case Reported:
		return "action_reported", ev.ActionID, reportOutcome(ev)
	case LostMemory:
		return "action_memory_lost", ev.ActionID, ""
	case GaveUp:
		return "action_given_up", ev.ActionID, ""
	case PausedBy:
		return "replay_paused", ev.Decide, ev.Reason
	case GatePassed:
		return "pause_passed", "", fmt.Sprintf("step %d", ev.Step)
	case Resumed:
		return "replay_resumed", "", ev.By
	case Ended:
		return "replay_ended", "", ev.State.String()
	}
	return "unknown", "", ""
}

func reportOutcome(ev Reported) string {
	if ev.Report.Success {
		return ev.Outcome.String()
	}
	return ev.Outcome.String() + ": " + ev.Report.Code
}

// By says who asked for an event; empty: the server, or the agent.
func By(ev Event) string {
	switch ev := ev.(type) {
	case Created:
		return ev.By
	case Appended:
		return ev.By
	case Closed:
		return ev.By
	case PausedBy:
		return ev.By
	case Resumed:
		return ev.By
	case Ended:
		return ev.By
	}
	return ""
}
