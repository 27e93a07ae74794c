package cases

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/server/settings"
)

// effect is a scenario that is played twice: with a setting's default and with
// another value. What is to be seen differs.
type effect struct {
	setting string              // its name; the server's unless agent is set
	other   string              // a value of the server's that is not the default, as the command line has it
	agent   func(*agent.Config) // or the agent's
	with    []string            // flags of the server in both plays
	play    func(*scenario) any // what is to be seen
	byDef   any                 // with the default
	changed any                 // with the other value
}

// scenario is one play: what it may build its world of.
type scenario struct {
	*testing.T
	change func(*setup)
}

// world starts a server and an agent with the scenario's settings.
func (s *scenario) world() *world {
	s.Helper()
	return newWorld(s.T, s.change)
}

// effects is the table: each setting, and what it does to a running server and
// agent. A setting may stand here several times.
var effects = slices.Concat(deliveryEffects, streamEffects, keepaliveEffects, desktopEffects, keepingEffects)

// elsewhere names, for the settings that only a program shows, the test that
// shows their effect: the package's folder and the function.
var elsewhere = map[string][2]string{
	"reprised listen":                 {"server/cmd/reprised", "TestTheServerListensWhereItIsTold"},
	"reprised data-dir":               {"server/cmd/reprised", "TestAServerFromStartToStop"},
	"reprised tls-cert-file":          {"server/cmd/reprised", "TestARenewedCertificateNeedsNoRestart"},
	"reprised tls-key-file":           {"server/cmd/reprised", "TestARenewedCertificateNeedsNoRestart"},
	"reprised metrics-listen":         {"server/cmd/reprised", "TestMetricsAreServedOnlyWhereTheyAreAskedFor"},
	"reprised log-level":              {"server/cmd/reprised", "TestTheLogHasTheLevelAndTheFormThatAreSet"},
	"reprised log-format":             {"server/cmd/reprised", "TestTheLogHasTheLevelAndTheFormThatAreSet"},
	"reprised drain-timeout":          {"server/cmd/reprised", "TestADeadAgentDoesNotHoldUpTheStop"},
	"reprise-agent server":            {"agent/cmd/reprise-agent", "TestTheAgentIsWhoAndWhereItIsToldToBe"},
	"reprise-agent machine":           {"agent/cmd/reprise-agent", "TestTheAgentIsWhoAndWhereItIsToldToBe"},
	"reprise-agent token-file":        {"agent/cmd/reprise-agent", "TestTheAgentIsWhoAndWhereItIsToldToBe"},
	"reprise-agent ca-file":           {"agent/cmd/reprise-agent", "TestTheServersCertificateIsJudgedByTheCAFile"},
	"reprise-agent state-dir":         {"agent/cmd/reprise-agent", "TestTheMemoryIsInTheStateDir"},
	"reprise-agent secrets-dir":       {"agent/cmd/reprise-agent", "TestASecretOfTheSecretsDirIsTyped"},
	"reprise-agent driver":            {"agent/cmd/reprise-agent", "TestTheDesktopIsTheOneThatIsSet"},
	"reprise-agent desktop":           {"agent/cmd/reprise-agent", "TestTheDesktopIsTheOneThatIsSet"},
	"reprise-agent display":           {"agent/cmd/reprise-agent", "TestTheDisplayIsTheOneThatIsSet"},
	"reprise-agent dedup-size":        {"agent/cmd/reprise-agent", "TestAnActionBeyondTheDedupSizeIsForgotten"},
	"reprise-agent restless":          {"agent/cmd/reprise-agent", "TestWhatIsRestlessIsNoEffect"},
	"reprise-agent popups-file":       {"agent/cmd/reprise-agent", "TestThePopupsOfTheFileAreClosed"},
	"reprise-agent type-mode":         {"agent/cmd/reprise-agent", "TestTheFlagsOfDriverWindowsReachIt"},
	"reprise-agent type-pace":         {"agent/cmd/reprise-agent", "TestTheFlagsOfDriverWindowsReachIt"},
	"reprise-agent restore-clipboard": {"agent/cmd/reprise-agent", "TestTheFlagsOfDriverWindowsReachIt"},
	"reprise-agent user":              {"agent/supervise", "TestB11_TheSessionIsChosenByStateAndUser"},
	"reprise-agent stop-key":          {"agent/cmd/reprise-agent", "TestTheFlagsOfThePersonAtTheMachineReachTheGuard"},
	"reprise-agent own-input":         {"agent/cmd/reprise-agent", "TestTheFlagsOfThePersonAtTheMachineReachTheGuard"},
	"reprise-agent language":          {"agent/cmd/reprise-agent", "TestTheFlagsOfThePersonAtTheMachineReachTheGuard"},
	"reprise-agent announce":          {"agent/agent", "TestPausesAreShownAtTheDesktopAndPlacesOutlined"},
	"reprise-agent limits-file":       {"agent/cmd/reprise-agent", "TestNoServerLiftsTheLimitsOfTheMachine"},
	"reprise-agent log-file":          {"agent/cmd/reprise-agent", "TestLogLinesGoToTheFileAlone"},
	"reprise-agent log-file-max-mb":   {"agent/cmd/reprise-agent", "TestAFullLogFileIsPutAsideAndTheOldestGo"},
	"reprise-agent log-files":         {"agent/cmd/reprise-agent", "TestAFullLogFileIsPutAsideAndTheOldestGo"},
	"reprise-agent log-level":         {"agent/cmd/reprise-agent", "TestTheLogHasTheLevelAndTheFormThatAreSet"},
	"reprise-agent log-format":        {"agent/cmd/reprise-agent", "TestTheLogHasTheLevelAndTheFormThatAreSet"},
}

