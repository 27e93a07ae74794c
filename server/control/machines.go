package control

import (
	"context"
	"errors"
	"slices"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// ListMachines implements MachineService.ListMachines.
func (s *Service) ListMachines(ctx context.Context, _ *reprisev1.ListMachinesRequest) (*reprisev1.ListMachinesResponse, error) {
	seen := map[string]registry.Machine{}
	for _, m := range s.cfg.Registry.Machines() {
		seen[m.ID] = m
	}
	ids := append(s.cfg.Machines.MachineIDs(), s.cfg.Fleet.Machines()...)
	for id := range seen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	out := &reprisev1.ListMachinesResponse{}
	for _, id := range slices.Compact(ids) {
		m, err := s.machine(ctx, id, seen[id])
		if err != nil {
			return nil, rpcstatus.Error(err)
		}
		out.Machines = append(out.Machines, m)
	}
	slices.SortFunc(out.Machines, func(a, b *reprisev1.Machine) int { return strings.Compare(a.MachineId, b.MachineId) })
	return out, nil
}

func (s *Service) machine(ctx context.Context, id string, m registry.Machine) (*reprisev1.Machine, error) {
	var status dispatch.Status
	seen := make(chan dispatch.Status, 1) // the loop may look after this call has ended
	err := s.cfg.Fleet.Loop(id).Do(ctx, func(d *dispatch.Machine) { seen <- d.Status() })
	switch {
	case err == nil:
		status = <-seen
	case !errors.Is(err, dispatch.ErrUnavailable): // else its trouble hides no other machine
		return nil, err
	}
	out := &reprisev1.Machine{
		MachineId: id, Connected: m.SessionID != "", ConnectionChangedAt: timestamp(m.ChangedAt), SessionId: m.SessionID,
		DesktopState:    &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind(m.Info.DesktopKind), Detail: m.Info.DesktopWhy},
		CurrentReplayId: status.CurrentReplay, ActionInFlight: status.InFlight, QueuedReplays: int32(status.Queued),
		AgentVersion: m.Info.AgentVersion, ConflictAt: timestamp(m.ConflictAt), LastExit: m.Info.LastExit,
	}
	for _, mon := range m.Info.Monitors {
		out.Monitors = append(out.Monitors, &reprisev1.Monitor{
			Index: int32(mon.Index), OffsetX: int32(mon.X), OffsetY: int32(mon.Y), Width: int32(mon.Width), Height: int32(mon.Height),
			Scale: mon.Scale, Primary: mon.Primary,
		})
	}
	return out, nil
}
