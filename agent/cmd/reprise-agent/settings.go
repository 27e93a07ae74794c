package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/limits"
	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/pictures"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/setting"
	"github.com/reprise-rpa/reprise/internal/workflow"
)

// configEnv names the variable with the configuration file's path. It is not the
// server's, since both may run on one machine.
const configEnv = "RPA_AGENT_CONFIG"

// The drivers.
const (
	driverVirtual = "virtual"
	driverX11     = "x11"
	driverWindows = "windows"
	driverSession = "session"
)

// The ways to type, by the names of the schema.
const (
	typeCharacters = "characters"
	typeScanCodes  = "scan_codes"
	typeClipboard  = "clipboard"
)

// leastKeepalive is what gRPC makes of any shorter keepalive of a client, without a
// word.
const leastKeepalive = 10 * time.Second

// settings is what the agent is told from outside; what else it keeps to, the
// server says when a stream opens.
type settings struct {
	Server, Machine, TokenFile, CAFile, StateDir, SecretsDir string
	Driver, Desktop, Display                                 string
	Backoff                                                  []time.Duration
	KeepaliveTime, KeepaliveTimeout                          time.Duration
	Remember, MaxWaiting                                     int
	MinDisplay                                               setting.Size
	Masks, Restless                                          []work.Mask
	PopupsFile, TypeMode                                     string
	TypePace, RestoreClipboard                               time.Duration
	User, StopKey, Language                                  string
	OwnInput                                                 bool
	Announce                                                 time.Duration
	LogLevel, LogFormat                                      string
	LogFile, LimitsFile                                      string
	LogFileMax, LogFiles                                     int

	popups []*reprisev1.PopupRule // of PopupsFile
	limits limits.Rules           // of LimitsFile
}

// defaults are those that differ between an agent in a console and one that is a
// service.
type defaults struct{ driver, stateDir, logFile string }

// declare puts every default of a console in place and says how each field is set.
func declare(s *settings) *setting.Set { return declareWith(s, defaults{driver: defaultDriver}) }

func declareWith(s *settings, d defaults) *setting.Set {
	set := &setting.Set{}
	declarePlace(set, s, d)
	declareBehaviour(set, s)
	declarePerson(set, s)
	declareLog(set, s, d)
	declareChecks(set, s)
	return set
}

func declarePlace(set *setting.Set, s *settings, d defaults) {
	set.Add(
		setting.Setting{Name: "server", Env: "RPA_SERVER", Value: setting.Text(&s.Server, "127.0.0.1:7443"),
			Help: "The server's host:port."},
		setting.Setting{Name: "machine", Env: "RPA_MACHINE", Value: setting.Text(&s.Machine, ""),
			Help: "The machine that this agent drives, as the server knows it. Required."},
		setting.Setting{Name: "token-file", Env: "RPA_TOKEN_FILE", Value: setting.Text(&s.TokenFile, ""),
			Help: "File with the machine's token, read anew for each connection; empty: none is shown."},
		setting.Setting{Name: "ca-file", Env: "RPA_CA_FILE", Value: setting.Text(&s.CAFile, ""),
			Help: "PEM file with the CAs that may vouch for the server; empty: the system's, and plain text to a loopback address."},
		setting.Setting{Name: "state-dir", Env: "RPA_STATE_DIR", Value: setting.Text(&s.StateDir, d.stateDir),
			Help: "Folder for the agent's memory, made when missing. It must outlive the process. Required."},
		setting.Setting{Name: "secrets-dir", Env: "RPA_SECRETS_DIR", Value: setting.Text(&s.SecretsDir, ""),
			Help: "Folder with the secrets that may be typed, one a file, by its name; empty: there are none."},
		setting.Setting{Name: "limits-file", Env: "RPA_LIMITS_FILE", Value: setting.Text(&s.LimitsFile, ""),
			Help: "YAML file with windows that no input goes into and windows that no picture shows, whatever the server says; empty: there are none."},
		setting.Setting{Name: "driver", Env: "RPA_DRIVER", Value: setting.Enum(&s.Driver, d.driver, driverVirtual, driverX11, driverWindows, driverSession),
			Help: "What kind of desktop to drive."},
		setting.Setting{Name: "desktop", Env: "RPA_DESKTOP", Value: setting.Text(&s.Desktop, ""),
			Help: "Address of the virtual desktop's input door, for driver virtual."},
		setting.Setting{Name: "display", Env: "RPA_DISPLAY", Value: setting.Text(&s.Display, ""),
			Help: "X display, such as :0, for driver x11; empty: DISPLAY of the environment."},
	)
}

