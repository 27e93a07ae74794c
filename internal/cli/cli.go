// Package cli holds what the command lines of all programs do alike.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// RefuseUnknownCommands makes a word that names no subcommand an error, below each
// command of root that has subcommands, those that cobra adds among them. Alone such
// a command prints its help. Cobra would answer both with the help and no error
// (https://github.com/spf13/cobra/issues/706), which a script takes for success.
//
// It is called once all commands are added and root's output is set: cobra's command
// that prints completion scripts keeps the output that it finds then.
func RefuseUnknownCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = topic
		}
	}
	refuseBelow(root)
}

func refuseBelow(cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		return
	}
	cmd.Args = none
	if !cmd.Runnable() {
		cmd.DisableFlagsInUseLine = true // it has only those of its subcommands
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		refuseBelow(sub)
	}
}

// none allows no word behind a command.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknown(cmd, args[0])
}

// topic allows the words of a command behind "help".
func topic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	return none(found, rest)
}

// unknown names the word and what is near it.
func unknown(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2 // edits; as cobra has it for the commands of a root
	advice := fmt.Sprintf("%q lists them", cmd.CommandPath()+" --help")
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		advice = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q; %s", word, cmd.CommandPath(), advice)
}
