package settings

import (
	"math"
	"time"

	"github.com/reprise-rpa/reprise/internal/setting"
)

// Ranges. They keep out what can only be a slip, such as a unit mixed up; what
// is wise is the operator's to say.
const (
	short = 10 * time.Millisecond
	long  = 24 * time.Hour
	ever  = 10 * 365 * 24 * time.Hour
	many  = 1_000_000
	mib   = 1 << 20
	gib   = 1 << 30
)

// declare puts every default in place and says how each field is set.
func declare(s *Settings) *setting.Set {
	set := &setting.Set{}
	declareServer(set, s)
	declareDelivery(set, s)
	declareStream(set, s)
	declareDesktop(set, s)
	declareRetention(set, s)
	declareLater(set, s)
	declareChecks(set, s)
	return set
}

func declareServer(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "listen", Env: "RPA_LISTEN", Value: setting.Text(&s.Listen, "127.0.0.1:7443"),
			Help: "Address to serve gRPC on; without a certificate it must be a loopback one."},
		setting.Setting{Name: "data-dir", Env: "RPA_DATA_DIR", Value: setting.Text(&s.DataDir, "reprise-data"),
			Help: "Folder for the journal, the evidence and the tokens; made when missing."},
		setting.Setting{Name: "tls-cert-file", Env: "RPA_TLS_CERT_FILE", Value: setting.Text(&s.TLSCertFile, ""),
			Help: "PEM file with the server's certificate chain; empty: plain text on loopback."},
		setting.Setting{Name: "tls-key-file", Env: "RPA_TLS_KEY_FILE", Value: setting.Text(&s.TLSKeyFile, ""),
			Help: "PEM file with the certificate's private key."},
		setting.Setting{Name: "metrics-listen", Env: "RPA_METRICS_LISTEN", Value: setting.Text(&s.MetricsListen, ""),
			Help: "Address to serve Prometheus metrics on; empty: none."},
		setting.Setting{Name: "log-level", Env: "RPA_LOG_LEVEL", Value: setting.Enum(&s.LogLevel, "info", "debug", "info", "warn", "error"),
			Help: "Least level of log lines."},
		setting.Setting{Name: "log-format", Env: "RPA_LOG_FORMAT", Value: setting.Enum(&s.LogFormat, "text", "text", "json"),
			Help: "Form of log lines."},
		setting.Setting{Name: "max-message-bytes", Env: "RPA_MAX_MESSAGE_BYTES", Value: setting.Int(&s.MaxMessageBytes, 16*mib, mib, 1024*mib),
			Help: "Largest message that the server takes, in bytes; a whole workflow is one message."},
		setting.Setting{Name: "evidence-max-bytes", Env: "RPA_EVIDENCE_MAX_BYTES", Value: setting.Int(&s.EvidenceMaxBytes, 32*mib, 1, 1024*mib),
			Help: "Largest picture that the evidence store takes, in bytes."},
	)
}

