// Package settings is the server's manual in code: every setting of the server
// with its meaning, default, range and names, and the conditions between them.
// It reads flags, a YAML file and the environment, and refuses a start with all
// faults at once. It opens no file but that one and starts nothing; what a
// setting does is decided where it is used.
package settings

import (
	"time"
)

// Settings is everything that can be set about a server. The comments are the
// texts of --help and of docs/settings.md; a test keeps them the same.
type Settings struct {
	// Address to serve gRPC on; without a certificate it must be a loopback one.
	Listen string
	// Folder for the journal, the evidence and the tokens; made when missing.
	DataDir string
	// PEM file with the server's certificate chain; empty: plain text on loopback.
	TLSCertFile string
	// PEM file with the certificate's private key.
	TLSKeyFile string
	// Address to serve Prometheus metrics on; empty: none.
	MetricsListen string
	// Least level of log lines.
	LogLevel string
	// Form of log lines.
	LogFormat string
	// Largest message that the server takes, in bytes; a whole workflow is one message.
	MaxMessageBytes int
	// Largest picture that the evidence store takes, in bytes.
	EvidenceMaxBytes int

	// Redelivery of actions without a report; off turns redelivery off and nothing else.
	Watchdog bool
	// How often to look for missed deadlines; they fire when due, this is the net below.
	ScanInterval time.Duration
	// Time an agent has to report or to show progress before its action is an orphan.
	OrphanTimeout time.Duration
	// Time an agent has to say that it received an action before it is redelivered.
	ReceiptTimeout time.Duration
	// Redeliveries of an orphan before it is given up.
	MaxResends int
	// Where a redelivered action enters the queue; tail gives up the workflow's order for it.
	RepushPosition string
	// Deliveries of one action altogether, whatever their cause, before its replay pauses.
	MaxDeliveries int
	// Kinds that are never redelivered by themselves: an orphan of theirs is given up at once.
	SkipKinds []string
	// Give-ups of one machine, with no report between, that count as a dead agent.
	DeadClientGiveUps int
	// Window in which these give-ups must lie.
	DeadClientWindow time.Duration
	// How long an agent may be away before its replay pauses.
	OfflineGrace time.Duration
	// Retries of an executed action that failed, where its workflow says nothing.
	MaxRetries int

	// HTTP/2 keepalive on both sides: silence before a ping.
	KeepaliveTime time.Duration
	// HTTP/2 keepalive on both sides: wait for the answer before the connection is closed.
	KeepaliveTimeout time.Duration
	// HTTP/2 keepalive: least interval between a client's pings that the server allows.
	KeepaliveMinTime time.Duration
	// How often each side pings the other on the stream itself.
	PingInterval time.Duration
	// A ping unanswered for so long closes the stream.
	PingTimeout time.Duration
	// Longest time an action may run that says nothing of its own; a wait has its own time and 10s more, a text to type 20ms more for each character.
	ActionTimeout time.Duration
	// A report unacknowledged for so long makes the agent reopen the stream and send it again.
	ReportAckTimeout time.Duration
	// The server stops within this time after SIGTERM.
	DrainTimeout time.Duration

	// Least score at which a picture counts as found.
	MinScoreTemplate float64
	// Least score at which a text counts as found. No effect yet: no agent reads text on the screen.
	MinScoreText float64
	// How long an agent waits for an action's visible effect.
	EffectTimeout time.Duration
	// How long an agent looks for a target.
	ResolveTimeout time.Duration
	// Actions in a row without visible effect before the replay pauses: the viewer looks frozen.
	SwallowedInputActions int

	// How long ended replays are kept.
	ReplayStateTTL time.Duration
	// How many ended replays are kept.
	MaxReplayStates int
	// How long a picture is kept that nothing has asked for; what live replays need stays.
	EvidenceTTL time.Duration
	// How many bytes of pictures are kept; the oldest go first, what live replays need stays.
	EvidenceMaxTotalBytes int

	// Oldest screen state a pre-check may use. No effect yet: there are no pre-checks.
	HeartbeatMaxAge time.Duration
	// Longest time of a pre-check. No effect yet: there are no pre-checks.
	PrecheckTimeout time.Duration
	// Longest time of a server-side action. No effect yet: only pause_for_human is executed.
	ServerActionTimeout time.Duration
	// Longest time of a paste_and_execute. No effect yet: only pause_for_human is executed.
	PasteTimeout time.Duration
}

// Places where a redelivered action enters the queue.
const (
	Head = "head"
	Tail = "tail"
)

// kinds are the kinds of action by their names in the schema.
var kinds = []string{
	"click", "move", "drag", "type", "paste", "key_combo", "scroll", "wait", "wait_for_target", "wait_for_window",
	"focus_window", "screenshot", "pause_for_human", "extract_text", "decision", "paste_and_execute", "condition",
}

// Default returns the settings of a server that nothing is said to.
func Default() Settings {
	var s Settings
	declare(&s)
	return s
}
