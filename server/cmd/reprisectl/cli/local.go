package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/workflow"
)

func (a *app) validateCommand() *cobra.Command {
	var machine string
	var server bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a workflow file",
		Long: "validate checks a workflow file and its pictures; faults come as file:line:column on stderr.\n" +
			"What is sound and not supported yet comes there as a warning.\n" +
			"With --server-check the server checks it too and stores no replay; pictures that it lacks are uploaded for that.",
		Example: "  reprisectl validate nightly.yaml\n  reprisectl validate nightly.yaml --server-check --machine desk-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if server && machine == "" {
				return usage(errors.New("--server-check needs --machine"))
			}
			file, err := a.load(args[0])
			if err != nil {
				return err
			}
			a.warn(file.Warnings)
			if server {
				if err := a.serverCheck(cmd.Context(), file, machine); err != nil {
					return err
				}
			}
			return a.showFile(args[0], file)
		},
	}
	cmd.Flags().BoolVar(&server, "server-check", false, "let the server check the workflow as well")
	cmd.Flags().StringVarP(&machine, "machine", "m", "", "the machine that the workflow is for; with --server-check")
	a.completeMachines(cmd)
	return cmd
}

// warn writes warnings to stderr, in the chosen format.
func (a *app) warn(warnings []workflow.Warning) {
	for _, w := range warnings {
		if a.output == lines {
			_ = emitTo(a.env.Stderr, line{Type: "warning", File: w.File, Line: w.Line, Column: w.Column, Message: w.Message})
			continue
		}
		_, _ = fmt.Fprintln(a.errs, w)
	}
}

func (a *app) serverCheck(ctx context.Context, file workflow.File, machine string) error {
	return a.with(func(c *client) error {
		_, err := a.create(ctx, c, file.Pictures, &reprisev1.CreateReplayRequest{
			RequestId: uuid.NewString(), MachineId: machine, Workflow: file.Workflow, ValidateOnly: true,
		})
		return err
	})
}

func (a *app) showFile(path string, file workflow.File) error {
	w, size := file.Workflow, 0
	l := line{Type: "workflow", File: path, Name: w.GetName(), Actions: len(w.GetActions())}
	for _, p := range file.Pictures {
		size += len(p.Data)
		l.Pictures = append(l.Pictures, picture{p.Path, p.SHA256, len(p.Data)})
	}
	if a.output == lines {
		return a.emit(l)
	}
	return a.printf("%s: good: %q, %d actions, %d pictures of %d bytes\n", path, w.GetName(), l.Actions, len(l.Pictures), size)
}

func (a *app) journalCommand() *cobra.Command {
	var data string
	journal := &cobra.Command{
		Use:   "journal",
		Short: "Look into a server's journal on this machine",
	}
	add := func(name, short string, do func(context.Context) error) {
		cmd := &cobra.Command{
			Use: name, Short: short, Args: cobra.NoArgs, Example: "  reprisectl journal " + name + " --data /var/lib/reprise",
			RunE: func(cmd *cobra.Command, _ []string) error {
				if a.env.Journal == nil {
					return errors.New("this build holds no journal")
				}
				return do(cmd.Context())
			},
		}
		cmd.Flags().StringVar(&data, "data", "", "the server's data folder")
		_ = cmd.MarkFlagRequired("data") // only an unknown flag is an error
		_ = cmd.MarkFlagDirname("data")
		journal.AddCommand(cmd)
	}
	add("dump", "Write all events for people, never typed text", func(ctx context.Context) error {
		return a.env.Journal.Dump(ctx, data, a.out)
	})
	add("verify", "Check that the journal is whole", func(ctx context.Context) error {
		return a.env.Journal.Verify(ctx, data, a.out)
	})
	return journal
}