func declareDelivery(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "watchdog", Env: "RPA_WATCHDOG_ENABLED", Older: []string{"RPA_RETRY_WATCHDOG_ENABLED"}, Value: setting.Bool(&s.Watchdog, true),
			Help: "Redelivery of actions without a report; off turns redelivery off and nothing else."},
		setting.Setting{Name: "scan-interval", Env: "RPA_WATCHDOG_SCAN_INTERVAL_S", Value: setting.Duration(&s.ScanInterval, 10*time.Second, short, long),
			Help: "How often to look for missed deadlines; they fire when due, this is the net below."},
		setting.Setting{Name: "orphan-timeout", Env: "RPA_WATCHDOG_ORPHAN_TIMEOUT_S", Value: setting.Duration(&s.OrphanTimeout, 30*time.Second, short, long),
			Help: "Time an agent has to report or to show progress before its action is an orphan."},
		setting.Setting{Name: "receipt-timeout", Env: "RPA_WATCHDOG_RECEIPT_TIMEOUT_S", Value: setting.Duration(&s.ReceiptTimeout, 5*time.Second, short, long),
			Help: "Time an agent has to say that it received an action before it is redelivered."},
		setting.Setting{Name: "max-resends", Env: "RPA_WATCHDOG_MAX_RESENDS", Older: []string{"RPA_WATCHDOG_MAX_RETRIES"}, Value: setting.Int(&s.MaxResends, 2, 0, many),
			Help: "Redeliveries of an orphan before it is given up."},
		setting.Setting{Name: "repush-position", Env: "RPA_WATCHDOG_REPUSH_POSITION", Value: setting.Enum(&s.RepushPosition, Head, Head, Tail),
			Help: "Where a redelivered action enters the queue; tail gives up the workflow's order for it."},
		setting.Setting{Name: "max-deliveries", Env: "RPA_WATCHDOG_MAX_DELIVERIES", Value: setting.Int(&s.MaxDeliveries, 20, 1, many),
			Help: "Deliveries of one action altogether, whatever their cause, before its replay pauses."},
		setting.Setting{Name: "skip-kinds", Env: "RPA_WATCHDOG_SKIP_KINDS", Value: setting.List(&s.SkipKinds, nil, kinds...),
			Help: "Kinds that are never redelivered by themselves: an orphan of theirs is given up at once."},
		setting.Setting{Name: "dead-client-giveups", Env: "RPA_DEAD_CLIENT_GIVEUPS", Value: setting.Int(&s.DeadClientGiveUps, 2, 1, many),
			Help: "Give-ups of one machine, with no report between, that count as a dead agent."},
		setting.Setting{Name: "dead-client-window", Env: "RPA_DEAD_CLIENT_WINDOW_S", Value: setting.Duration(&s.DeadClientWindow, 5*time.Minute, short, long),
			Help: "Window in which these give-ups must lie."},
		setting.Setting{Name: "agent-offline-grace", Env: "RPA_AGENT_OFFLINE_GRACE_S", Value: setting.Duration(&s.OfflineGrace, 90*time.Second, short, long),
			Help: "How long an agent may be away before its replay pauses."},
		setting.Setting{Name: "max-retries", Env: "RPA_MAX_RETRIES_PER_ACTION", Value: setting.Int(&s.MaxRetries, 3, 0, 100),
			Help: "Retries of an executed action that failed, where its workflow says nothing."},
	)
}

func declareStream(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "keepalive-time", Env: "RPA_KEEPALIVE_TIME_S", Value: setting.Duration(&s.KeepaliveTime, 10*time.Second, time.Second, long),
			Help: "HTTP/2 keepalive on both sides: silence before a ping."},
		setting.Setting{Name: "keepalive-timeout", Env: "RPA_KEEPALIVE_TIMEOUT_S", Value: setting.Duration(&s.KeepaliveTimeout, 5*time.Second, short, long),
			Help: "HTTP/2 keepalive on both sides: wait for the answer before the connection is closed."},
		setting.Setting{Name: "keepalive-min-time", Env: "RPA_KEEPALIVE_MIN_TIME_S", Value: setting.Duration(&s.KeepaliveMinTime, 5*time.Second, short, long),
			Help: "HTTP/2 keepalive: least interval between a client's pings that the server allows."},
		setting.Setting{Name: "ping-interval", Env: "RPA_PING_INTERVAL_S", Value: setting.Duration(&s.PingInterval, 10*time.Second, short, long),
			Help: "How often each side pings the other on the stream itself."},
		setting.Setting{Name: "ping-timeout", Env: "RPA_PING_TIMEOUT_S", Value: setting.Duration(&s.PingTimeout, 10*time.Second, short, long),
			Help: "A ping unanswered for so long closes the stream."},
		setting.Setting{Name: "action-timeout", Env: "RPA_ACTION_TIMEOUT_S", Value: setting.Duration(&s.ActionTimeout, time.Minute, short, long),
			Help: "Longest time an action may run that says nothing of its own; a wait has its own time and 10s more, a text to type 20ms more for each character."},
		setting.Setting{Name: "report-ack-timeout", Env: "RPA_REPORT_ACK_TIMEOUT_S", Value: setting.Duration(&s.ReportAckTimeout, 10*time.Second, short, long),
			Help: "A report unacknowledged for so long makes the agent reopen the stream and send it again."},
		setting.Setting{Name: "drain-timeout", Env: "RPA_DRAIN_TIMEOUT_S", Value: setting.Duration(&s.DrainTimeout, 15*time.Second, 0, long),
			Help: "The server stops within this time after SIGTERM."},
	)
}