// without are the settings that are taken and checked and change nothing yet.
var without = []string{
	"reprised heartbeat-max-age", "reprised min-score-text", "reprised paste-timeout", "reprised precheck-timeout",
	"reprised server-action-timeout",
}

func TestEachSettingHasItsEffect(t *testing.T) {
	for _, e := range effects {
		t.Run(e.setting, func(t *testing.T) {
			for name, want := range map[string]any{"default": e.byDef, "changed": e.changed} {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						got := e.play(&scenario{T: t, change: e.change(t, name == "changed")})
						if fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("seen: %v, want: %v", got, want)
						}
					})
				})
			}
		})
	}
}

// change is what a play makes of the settings.
func (e effect) change(t *testing.T, other bool) func(*setup) {
	t.Helper()
	flags := slices.Clone(e.with)
	if other && e.agent == nil {
		flags = append(flags, "--"+e.setting+"="+e.other)
	}
	server := loaded(t, nil, flags...)
	return func(s *setup) {
		s.server = server
		if other {
			s.agent = e.agent
		}
	}
}

// loaded reads settings from an environment and flags as reprised does, so that what
// is played is what can be set.
func loaded(t *testing.T, env map[string]string, flags ...string) settings.Settings {
	t.Helper()
	set := pflag.NewFlagSet("reprised", pflag.ContinueOnError)
	l := settings.Bind(set)
	if err := set.Parse(flags); err != nil {
		t.Fatal(err)
	}
	s, _, err := l.Load(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEachOtherValueShowsWhatTheDefaultDoesNot(t *testing.T) {
	for _, e := range effects {
		if fmt.Sprint(e.byDef) == fmt.Sprint(e.changed) {
			t.Errorf("%s: the default and the other value both show %v", e.setting, e.byDef)
		}
	}
}

// Every setting that a program lists in its help is played, or shown elsewhere by a
// test that is there, or says that it has no effect yet: exactly one of these.
func TestNoSettingIsWithoutATestOfItsEffect(t *testing.T) {
	listed := map[string]string{}
	for name, help := range helpOf(t, "reprised") {
		listed["reprised "+name] = help
	}
	for name, help := range helpOf(t, "reprise-agent", "run") {
		listed["reprise-agent "+name] = help
	}
	if len(listed) < 60 {
		t.Fatalf("the programs list %d settings: the help is not read as it is written", len(listed))
	}
	shown := map[string]int{}
	for _, e := range effects {
		program := "reprised "
		if e.agent != nil {
			program = "reprise-agent "
		}
		shown[program+e.setting] = 1
	}
	for name, where := range elsewhere {
		shown[name]++
		if !declared(t, where[0], where[1]) {
			t.Errorf("%s: %s has no %s", name, where[0], where[1])
		}
	}
	for _, name := range without {
		shown[name]++
	}
	for name, help := range listed {
		if shown[name] != 1 {
			t.Errorf("%s is shown %d times", name, shown[name])
		}
		if says := strings.Contains(help, "No effect yet"); says != slices.Contains(without, name) {
			t.Errorf("%s: its help says that it has no effect: %v", name, says)
		}
	}
	for name := range shown {
		if _, ok := listed[name]; !ok {
			t.Errorf("there is no setting %s", name)
		}
	}
}

// settingLine is a line of --help: the flag, its kind, its meaning and its variable.
var settingLine = regexp.MustCompile(`^\s+--([a-z-]+) .* \[RPA_[A-Z0-9_]+\]`)

// helpOf returns the settings of a program, with the line that its help has on each.
func helpOf(t *testing.T, program string, args ...string) map[string]string {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, program), append(args, "--help")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if m := settingLine.FindStringSubmatch(line); m != nil && m[1] != "config" {
			all[m[1]] = line
		}
	}
	return all
}

// declared says whether a test is there.
func declared(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == test {
				return true
			}
		}
	}
	return false
}
