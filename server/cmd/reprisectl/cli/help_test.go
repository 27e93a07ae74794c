package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWhatIsWrongBeforeTheFlagsAreReadIsToldInTheChosenFormat(t *testing.T) {
	for args, asJSON := range map[string]bool{
		"bogus -o json": true, "-o json bogus": true, "bogus --output=json": true, "bogus -ojson": true, "bogus -m desk-1 -o json": true,
		"get r-1 --nonsense -o json": true, "get r-1 --nonsense --output json": true, "list --timeout soon -o json": true, "get -o json": true,
		"run w.yaml -o json": true, "resume r-1 --skip --position 0,0 -o json": true,
		"bogus": false, "bogus -o plain": false, "bogus -o xml": false, "bogus -- -o json": false, "bogus -o json -o plain": false,
	} {
		got := ctl(t, &fake{}, strings.Fields(args)...)
		wantExit(t, got, exitUsage)
		var object struct {
			Type, Message string
			ExitCode      int
		}
		err := json.Unmarshal([]byte(got.stderr), &object)
		if !asJSON {
			if err == nil || !strings.HasPrefix(got.stderr, "reprisectl: ") {
				t.Errorf("%s: stderr: %s", args, got.stderr)
			}
			continue
		}
		if err != nil || object.Type != "error" || object.Message == "" || object.ExitCode != exitUsage || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: %v, stderr: %s", args, err, got.stderr)
		}
	}
}

func TestHelpShowsFlagsThatAreGivenOrNotByTheirName(t *testing.T) {
	for command, flags := range map[string][]string{
		"": {"--help"}, "run": {"--help", "--unattended", "--fail-on-pause", "--wait"}, "resume": {"--help", "--skip"}, "validate": {"--server-check"}, "journal dump": {"--help"},
	} {
		got := ctl(t, &fake{}, append(strings.Fields(command), "--help")...)
		wantExit(t, got, exitOK)
		if strings.Contains(got.stdout, "=true") {
			t.Errorf("%s: %s", command, got.stdout)
		}
		for _, flag := range flags {
			if !strings.Contains(got.stdout, " "+flag+"  ") {
				t.Errorf("%s: %s is missing: %s", command, flag, got.stdout)
			}
		}
	}
}

func TestEveryCommandThatAsksForSomethingHasAnExample(t *testing.T) {
	a := &app{env: Env{Getenv: func(string) string { return "" }}}
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if cmd.HasSubCommands() || cmd.Name() == "version" {
			return
		}
		if !strings.HasPrefix(cmd.Example, "  "+cmd.CommandPath()) {
			t.Errorf("%s: example %q", cmd.CommandPath(), cmd.Example)
		}
		for _, l := range strings.Split(cmd.Long, "\n") {
			if len(l) > 120 {
				t.Errorf("%s: a line of %d characters", cmd.CommandPath(), len(l))
			}
		}
	}
	check(a.root())
}

// What the examples say is understood, up to the server that is not there.
func TestExamplesAreCommandLinesThatAreUnderstood(t *testing.T) {
	var examples []string
	var collect func(*cobra.Command)
	collect = func(cmd *cobra.Command) {
		for l := range strings.Lines(cmd.Example) {
			l, _, _ = strings.Cut(strings.TrimSpace(l), " | ")
			examples = append(examples, strings.ReplaceAll(l, `"`, ""))
		}
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	collect((&app{env: Env{Getenv: func(string) string { return "" }}}).root())
	t.Chdir(t.TempDir())
	for _, e := range examples {
		args := strings.Fields(e)[1:]
		if args[0] == "run" || args[0] == "append" || args[0] == "validate" || args[0] == "journal" || strings.Contains(e, "--message") || strings.Contains(e, "--reason") {
			args = append(args, "--help") // they need a file, or a shell that reads quotes
		}
		got := ctlAt(t, &host{fake: &fake{}}, args...)
		if got.exit != exitUnreachable && got.exit != exitOK {
			t.Errorf("%s: exit code %d, %s", e, got.exit, got.stderr)
		}
	}
	if len(examples) < 20 {
		t.Errorf("%d examples are found", len(examples))
	}
}
