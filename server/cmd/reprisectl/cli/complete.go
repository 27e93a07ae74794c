package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// completeTimeout bounds how long a shell waits for names from the server.
const completeTimeout = time.Second

// completion is cobra's signature of a completion.
type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

func completeFixed(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // only an unknown flag is an error
}

// completeFiles offers workflow files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// names asks the server for completions; a server that is away has none.
func (a *app) names(cmd *cobra.Command, ask func(context.Context, *client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	ctx := cmd.Context()
	ctx, stop := context.WithTimeout(ctx, completeTimeout)
	defer stop()
	var names []string
	err := a.with(func(c *client) (err error) {
		names, err = ask(ctx, c)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" }), cobra.ShellCompDirectiveNoFileComp
}

// offer is a word to complete and what a shell says about it; empty, which is
// offered to nobody, when the word cannot be typed as a terminal shows it.
func offer(word, about string) string {
	switch {
	case word == "", inLine(word) != word:
		return ""
	case about == "":
		return word
	}
	return word + "\t" + inLine(about)
}

// completeReplays offers replays in one of these states, the newest first.
func (a *app) completeReplays(states ...reprisev1.ReplayState) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, directive := a.names(cmd, func(ctx context.Context, c *client) (names []string, err error) {
			resp, err := c.replays.ListReplays(ctx, &reprisev1.ListReplaysRequest{States: states, PageSize: 50})
			for _, r := range resp.GetReplays() {
				names = append(names, offer(r.GetReplayId(), fmt.Sprintf("%s on %s, %s", clip(firstLine(r.GetWorkflowName()), 30), r.GetMachineId(), stateWord(r))))
			}
			return names, err
		})
		return names, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeMachines offers machines for --machine.
func (a *app) completeMachines(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("machine", a.machineNames) // only an unknown flag is an error
}

func (a *app) machineNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.names(cmd, func(ctx context.Context, c *client) (names []string, err error) {
		resp, err := c.machines.ListMachines(ctx, &reprisev1.ListMachinesRequest{})
		for _, m := range resp.GetMachines() {
			names = append(names, offer(m.GetMachineId(), ""))
		}
		return names, err
	})
}

// completeSteps offers what --ack and --from may name in the replay.
func (a *app) completeSteps(cmd *cobra.Command) {
	complete := func(flag string, pick func(*reprisev1.Replay) []string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.names(cmd, func(ctx context.Context, c *client) ([]string, error) {
				r, err := a.get(ctx, c, args[0])
				return pick(r), err
			})
		})
	}
	complete("ack", func(r *reprisev1.Replay) (ids []string) {
		for _, c := range r.GetPause().GetSafetyChecks() {
			ids = append(ids, offer(c.GetId(), c.GetLabel()))
		}
		return ids
	})
	complete("from", func(r *reprisev1.Replay) (names []string) {
		for _, s := range r.GetActions() {
			about := word(s.GetState(), "ACTION_STATE_")
			names = append(names, or(offer(s.GetName(), about), offer(s.GetActionId(), about)))
		}
		return names
	})
}
