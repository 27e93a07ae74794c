package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why REPLAY",
		Short: "Say why a replay is where it is, and what can be done",
		Long: "why shows what a replay waits for, what that waits for, and so on to what can be acted upon, with the commands that\n" +
			"do so.",
		Example: "  reprisectl why r-1\n  reprisectl why r-1 --output json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(func(c *client) error {
				var resp *reprisev1.ExplainReplayResponse
				err := a.call(cmd.Context(), "explain "+args[0], func(ctx context.Context) (err error) {
					resp, err = c.replays.ExplainReplay(ctx, &reprisev1.ExplainReplayRequest{ReplayId: args[0]})
					return err
				})
				if err != nil {
					return err
				}
				return a.explained(resp)
			})
		},
		ValidArgsFunction: a.completeReplays(),
	}
}

func (a *app) explained(resp *reprisev1.ExplainReplayResponse) error {
	r := resp.GetReplay()
	if a.output == lines {
		l := line{Type: "explanation", Replay: object(shown(r))}
		for _, c := range resp.GetCauses() {
			l.Causes = append(l.Causes, object(c))
			if p := c.GetPaused(); p.GetPause() != nil && !p.GetPausing() {
				l.Resume = resumeCommandLine(&reprisev1.Replay{ReplayId: p.GetReplayId(), Pause: p.GetPause()}, a.steer())
			}
		}
		return a.emit(l)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "replay %s of %q on %s: %s, %d of %d actions settled\n",
		r.GetReplayId(), r.GetWorkflowName(), r.GetMachineId(), stateWord(r), r.GetSettledCount(), r.GetActionCount())
	for i, c := range resp.GetCauses() {
		a.writeCause(&b, strings.Repeat("  ", i), c)
	}
	return a.printf("%s", b.String())
}

// writeCause writes one link of the chain, deeper than the one before it, and
// below it what can be done about it.
func (a *app) writeCause(b *strings.Builder, indent string, c *reprisev1.Cause) {
	fmt.Fprintf(b, "%s↳ %s", indent, firstLine(c.GetMessage()))
	if c.GetSince() != nil {
		fmt.Fprintf(b, " (since %s)", a.when(c.GetSince()))
	}
	b.WriteByte('\n')
	var more strings.Builder
	a.writeRemedy(&more, c)
	for l := range strings.Lines(more.String()) {
		b.WriteString(indent + "  " + l)
	}
}

// writeRemedy says what a person can do; what happens by itself is in the message.
func (a *app) writeRemedy(b *strings.Builder, c *reprisev1.Cause) {
	switch kind := c.GetKind().(type) {
	case *reprisev1.Cause_Paused:
		p := kind.Paused
		if p.GetPause() != nil && !p.GetPausing() {
			writeDecision(b, &reprisev1.Replay{ReplayId: p.GetReplayId(), Pause: p.GetPause()}, a.steer())
		}
	case *reprisev1.Cause_MachineOffline:
		fmt.Fprintf(b, "start the agent on %s, or look why it cannot connect: its log says so\n", kind.MachineOffline.GetMachineId())
	case *reprisev1.Cause_WaitingForActions:
		id := quote(kind.WaitingForActions.GetReplayId())
		fmt.Fprintf(b, "give it more:  %s append %s FILE\nor close it:   %[1]s close %[2]s\n", a.steer(), id)
	case *reprisev1.Cause_JournalUnavailable:
		b.WriteString("look at the server's log, its disk, and `reprisectl journal verify` on the server\n")
	}
}
