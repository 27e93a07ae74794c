// Package cli is reprisectl: it turns a command line into calls of the server
// and shows the answers to people and scripts. It decides how things are shown,
// what an exit code means and when a lost server is asked again. It holds no
// state: what a replay does is the server's, and ending this program ends no
// replay.
package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/internal/cli"
)

// Journal reads a server's journal on the disk of this machine.
type Journal interface {
	// Dump writes the journal below a data folder for people, never with typed text.
	Dump(ctx context.Context, data string, w io.Writer) error
	// Verify checks the journal below a data folder and writes what it found. An
	// error says that the journal is damaged or cannot be read.
	Verify(ctx context.Context, data string, w io.Writer) error
}

// Env is all that reprisectl takes from the process around it.
type Env struct {
	Args           []string                            // without the program's name
	Stdout, Stderr io.Writer                           // required
	Getenv         func(string) string                 // nil: no environment
	Terminal       func() (columns, rows int, ok bool) // of stdout; nil: none
	Journal        Journal                             // nil: the journal commands are refused
	Dial           []grpc.DialOption                   // added to the client's own
	Location       *time.Location                      // in which times are shown; nil: UTC
	Version        string
}

// app is one run of the program.
type app struct {
	env       Env
	out, errs io.Writer // what people read; env's own writers are for JSON, PNG and our own escapes
	started   bool      // the command line was understood
	// The flags that all commands share.
	server, tokenFile, caFile string
	output                    format
	timeout                   time.Duration
}

// Main runs the command line until it is done or ctx ends, and returns the exit
// code, one of those that docs/exit-codes.md lists.
func Main(ctx context.Context, env Env) int {
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if env.Terminal == nil {
		env.Terminal = func() (int, int, bool) { return 0, 0, false }
	}
	if env.Location == nil {
		env.Location = time.UTC
	}
	a := &app{env: env, out: printer{env.Stdout}, errs: printer{env.Stderr}}
	root := a.root()
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	cli.RefuseUnknownCommands(root)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		a.output = formatIn(env.Args)
		err = usage(err)
	}
	if err != nil && ctx.Err() != nil {
		err = interrupted(err)
	}
	return a.report(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "reprisectl",
		Short: "Run, watch and steer replays",
		Long: "reprisectl runs workflow files on machines, and watches and steers replays.\n\n" +
			"Ending it ends no replay: use cancel for that.\n\n" + exitCodeHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	a.connectionFlags(root)
	root.PersistentFlags().VarP(&a.output, "output", "o", "plain, or json: one object per line")
	completeFixed(root, "output", "plain", "json")
	root.AddCommand(a.runCommand(), a.appendCommand(), a.closeCommand(), a.watchCommand(), a.listCommand(), a.getCommand(),
		a.whyCommand(), a.eventsCommand(), a.pauseCommand(), a.resumeCommand(), a.cancelCommand(), a.screenshotCommand(), a.machinesCommand(), a.validateCommand(), a.journalCommand(), a.versionCommand())
	a.noteStart(root)
	plainBooleans(root)
	return root
}

// noteStart lets each command note that it runs: what fails before is the
// command line's fault.
func (a *app) noteStart(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.noteStart(sub)
	}
}

func (a *app) connectionFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.server, "server", or(a.env.Getenv("REPRISE_SERVER"), "127.0.0.1:7443"), "address of the server (REPRISE_SERVER)")
	f.StringVar(&a.tokenFile, "token-file", a.env.Getenv("REPRISE_TOKEN_FILE"), "file that holds the token (REPRISE_TOKEN_FILE)")
	f.StringVar(&a.caFile, "ca-file", a.env.Getenv("REPRISE_CA_FILE"),
		"certificates that the server's is checked against (REPRISE_CA_FILE); without it the system's, and plain text on loopback")
	f.DurationVar(&a.timeout, "timeout", 30*time.Second, "longest time that one call to the server may take; watching has no limit")
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

// format is how results are written; it is a flag's value.
type format string

const (
	plain format = ""
	lines format = "json"
)

func (f *format) String() string { return or(string(*f), "plain") }

func (f *format) Type() string { return "format" }

func (f *format) Set(s string) error {
	switch s {
	case "plain":
		*f = plain
	case "json":
		*f = lines
	default:
		return errUnknownFormat
	}
	return nil
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.output == lines {
				return a.emit(line{Type: "version", Version: a.env.Version})
			}
			return a.printf("reprisectl %s\n", a.env.Version)
		},
	}
}