func declareBehaviour(set *setting.Set, s *settings) {
	set.Add(
		setting.Setting{Name: "reconnect-backoff", Env: "RPA_RECONNECT_BACKOFF_S",
			Value: setting.Durations(&s.Backoff, backoff.Default().Steps, time.Millisecond, time.Hour),
			Help:  "Longest wait before the first try to connect again, the second, and so on; the last serves all further ones."},
		setting.Setting{Name: "keepalive-time", Env: "RPA_KEEPALIVE_TIME_S", Value: setting.Duration(&s.KeepaliveTime, 10*time.Second, leastKeepalive, 24*time.Hour),
			Help: "HTTP/2 keepalive: silence before a ping. The server must allow it (its keepalive-min-time)."},
		setting.Setting{Name: "keepalive-timeout", Env: "RPA_KEEPALIVE_TIMEOUT_S",
			Value: setting.Duration(&s.KeepaliveTimeout, 5*time.Second, 10*time.Millisecond, time.Hour),
			Help:  "HTTP/2 keepalive: wait for the answer before the connection is closed."},
		setting.Setting{Name: "dedup-size", Env: "RPA_DEDUP_SIZE", Value: setting.Int(&s.Remember, 256, 1, 1_000_000),
			Help: "Actions remembered on disk; what is unfinished or unacknowledged is never forgotten."},
		setting.Setting{Name: "max-waiting-pictures-bytes", Env: "RPA_MAX_WAITING_PICTURES_BYTES",
			Value: setting.Int(&s.MaxWaiting, pictures.DefaultMaxBytes, 1<<20, math.MaxInt),
			Help:  "Bytes of pictures that wait for their upload, in the state directory; beyond that the oldest are lost."},
		setting.Setting{Name: "min-display", Env: "RPA_MIN_DISPLAY", Value: setting.Dimensions(&s.MinDisplay, setting.Size{Width: 1200, Height: 800}),
			Help: "Smallest usable display; on a smaller one nothing is executed."},
		setting.Setting{Name: "masks", Env: "RPA_MASKS", Value: setting.Parsed(&s.Masks, nil, "rectangles", mask.Parse, mask.Format),
			Help: "Rectangles that no picture shows, monitor:left,top,width,height in fractions of the monitor, " +
				"such as 0:0.1,0.2,0.3,0.4;1:0,0,1,0.05; those of a workflow are added."},
		setting.Setting{Name: "restless", Env: "RPA_RESTLESS", Value: setting.Parsed(&s.Restless, nil, "rectangles", mask.Parse, mask.Format),
			Help: "Rectangles, written as masks, that change by themselves, such as a clock: no effect of an action is seen in them."},
		setting.Setting{Name: "popups-file", Env: "RPA_POPUPS_FILE", Value: setting.Text(&s.PopupsFile, ""),
			Help: "YAML file with rules for popups on this machine, as a workflow's popups; those of a workflow are added. Empty: there are none."},
		setting.Setting{Name: "type-mode", Env: "RPA_TYPE_MODE", Value: setting.Enum(&s.TypeMode, typeCharacters, typeCharacters, typeScanCodes, typeClipboard),
			Help: "How text is typed where an action does not say, for driver windows: scan_codes for viewers of remote desktops, which pass keys on and no characters."},
		setting.Setting{Name: "type-pace", Env: "RPA_TYPE_PACE_S", Value: setting.Duration(&s.TypePace, 5*time.Millisecond, time.Microsecond, time.Second),
			Help: "Pause between two characters, for driver windows."},
		setting.Setting{Name: "restore-clipboard", Env: "RPA_RESTORE_CLIPBOARD_S", Value: setting.Duration(&s.RestoreClipboard, time.Second, 0, time.Minute),
			Help: "After how long the former text is put back on the clipboard, for driver windows; 0: never."},
	)
}

