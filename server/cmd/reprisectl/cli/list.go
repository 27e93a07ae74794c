package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// maxPage is the schema's limit of one page.
const maxPage = 1000

func (a *app) listCommand() *cobra.Command {
	var machine string
	var states []string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List replays, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req := &reprisev1.ListReplaysRequest{MachineId: machine}
			for _, s := range states {
				state, err := parseState(s)
				if err != nil {
					return usage(err)
				}
				req.States = append(req.States, state)
			}
			if limit < 1 {
				return usage(fmt.Errorf("--limit %d: at least 1 is needed", limit))
			}
			return a.with(func(c *client) error { return a.list(cmd.Context(), c, req, limit) })
		},
	}
	cmd.Flags().StringVarP(&machine, "machine", "m", "", "only replays of this machine")
	cmd.Flags().StringSliceVarP(&states, "state", "s", nil, "only replays in this state: "+strings.Join(stateNames(), ", ")+"; may be repeated")
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "how many at most")
	completeFixed(cmd, "state", stateNames()...)
	a.completeMachines(cmd)
	return cmd
}

func stateNames() []string {
	var names []string
	for n := reprisev1.ReplayState_REPLAY_STATE_QUEUED; n <= reprisev1.ReplayState_REPLAY_STATE_CANCELLED; n++ {
		names = append(names, word(n, "REPLAY_STATE_"))
	}
	return names
}

func parseState(name string) (reprisev1.ReplayState, error) {
	upper := strings.ToUpper(name)
	n, ok := reprisev1.ReplayState_value["REPLAY_STATE_"+strings.TrimPrefix(upper, "REPLAY_STATE_")]
	if !ok || n == 0 {
		return 0, fmt.Errorf("--state %q: one of %s is needed", name, strings.Join(stateNames(), ", "))
	}
	return reprisev1.ReplayState(n), nil
}

// list shows page after page, up to the limit.
func (a *app) list(ctx context.Context, c *client, req *reprisev1.ListReplaysRequest, limit int) error {
	table := tabwriter.NewWriter(a.env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "REPLAY\tMACHINE\tSTATE\tSETTLED\tWORKFLOW\tCREATED") // Flush reports what failed
	for limit > 0 {
		req.PageSize = int32(min(limit, maxPage))
		var page *reprisev1.ListReplaysResponse
		err := a.call(ctx, "list replays", func(ctx context.Context) (err error) {
			page, err = c.replays.ListReplays(ctx, req)
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range page.GetReplays() {
			if a.output == lines {
				if err := a.emit(replayLine(r)); err != nil {
					return err
				}
				continue
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", r.GetReplayId(), r.GetMachineId(), stateWord(r),
				r.GetSettledCount(), r.GetActionCount(), clip(firstLine(r.GetWorkflowName()), 40), a.when(r.GetCreatedAt()))
		}
		limit -= len(page.GetReplays())
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	if a.output == lines {
		return nil
	}
	return table.Flush()
}

// when is a time for people, or a dash.
func (a *app) when(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().In(a.env.Location).Format(time.DateTime)
}

func (a *app) machinesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "machines",
		Short: "List the machines",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c *client) error {
				var all []*reprisev1.Machine
				err := a.call(cmd.Context(), "list machines", func(ctx context.Context) error {
					resp, err := c.machines.ListMachines(ctx, &reprisev1.ListMachinesRequest{})
					all = resp.GetMachines()
					return err
				})
				if err != nil {
					return err
				}
				return a.showMachines(all)
			})
		},
	}
}

// conflictShown is how long the table keeps saying that another agent asked for
// a machine; whoever claims one for good is refused again and again.
const conflictShown = 10 * time.Minute

// agent says how a machine's agent is.
func (a *app) agent(m *reprisev1.Machine) string {
	agent := "away"
	if m.GetConnected() {
		agent = "connected"
	}
	if at := m.GetConflictAt(); at != nil && time.Since(at.AsTime()) <= conflictShown {
		agent += ", another agent was refused at " + at.AsTime().In(a.env.Location).Format(time.TimeOnly)
	}
	return agent
}

func (a *app) showMachines(all []*reprisev1.Machine) error {
	if a.output == lines {
		for _, m := range all {
			if err := a.emit(line{Type: "machine", Machine: object(m)}); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(a.env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "MACHINE\tAGENT\tSINCE\tDESKTOP\tREPLAY\tIN FLIGHT\tWAITING\tVERSION") // Flush reports what failed
	for _, m := range all {
		desktop := "-"
		if kind := m.GetDesktopState().GetKind(); kind != reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_UNSPECIFIED {
			desktop = word(kind, "DESKTOP_STATE_KIND_")
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", m.GetMachineId(), a.agent(m), a.when(m.GetConnectionChangedAt()), desktop,
			or(m.GetCurrentReplayId(), "-"), or(m.GetActionInFlight(), "-"), m.GetQueuedReplays(), or(m.GetAgentVersion(), "-"))
	}
	return table.Flush()
}
