package replay

// The errors of a report, by their names in the schema. One that the server
// does not know is CodeOther: an executed result is never refused for its
// vocabulary.
const (
	CodeTargetNotFound     = "target_not_found"
	CodeSystemDialog       = "system_dialog"
	CodeWrongWindow        = "wrong_window"
	CodeVerifyFailed       = "verify_failed"
	CodeDesktopUnavailable = "desktop_unavailable"
	CodeInputBlocked       = "input_blocked"
	CodeTargetOffScreen    = "target_off_screen"
	CodeGuardRefused       = "guard_refused"
	CodePerson             = "person"
	CodeTimeout            = "timeout"
	CodeInterrupted        = "interrupted"
	CodeOutcomeUnknown     = "outcome_unknown"
	CodeInvalidAction      = "invalid_action"
	CodeUnsupported        = "unsupported"
	CodeInternal           = "internal"
	CodeOther              = "other"
)

// reasonOf is the pause that an error leads to when it ends at a person.
func reasonOf(code string) string {
	switch code {
	case CodePerson:
		return "operator"
	case CodeUnsupported:
		return "invalid_action"
	case CodeOther, "":
		return "internal"
	}
	return code
}

// messages are what a person reads, by the pause's reason.
var messages = map[string]string{
	"user_request":       "The workflow asks for a person.",
	"system_dialog":      "A dialog of the system is waiting for a person.",
	"wrong_window":       "Another window is in front than the one expected.",
	"target_not_found":   "What should be acted on is not on the screen.",
	"target_off_screen":  "What should be acted on is partly outside the screen.",
	"orphan_max_resends": "The agent did not answer.",
	"dead_client":        "The agent is away or no longer answers.",
	"delivery_failed":    "The action could not be delivered to the agent.",
	"input_swallowed":    "Nothing changes on the screen: the viewer looks frozen, restart it.",
	"outcome_unknown":    "It is not known whether the action was carried out. Look at the screen.",
	"needs_human":        "The agent asks for a person.",
	"operator":           "Paused by a person.",
	"verify_failed":      "The action did not have the expected result.",
	"input_blocked":      "The system refused the input.",
	"guard_refused":      "A condition of the workflow does not hold.",
	"timeout":            "The action took too long.",
	"internal":           "The agent failed.",
	"invalid_action":     "The agent cannot carry out this action.",
	"interrupted":        "The action was stopped in the middle.",
}

// messageReportedLate is added to a pause whose action has been reported after all.
const messageReportedLate = "The action has been reported since: a resume goes on with what follows."

func message(reason, detail string) string {
	if detail == "" {
		return messages[reason]
	}
	return messages[reason] + " (" + detail + ")"
}