func declareLog(set *setting.Set, s *settings, d defaults) {
	set.Add(
		setting.Setting{Name: "log-level", Env: "RPA_LOG_LEVEL", Value: setting.Enum(&s.LogLevel, "info", "debug", "info", "warn", "error"),
			Help: "Least level of log lines."},
		setting.Setting{Name: "log-format", Env: "RPA_LOG_FORMAT", Value: setting.Enum(&s.LogFormat, "text", "text", "json"),
			Help: "Form of log lines."},
		setting.Setting{Name: "log-file", Env: "RPA_LOG_FILE", Value: setting.Text(&s.LogFile, d.logFile),
			Help: "File that log lines go to, made when missing; empty: standard error."},
		setting.Setting{Name: "log-file-max-mb", Env: "RPA_LOG_FILE_MAX_MB", Value: setting.Int(&s.LogFileMax, 10, 1, 1000),
			Help: "MiB that a log file may have; then it is put aside under its time, and a new one begun."},
		setting.Setting{Name: "log-files", Env: "RPA_LOG_FILES", Value: setting.Int(&s.LogFiles, 5, 2, 1000),
			Help: "Log files that are kept, the one being written included; the oldest go first."},
	)
}

func declareChecks(set *setting.Set, s *settings) {
	set.Check(func() error { return hostPort(s.Server, "server") }, "server")
	set.Check(func() error { return errors.Join(needed(s.Machine, "machine"), machineName(s.Machine)) }, "machine")
	set.Check(func() error { return needed(s.StateDir, "state-dir") }, "state-dir")
	set.Check(func() error {
		if s.Driver == driverVirtual {
			return errors.Join(needed(s.Desktop, "desktop"), hostPort(s.Desktop, "desktop"))
		}
		return nil
	}, "driver", "desktop")
	set.Check(func() error { return checkDisplay(*s) }, "driver", "display")
	set.Check(func() error { return backoff.Policy{Steps: s.Backoff}.Validate() }, "reconnect-backoff")
	set.Check(func() error { return readable(s.TokenFile, link.TokenFile(s.TokenFile)) }, "token-file")
	set.Check(func() error { return readable(s.CAFile, func() (*x509.CertPool, error) { return link.CAs(s.CAFile) }) }, "ca-file")
	set.Check(func() error { return readRules(s.PopupsFile, &s.popups, workflow.LoadPopups) }, "popups-file")
	set.Check(func() error { return readRules(s.LimitsFile, &s.limits, limits.Load) }, "limits-file")
}

// hostPort refuses what no address is; an empty one is another fault.
func hostPort(address, name string) error {
	if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
		return fmt.Errorf("%s: host:port is needed", name)
	}
	return nil
}

// machineName refuses what no machine is called; an empty one is another fault.
func machineName(name string) error {
	if name == "" {
		return nil
	}
	_, err := agent.New(agent.Config{MachineID: name, Server: "any:1", StateDir: "any", Driver: virtualdesktop.New("")})
	return err
}

// readable tries to read the file at path, which is read again for each connection; empty:
// there is none.
func readable[T any](path string, read func() (T, error)) (err error) {
	if path != "" {
		_, err = read()
	}
	return err
}

// readRules reads the file at path; empty: there is none.
func readRules[T any](path string, to *T, load func(path string) (T, error)) (err error) {
	if path != "" {
		*to, err = load(path)
	}
	return err
}

func needed(value, name string) error {
	if value == "" {
		return fmt.Errorf("%s is required", name)
	}
	return nil
}

// errSettings marks faults of settings.
var errSettings = errors.New("the settings are wrong")

// loader fills settings once the flags are parsed.
type loader struct {
	settings settings
	set      *setting.Set
	flags    *pflag.FlagSet
	config   string
}

func bind(fs *pflag.FlagSet) *loader { return bindWith(fs, defaults{driver: defaultDriver}) }

func bindWith(fs *pflag.FlagSet, d defaults) *loader {
	l := &loader{flags: fs}
	l.set = declareWith(&l.settings, d)
	fs.StringVar(&l.config, "config", "", "YAML file with settings, by the names of the flags. ["+configEnv+"]")
	l.set.Bind(fs)
	return l
}

// load returns the settings, or every fault of every source.
func (l *loader) load(env func(string) (string, bool)) (settings, []string, error) {
	src := setting.Sources{File: l.config, Env: env}
	if path, ok := env(configEnv); ok && !l.flags.Changed("config") {
		src.File = path
	}
	warnings, err := l.set.Load(src)
	if err != nil {
		return settings{}, warnings, errors.Join(errSettings, err)
	}
	return l.settings, warnings, nil
}
