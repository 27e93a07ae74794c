package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func (a *app) pauseCommand() *cobra.Command {
	req := &reprisev1.PauseReplayRequest{}
	cmd := &cobra.Command{
		Use:   "pause REPLAY",
		Short: "Pause a replay; an action in flight finishes",
		Long: "pause lets nothing more be dispatched; an action in flight finishes and its report counts. A new message for a replay\n" +
			"that a person has paused already is shown in place of the old one.",
		Example: "  reprisectl pause r-1 --message \"back at two\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ReplayId = args[0]
			return a.steerReplay(cmd.Context(), "pause "+args[0], func(ctx context.Context, c *client) (*reprisev1.Replay, error) {
				resp, err := c.replays.PauseReplay(ctx, req)
				return resp.GetReplay(), err
			})
		},
		ValidArgsFunction: a.completeReplays(reprisev1.ReplayState_REPLAY_STATE_QUEUED, reprisev1.ReplayState_REPLAY_STATE_RUNNING),
	}
	cmd.Flags().StringVar(&req.Message, "message", "", "shown to the person at the machine")
	return cmd
}

func (a *app) cancelCommand() *cobra.Command {
	req := &reprisev1.CancelReplayRequest{}
	cmd := &cobra.Command{
		Use:   "cancel REPLAY",
		Short: "End a replay and stop its action in flight",
		Long: "cancel ends a live replay: nothing more of it is sent, and the agent is asked to stop the action in flight.\n" +
			"Cancelling a cancelled replay changes nothing.",
		Example: "  reprisectl cancel r-1 --reason \"wrong patient\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ReplayId = args[0]
			return a.steerReplay(cmd.Context(), "cancel "+args[0], func(ctx context.Context, c *client) (*reprisev1.Replay, error) {
				resp, err := c.replays.CancelReplay(ctx, req)
				return resp.GetReplay(), err
			})
		},
		ValidArgsFunction: a.completeReplays(reprisev1.ReplayState_REPLAY_STATE_QUEUED, reprisev1.ReplayState_REPLAY_STATE_RUNNING,
			reprisev1.ReplayState_REPLAY_STATE_PAUSED),
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "kept with the replay")
	return cmd
}

// steerReplay makes one call that changes a replay and shows the replay after it.
func (a *app) steerReplay(ctx context.Context, what string, do func(context.Context, *client) (*reprisev1.Replay, error)) error {
	return a.with(func(c *client) error {
		var r *reprisev1.Replay
		err := a.call(ctx, what, func(ctx context.Context) (err error) {
			r, err = do(ctx, c)
			return err
		})
		if err != nil {
			return err
		}
		if a.output == lines {
			return a.emit(replayLine(r))
		}
		return a.printf("replay %s: %s, %d of %d actions settled\n", r.GetReplayId(), stateWord(r), r.GetSettledCount(), r.GetActionCount())
	})
}

// resuming are the flags of resume.
type resuming struct {
	acks           []string
	skip           bool
	position, from string
}

func (a *app) resumeCommand() *cobra.Command {
	var o resuming
	cmd := &cobra.Command{
		Use:   "resume REPLAY",
		Short: "Let a paused replay go on",
		Long: "resume lets a paused replay go on. Where an action is to be decided on it is run again, under a new id,\n" +
			"unless --skip counts it as done. All required checks must be acknowledged.",
		Example: "  reprisectl resume r-1 --ack patient-checked\n  reprisectl resume r-1 --skip\n" +
			"  reprisectl resume r-1 --position 0.25,0.4\n  reprisectl resume r-1 --from login",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := o.request(args[0])
			if err != nil {
				return usage(err)
			}
			return a.with(func(c *client) error { return a.resume(cmd.Context(), c, req) })
		},
		ValidArgsFunction: a.completeReplays(reprisev1.ReplayState_REPLAY_STATE_PAUSED),
	}
	cmd.Flags().StringArrayVar(&o.acks, "ack", nil, "id of a check that a person has confirmed; may be repeated")
	cmd.Flags().BoolVar(&o.skip, "skip", false, "count the action to decide on as done")
	cmd.Flags().StringVar(&o.position, "position", "", "run the action at `x,y` instead, in fractions of its monitor")
	cmd.Flags().StringVar(&o.from, "from", "", "go on from this action: its id or the name of its step")
	cmd.MarkFlagsMutuallyExclusive("skip", "position")
	a.completeSteps(cmd)
	return cmd
}

func (o resuming) request(id string) (*reprisev1.ResumeReplayRequest, error) {
	req := &reprisev1.ResumeReplayRequest{ReplayId: id, FromAction: o.from}
	for _, id := range o.acks {
		if !slices.Contains(req.GetAcknowledgedCheckIds(), id) { // to confirm something twice is to confirm it
			req.AcknowledgedCheckIds = append(req.AcknowledgedCheckIds, id)
		}
	}
	if o.skip {
		req.Decision = reprisev1.ResumeDecision_RESUME_DECISION_SKIP
	}
	if o.position != "" {
		p, err := parsePosition(o.position)
		if err != nil {
			return nil, fmt.Errorf("--position %q: %w", o.position, err)
		}
		req.Position = p
	}
	return req, nil
}

var errPosition = errors.New("x,y is needed, two numbers from 0 to 1")

func parsePosition(s string) (*reprisev1.Point, error) {
	left, right, ok := strings.Cut(s, ",")
	if !ok {
		return nil, errPosition
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(left), 64)
	y, err2 := strconv.ParseFloat(strings.TrimSpace(right), 64)
	if errors.Join(err, err2) != nil || outside(x) || outside(y) {
		return nil, errPosition
	}
	return &reprisev1.Point{X: x, Y: y}, nil
}

func outside(f float64) bool { return math.IsNaN(f) || f < 0 || f > 1 }

func (a *app) resume(ctx context.Context, c *client, req *reprisev1.ResumeReplayRequest) error {
	var resp *reprisev1.ResumeReplayResponse
	err := a.call(ctx, "resume "+req.GetReplayId(), func(ctx context.Context) (err error) {
		resp, err = c.replays.ResumeReplay(ctx, req)
		return err
	})
	if err != nil {
		return err
	}
	a.pausedAgain(ctx, c, resp.GetReplay())
	return a.resumed(resp)
}

// pausedAgain completes the pause of a replay that met its next one right away:
// the answer to a command holds only its reason.
func (a *app) pausedAgain(ctx context.Context, c *client, r *reprisev1.Replay) {
	if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED {
		return
	}
	full, err := a.head(ctx, c, r.GetReplayId())
	if err == nil && full.GetPause() != nil { // else the reason must do: the resume itself is done
		r.Pause = full.GetPause()
	}
}

func (a *app) resumed(resp *reprisev1.ResumeReplayResponse) error {
	r, left := resp.GetReplay(), resp.GetRemainingActions()
	paused := r.GetState() == reprisev1.ReplayState_REPLAY_STATE_PAUSED
	if a.output == lines {
		l := replayLine(r)
		l.Session, l.Remaining = resp.GetSessionId(), &left
		if paused {
			l.Resume = resumeCommandLine(r, a.steer())
		}
		return a.emit(l)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "replay %s: ", r.GetReplayId())
	if paused {
		b.WriteString("resumed, and ")
	}
	fmt.Fprintf(&b, "%s, %d actions to go", stateWord(r), left)
	if resp.GetSessionId() == "" && !r.GetAgentAway() {
		b.WriteString(", agent away")
	}
	b.WriteByte('\n')
	if paused {
		writePause(&b, r, a.steer())
	}
	return a.printf("%s", b.String())
}
