package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// actionPage is how many actions are asked for at once: with the largest reports
// they stay below maxReply.
const actionPage = 500

func (a *app) getCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "get REPLAY",
		Short: "Show a replay with its actions, or fetch its evidence",
		Long: "get shows a replay with its actions and what was reported for them. What was typed or pasted is not shown.\n" +
			"With --output json it shows the whole reports.\n\n" +
			"With --evidence it puts the replay (replay.json) and every picture that its reports name into a folder, with an\n" +
			"index.json that says which picture is of which action. Run again it fetches only what is not there. When pictures\n" +
			"are no longer kept, or were never uploaded, it names them and ends with exit code 7.",
		Example: "  reprisectl get r-1\n  reprisectl get r-1 --output json\n  reprisectl get r-1 --evidence evidence/r-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("evidence") && dir == "" {
				return usage(errors.New("--evidence: a folder is needed"))
			}
			return a.with(func(c *client) error {
				if dir != "" {
					return a.collect(cmd.Context(), c, args[0], dir)
				}
				r, err := a.get(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if a.output == lines {
					return a.emit(replayLine(r))
				}
				return a.showReplay(r)
			})
		},
		ValidArgsFunction: a.completeReplays(),
	}
	cmd.Flags().StringVar(&dir, "evidence", "", "put the replay and its pictures into this `folder`")
	_ = cmd.MarkFlagDirname("evidence") // only an unknown flag is an error
	return cmd
}

// get asks for a replay and then for its actions, page after page, so that no
// replay is too large.
func (a *app) get(ctx context.Context, c *client, id string) (*reprisev1.Replay, error) {
	r, err := a.head(ctx, c, id)
	if err != nil {
		return nil, err
	}
	req := &reprisev1.ListActionsRequest{ReplayId: id, PageSize: actionPage}
	for {
		var page *reprisev1.ListActionsResponse
		err := a.call(ctx, "list the actions of "+id, func(ctx context.Context) (err error) {
			page, err = c.replays.ListActions(ctx, req)
			return err
		})
		if err != nil {
			return nil, err
		}
		r.Actions = append(r.Actions, page.GetActions()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return r, nil
		}
	}
}

// head asks for a replay without its actions.
func (a *app) head(ctx context.Context, c *client, id string) (*reprisev1.Replay, error) {
	var r *reprisev1.Replay
	err := a.call(ctx, "get "+id, func(ctx context.Context) error {
		resp, err := c.replays.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id, WithoutActions: true})
		r = resp.GetReplay()
		return err
	})
	return r, err
}

func (a *app) showReplay(r *reprisev1.Replay) error {
	var b strings.Builder
	fmt.Fprintf(&b, "replay    %s\nworkflow  %s\nmachine   %s\nstate     %s\n", r.GetReplayId(), r.GetWorkflowName(), r.GetMachineId(), stateWord(r))
	fmt.Fprintf(&b, "progress  %s\n", count(slices.Values(r.GetActions())).of(r.GetActionCount()))
	fmt.Fprintf(&b, "watched   %s\n", or(strings.TrimPrefix(word(r.GetSupervision(), "SUPERVISION_"), "unspecified"), "supervised"))
	for _, key := range slices.Sorted(maps.Keys(r.GetLabels())) {
		fmt.Fprintf(&b, "label     %s=%s\n", key, r.GetLabels()[key])
	}
	fmt.Fprintf(&b, "created   %s\nchanged   %s\nended     %s\n", a.when(r.GetCreatedAt()), a.when(r.GetUpdatedAt()), a.when(r.GetEndedAt()))
	if r.GetEndReason() != "" {
		fmt.Fprintf(&b, "reason    %s\n", r.GetEndReason())
	}
	b.WriteByte('\n')
	writeActions(&b, r.GetActions())
	if r.GetPause() != nil {
		b.WriteByte('\n')
		writePause(&b, r, a.steer())
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func writeActions(b *strings.Builder, actions []*reprisev1.ActionStatus) {
	t := newTable(b, "STEP", "ACTION", "NAME", "KIND", "STATE", "DELIVERED", "RESENT", "RETRY", "REPORT")
	for _, s := range actions {
		t.row(fmt.Sprint(s.GetStep()+1), s.GetActionId(), or(clip(s.GetName(), 30), "-"), s.GetKind(), word(s.GetState(), "ACTION_STATE_"),
			fmt.Sprint(s.GetDeliveries()), fmt.Sprint(s.GetResentCount()), fmt.Sprint(s.GetRetryCount()), reportText(s.GetReport()))
	}
	_ = t.flush() // writing to a builder never fails
}

// reportText says in a few words what was reported.
func reportText(r *reprisev1.Report) string {
	if r == nil {
		return "-"
	}
	text := "ok"
	if !r.GetSuccess() {
		text = word(r.GetError().GetCode(), "ERROR_CODE_")
		if m := r.GetError().GetMessage(); m != "" {
			text += ": " + clip(firstLine(m), 80)
		}
	}
	for _, w := range r.GetWarnings() {
		text += ", " + word(w, "WARNING_")
	}
	return text
}
