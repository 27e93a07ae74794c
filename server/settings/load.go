package settings

import (
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/internal/setting"
)

// ConfigEnv names the environment variable with the configuration file's path.
const ConfigEnv = "RPA_CONFIG"

// Loader fills Settings once the flags are parsed.
type Loader struct {
	settings Settings
	set      *setting.Set
	flags    *pflag.FlagSet
	config   string
}

// Bind adds all flags to fs, --config among them, and returns what reads them
// after fs has been parsed.
func Bind(fs *pflag.FlagSet) *Loader {
	l := &Loader{flags: fs}
	l.set = declare(&l.settings)
	fs.StringVar(&l.config, "config", "", "YAML file with settings, by the names of the flags. ["+ConfigEnv+"]")
	l.set.Bind(fs)
	return l
}

// Load returns the settings of flags, environment (such as os.LookupEnv) and
// configuration file, and warnings for the log. The error names every fault;
// the settings are of no use then.
func (l *Loader) Load(env func(string) (string, bool)) (Settings, []string, error) {
	src := setting.Sources{File: l.config, Env: env}
	if path, ok := env(ConfigEnv); ok && !l.flags.Changed("config") {
		src.File = path
	}
	warnings, err := l.set.Load(src)
	return l.settings, append(warnings, l.settings.warnings()...), err
}

// warnings says what is allowed and surprising.
func (s Settings) warnings() []string {
	var all []string
	if s.RepushPosition == Tail {
		all = append(all, "repush-position is tail: a redelivered action runs after those behind it, out of the workflow's order")
	}
	if !s.Watchdog {
		all = append(all, "watchdog is off: an action without a report waits until its agent reconnects")
	}
	if s.MetricsListen != "" {
		if host, err := hostOf("metrics-listen", s.MetricsListen); err == nil && !loopback(host) {
			all = append(all, "metrics-listen is not a loopback address: metrics are served in plain text to anyone")
		}
	}
	return all
}

// Markdown returns docs/settings.md.
func Markdown() string {
	var s Settings
	return manual + declare(&s).Markdown()
}

const manual = `# Settings of reprised

These are the server's. An agent has its own, in [deploy.md](deploy.md#the-settings-of-an-agent); both read the way that follows.

Each setting is a flag (` + "`--orphan-timeout 45s`" + `), a line of the YAML file that ` + "`--config`" + ` or ` + "`RPA_CONFIG`" + ` names
(` + "`orphan-timeout: 45s`" + `) and an environment variable (` + "`RPA_WATCHDOG_ORPHAN_TIMEOUT_S=45`" + `). A flag wins over the
environment, the environment over the file, the file over the default. An empty variable counts as not set.

- Durations are written with their unit in flags and file (` + "`1m30s`" + `), in plain seconds in the environment (` + "`90`" + `, ` + "`0.5`" + `).
- Booleans are ` + "`1`, `true`, `yes`, `on`" + ` and their opposites; as a flag with an equals sign: ` + "`--watchdog=off`" + `.
- Lists are separated by commas; in the file they may be YAML lists.

All settings are checked at start. The program does not start with a wrong one; it names all faults at once, each with its
source and value, also where another source overrides it.

`