func declareDesktop(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "min-score-template", Env: "RPA_MIN_SCORE_TEMPLATE", Value: setting.Float(&s.MinScoreTemplate, 0.95, 0, 1),
			Help: "Least score at which a picture counts as found."},
		setting.Setting{Name: "min-score-text", Env: "RPA_MIN_SCORE_TEXT", Value: setting.Float(&s.MinScoreText, 0.80, 0, 1),
			Help: "Least score at which a text counts as found. No effect yet: no agent reads text on the screen."},
		setting.Setting{Name: "effect-timeout", Env: "RPA_EFFECT_TIMEOUT_S", Value: setting.Duration(&s.EffectTimeout, time.Second, 0, long),
			Help: "How long an agent waits for an action's visible effect."},
		setting.Setting{Name: "resolve-timeout", Env: "RPA_RESOLVE_TIMEOUT_S", Value: setting.Duration(&s.ResolveTimeout, 30*time.Second, short, long),
			Help: "How long an agent looks for a target."},
		setting.Setting{Name: "swallowed-input-actions", Env: "RPA_SWALLOWED_INPUT_ACTIONS", Value: setting.Int(&s.SwallowedInputActions, 3, 1, many),
			Help: "Actions in a row without visible effect before the replay pauses: the viewer looks frozen."},
	)
}

func declareRetention(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "replay-state-ttl", Env: "RPA_REPLAY_STATE_TTL", Value: setting.Duration(&s.ReplayStateTTL, 24*time.Hour, 0, ever),
			Help: "How long ended replays are kept."},
		setting.Setting{Name: "max-replay-states", Env: "RPA_MAX_REPLAY_STATES", Value: setting.Int(&s.MaxReplayStates, 10_000, 0, math.MaxInt32),
			Help: "How many ended replays are kept."},
		setting.Setting{Name: "evidence-ttl", Env: "RPA_EVIDENCE_TTL", Value: setting.Duration(&s.EvidenceTTL, 30*24*time.Hour, time.Minute, ever),
			Help: "How long a picture is kept that nothing has asked for; what live replays need stays."},
		setting.Setting{Name: "evidence-max-total-bytes", Env: "RPA_EVIDENCE_MAX_TOTAL_BYTES", Value: setting.Int(&s.EvidenceMaxTotalBytes, 20*gib, mib, math.MaxInt),
			Help: "How many bytes of pictures are kept; the oldest go first, what live replays need stays."},
	)
}

// declareLater holds what is accepted and checked already, so that a site's
// configuration need not change when the feature comes.
func declareLater(set *setting.Set, s *Settings) {
	set.Add(
		setting.Setting{Name: "heartbeat-max-age", Env: "RPA_HEARTBEAT_MAX_AGE_SECONDS", Value: setting.Duration(&s.HeartbeatMaxAge, time.Minute, short, long),
			Help: "Oldest screen state a pre-check may use. No effect yet: there are no pre-checks."},
		setting.Setting{Name: "precheck-timeout", Env: "RPA_PRECHECK_TIMEOUT_S", Value: setting.Duration(&s.PrecheckTimeout, 500*time.Millisecond, short, long),
			Help: "Longest time of a pre-check. No effect yet: there are no pre-checks."},
		setting.Setting{Name: "server-action-timeout", Env: "RPA_SERVER_ACTION_TIMEOUT_S", Value: setting.Duration(&s.ServerActionTimeout, 3*time.Minute, short, long),
			Help: "Longest time of a server-side action. No effect yet: only pause_for_human is executed."},
		setting.Setting{Name: "paste-timeout", Env: "RPA_PASTE_TIMEOUT_S", Value: setting.Duration(&s.PasteTimeout, 30*time.Second, short, long),
			Help: "Longest time of a paste_and_execute. No effect yet: only pause_for_human is executed."},
	)
}
