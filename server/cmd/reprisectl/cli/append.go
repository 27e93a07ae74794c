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

// appendMost is how many actions one call appends; the schema's limit.
const appendMost = 10000

func (a *app) appendCommand() *cobra.Command {
	var requestID string
	var last bool
	cmd := &cobra.Command{
		Use:   "append REPLAY FILE",
		Short: "Append the actions of a workflow file to an open replay",
		Long: "append adds the actions of a workflow file to the end of a replay that was left open, and uploads the pictures that the\n" +
			"server does not have. The file's name, description and labels are not used; a monitor that it names for all actions\n" +
			"goes with each of them. A file with masks or popups is refused: the replay's own hold for all its actions.",
		Example: "  reprisectl append r-1 next.yaml\n  reprisectl append r-1 last.yaml --close\n" +
			"  reprisectl append r-1 next.yaml --request-id turn-7",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := a.load(args[1])
			if err != nil {
				return err
			}
			if w := file.Workflow; len(w.GetMasks())+len(w.GetPopups()) > 0 {
				return usage(fmt.Errorf("%s: %w", args[1], errOfReplay))
			}
			reqs := appending(args[0], or(requestID, uuid.NewString()), file.Workflow, last)
			return a.with(func(c *client) error { return a.append(cmd.Context(), c, file.Pictures, reqs) })
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return completeFiles(cmd, args, typed)
			}
			return a.completeReplays(live...)(cmd, args, typed)
		},
	}
	cmd.Flags().StringVar(&requestID, "request-id", "", "the same id and file append once, however often they are run; by default a new id")
	cmd.Flags().BoolVar(&last, "close", false, "these were the last: close the replay in the same step")
	return cmd
}

// live are the states of a replay that has not ended.
var live = []reprisev1.ReplayState{
	reprisev1.ReplayState_REPLAY_STATE_QUEUED, reprisev1.ReplayState_REPLAY_STATE_RUNNING, reprisev1.ReplayState_REPLAY_STATE_PAUSED,
}

var errOfReplay = errors.New("masks and popups cannot be appended: a replay has those of the file that it was created from; " +
	"create it with them, and take them out of the file to append")

// appending splits what is to be appended into calls, each with a request id of
// its own that is the same when it is all done again.
func appending(replayID, requestID string, w *reprisev1.Workflow, last bool) []*reprisev1.AppendActionsRequest {
	for _, action := range w.GetActions() {
		if action.GetMonitorResolution() == nil {
			action.MonitorResolution = w.GetMonitorResolution()
		}
	}
	var reqs []*reprisev1.AppendActionsRequest
	for rest := w.GetActions(); len(rest) > 0; {
		some := rest[:min(appendMost, len(rest))]
		rest = rest[len(some):]
		req := &reprisev1.AppendActionsRequest{ReplayId: replayID, RequestId: requestID, Actions: some, Close: last && len(rest) == 0}
		if n := len(reqs); n > 0 {
			req.RequestId = fmt.Sprintf("%s-%d", requestID, n+1)
		}
		reqs = append(reqs, req)
	}
	return reqs
}

// append uploads what is missing and appends. All of it may be repeated, so it
// outlives a server that restarts in the middle.
func (a *app) append(ctx context.Context, c *client, pictures []workflow.Picture, reqs []*reprisev1.AppendActionsRequest) error {
	if err := a.upload(ctx, c, pictures); err != nil {
		return err
	}
	var all reprisev1.AppendActionsResponse
	for _, req := range reqs {
		err := a.insist(ctx, c, "append to "+req.GetReplayId(), func(ctx context.Context) error {
			resp, err := c.replays.AppendActions(ctx, req)
			if err == nil {
				all.Replay, all.ActionIds = resp.GetReplay(), append(all.GetActionIds(), resp.GetActionIds()...)
			}
			return err
		})
		if exitOf(err) == exitUnreachable && c.met.made.Load() {
			_, _ = fmt.Fprintf(a.errs, "whether all was appended is not known: append it again with --request-id %s, nothing is appended twice\n",
				quote(reqs[0].GetRequestId()))
		}
		if err != nil {
			return err
		}
	}
	return a.appended(&all, reqs[0].GetRequestId())
}

func (a *app) appended(resp *reprisev1.AppendActionsResponse, requestID string) error {
	r := resp.GetReplay()
	if a.output == lines {
		l := replayLine(r)
		l.RequestID, l.ActionIDs = requestID, resp.GetActionIds()
		return a.emit(l)
	}
	return a.printf("replay %s: %d appended, %s, %d of %d actions settled\n",
		r.GetReplayId(), len(resp.GetActionIds()), stateWord(r), r.GetSettledCount(), r.GetActionCount())
}

func (a *app) closeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "close REPLAY",
		Short: "Say that an open replay gets no more actions",
		Long: "close says that no more actions come: the replay completes when all are settled. Closing a replay that is closed or\n" +
			"completed changes nothing.",
		Example: "  reprisectl close r-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.steerReplay(cmd.Context(), "close "+args[0], func(ctx context.Context, c *client) (*reprisev1.Replay, error) {
				resp, err := c.replays.CloseReplay(ctx, &reprisev1.CloseReplayRequest{ReplayId: args[0]})
				return resp.GetReplay(), err
			})
		},
		ValidArgsFunction: a.completeReplays(live...),
	}
}
