package cli_test

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/internal/cli"
)

// tree is a program with a group, as all of ours are made. With serves it does
// something of its own without a subcommand.
func tree(serves bool, out io.Writer) *cobra.Command {
	root := &cobra.Command{Use: "prog", SilenceUsage: true, SilenceErrors: true}
	if serves {
		root.Args = cobra.NoArgs
		root.RunE = say("served")
	}
	group := &cobra.Command{Use: "token", Short: "Manage tokens"}
	group.PersistentFlags().String("data-dir", "", "")
	group.AddCommand(
		&cobra.Command{Use: "list", Short: "List", Args: cobra.NoArgs, RunE: say("listed")},
		&cobra.Command{Use: "revoke ID", Short: "Revoke", Args: cobra.ExactArgs(1), RunE: say("revoked")},
		&cobra.Command{Use: "resolve", Hidden: true, RunE: say("resolved")},
	)
	root.AddCommand(group)
	root.SetOut(out)
	root.SetErr(out)
	cli.RefuseUnknownCommands(root)
	return root
}

func say(what string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cmd.Print(what)
		return nil
	}
}

func run(serves bool, line string) (out string, err error) {
	var b strings.Builder
	root := tree(serves, &b)
	root.SetArgs(strings.Fields(line))
	err = root.Execute()
	return b.String(), err
}

func TestAWordThatNamesNoCommandIsAnError(t *testing.T) {
	for line, want := range map[string]string{
		"bogus":                      `unknown command "bogus" for "prog"; "prog --help" lists them`,
		"tokn list":                  `unknown command "tokn" for "prog"; did you mean token?`,
		"token bogus":                `unknown command "bogus" for "prog token"; "prog token --help" lists them`,
		"token bogus --data-dir /x":  `unknown command "bogus" for "prog token"; "prog token --help" lists them`,
		"token revok 7":              `unknown command "revok" for "prog token"; did you mean revoke?`,
		"token --data-dir /x li":     `unknown command "li" for "prog token"; did you mean list?`,
		"completion bogus":           `unknown command "bogus" for "prog completion"; "prog completion --help" lists them`,
		"completion fsh":             `unknown command "fsh" for "prog completion"; did you mean bash or fish or zsh?`,
		"help bogus":                 `unknown command "bogus" for "prog"; "prog --help" lists them`,
		"help token revok":           `unknown command "revok" for "prog token"; did you mean revoke?`,
		"token resolv --data-dir /x": `unknown command "resolv" for "prog token"; "prog token --help" lists them`, // it is hidden,
	} {
		for _, serves := range []bool{false, true} {
			out, err := run(serves, line)
			if err == nil || err.Error() != want || out != "" {
				t.Errorf("%s (the root serves: %v):\n got %v\nwant %s\nprinted %q", line, serves, err, want, out)
			}
		}
	}
}

func TestAGroupWithoutASubcommandPrintsItsHelp(t *testing.T) {
	for _, line := range []string{"token", "token --data-dir /x", "help token", "token --help"} {
		out, err := run(true, line)
		if err != nil || !strings.Contains(out, "\n  prog token [command]\n") || !strings.Contains(out, "revoke") {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
	if out, err := run(false, ""); err != nil || !strings.Contains(out, "prog [command]") {
		t.Errorf("the root: %v, %s", err, out)
	}
}

func TestWhatIsACommandStillRuns(t *testing.T) {
	for line, want := range map[string]string{"": "served", "token list": "listed", "token revoke 7": "revoked", "token resolve": "resolved"} {
		if out, err := run(true, line); err != nil || out != want {
			t.Errorf("%q: %q, %v", line, out, err)
		}
	}
	if out, err := run(true, "help token revoke"); err != nil || !strings.Contains(out, "prog token revoke ID") {
		t.Errorf("the help of a command: %q, %v", out, err)
	}
	if out, err := run(true, "completion bash"); err != nil || len(out) < 1000 {
		t.Errorf("the completion: %d bytes, %v", len(out), err)
	}
}
