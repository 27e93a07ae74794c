package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func (a *app) machinesCommand() *cobra.Command {
	var watch bool
	var giveUp time.Duration
	cmd := &cobra.Command{
		Use:   "machines",
		Short: "List the machines, or watch them",
		Long: "machines shows each machine: its agent and since when that is so, its desktop, the replay that holds it, the action in\n" +
			"flight, how many replays wait behind, the agent's version, and how the agent's process before this one ended.\n" +
			"With --watch a terminal shows the table as it changes; elsewhere each change is a line. It outlives a lost server.",
		Example: "  reprisectl machines\n  reprisectl machines --watch\n  reprisectl machines --watch --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c *client) error {
				if watch {
					return a.watchMachines(cmd.Context(), c, giveUp)
				}
				return a.listMachines(cmd.Context(), c)
			})
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on and show what changes")
	giveUpFlag(cmd, &giveUp)
	return cmd
}

func (a *app) listMachines(ctx context.Context, c *client) error {
	var all []*reprisev1.Machine
	err := a.call(ctx, "list machines", func(ctx context.Context) error {
		resp, err := c.machines.ListMachines(ctx, &reprisev1.ListMachinesRequest{})
		all = resp.GetMachines()
		return err
	})
	if err != nil {
		return err
	}
	if a.output == lines {
		return a.emitMachines(all)
	}
	return a.printf("%s", a.machineTable(all))
}

func (a *app) emitMachines(some []*reprisev1.Machine) error {
	for _, m := range some {
		if err := a.emit(line{Type: "machine", Machine: object(m)}); err != nil {
			return err
		}
	}
	return nil
}

// machineTable is a row for each machine below a row of titles.
func (a *app) machineTable(all []*reprisev1.Machine) string {
	var b strings.Builder
	titles := []string{"MACHINE", "AGENT", "SINCE"}
	for _, t := range traits {
		titles = append(titles, t.title)
	}
	table := newTable(&b, titles...)
	for _, m := range all {
		cells := []string{m.GetMachineId(), a.agent(m), a.when(m.GetConnectionChangedAt())}
		for _, t := range traits {
			cells = append(cells, or(clip(t.of(m), 60), "-"))
		}
		table.row(cells...)
	}
	_ = table.flush() // writing to a builder never fails
	return b.String()
}

// trait is something about a machine besides its agent; empty: there is none.
type trait struct {
	title, word string
	of          func(*reprisev1.Machine) string
}

var traits = []trait{
	{"DESKTOP", "desktop", desktop},
	{"REPLAY", "replay", (*reprisev1.Machine).GetCurrentReplayId},
	{"STATE", "state", heldState},
	{"IN FLIGHT", "in flight", (*reprisev1.Machine).GetActionInFlight},
	{"WAITING", "waiting", func(m *reprisev1.Machine) string { return fmt.Sprint(m.GetQueuedReplays()) }},
	{"VERSION", "version", (*reprisev1.Machine).GetAgentVersion},
	{"LAST EXIT", "last exit", func(m *reprisev1.Machine) string { return firstLine(m.GetLastExit()) }},
}

// desktop is the state of a machine's desktop, and why it is so.
func desktop(m *reprisev1.Machine) string {
	state := m.GetDesktopState()
	if state.GetKind() == reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_UNSPECIFIED {
		return ""
	}
	text := word(state.GetKind(), "DESKTOP_STATE_KIND_")
	if why := firstLine(state.GetDetail()); why != "" {
		text += ": " + why
	}
	return text
}

// heldState is the state of the replay that holds a machine, and why it is paused.
func heldState(m *reprisev1.Machine) string {
	state := m.GetCurrentReplayState()
	if state == reprisev1.ReplayState_REPLAY_STATE_UNSPECIFIED {
		return ""
	}
	text := word(state, "REPLAY_STATE_")
	if why := m.GetPauseReason(); why != reprisev1.PauseReason_PAUSE_REASON_UNSPECIFIED {
		text += ": " + word(why, "PAUSE_REASON_")
	}
	return text
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
