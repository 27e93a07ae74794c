package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// followFlags are the flags of commands that watch a replay.
func followFlags(cmd *cobra.Command, failOnPause *bool, giveUp *time.Duration) {
	cmd.Flags().BoolVar(failOnPause, "fail-on-pause", false, "stop watching when the replay needs a person, with exit code 5")
	giveUpFlag(cmd, giveUp)
}

// giveUpFlag is the flag of all that outlives a lost server.
func giveUpFlag(cmd *cobra.Command, giveUp *time.Duration) {
	cmd.Flags().DurationVar(giveUp, "give-up-after", 0, "stop watching when the server is away for so long, with exit code 6; 0: never")
}

func (a *app) watchCommand() *cobra.Command {
	var f following
	var history bool
	cmd := &cobra.Command{
		Use:   "watch REPLAY",
		Short: "Watch a replay to its end",
		Long: "watch shows a replay as it is and then each event of it, to its end. It outlives cut connections and restarts of the\n" +
			"server: it goes on after the last event that it has shown. Interrupting it leaves the replay running.",
		Example: "  reprisectl watch r-1\n  reprisectl watch r-1 --history\n  reprisectl watch r-1 --fail-on-pause --output json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.id = args[0]; history {
				f.after = new(int64(0))
			}
			return a.with(func(c *client) error { return a.followTo(cmd.Context(), c, f) })
		},
		ValidArgsFunction: a.completeReplays(),
	}
	cmd.Flags().BoolVar(&history, "history", false, "show what happened before, too: all events from the first")
	followFlags(cmd, &f.failOnPause, &f.giveUp)
	return cmd
}
