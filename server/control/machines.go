package control

import (
	"context"
	"errors"
	"slices"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
	"github.com/reprise-rpa/reprise/server/session"
)

// ListMachines implements MachineService.ListMachines.
func (s *Service) ListMachines(ctx context.Context, _ *reprisev1.ListMachinesRequest) (*reprisev1.ListMachinesResponse, error) {
	out := &reprisev1.ListMachinesResponse{}
	for _, id := range s.machineIDs() {
		m, err := s.machine(ctx, id)
		if err != nil {
			return nil, rpcstatus.Error(err)
		}
		if m != nil {
			out.Machines = append(out.Machines, m)
		}
	}
	return out, nil
}

// machineIDs returns the ids of all machines that anything is known of, in order.
func (s *Service) machineIDs() []string {
	ids := append(s.cfg.Machines.MachineIDs(), s.cfg.Fleet.Machines()...)
	for _, m := range s.cfg.Registry.Machines() {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// machine shows a machine; nil: it is not registered, has no work and no agent. A
// machine whose journal cannot be read is shown without its work: its trouble
// hides no other one.
func (s *Service) machine(ctx context.Context, id string) (*reprisev1.Machine, error) {
	status, err := s.status(ctx, id)
	readable := !errors.Is(err, dispatch.ErrUnavailable)
	if err != nil && readable {
		return nil, err
	}
	held := s.cfg.Registry.Machine(id)
	if readable && status.CurrentReplay == "" && held.SessionID == "" && !s.cfg.Machines.Registered(id) {
		return nil, nil
	}
	return fromMachine(held, status), nil
}

func (s *Service) status(ctx context.Context, id string) (dispatch.Status, error) {
	seen := make(chan dispatch.Status, 1) // the loop may look after this call has ended
	if err := s.cfg.Fleet.Loop(id).Do(ctx, func(d *dispatch.Machine) { seen <- d.Status() }); err != nil {
		return dispatch.Status{}, err
	}
	return <-seen, nil
}

func fromMachine(m registry.Machine, status dispatch.Status) *reprisev1.Machine {
	out := &reprisev1.Machine{
		MachineId: m.ID, Connected: m.SessionID != "", ConnectionChangedAt: timestamp(m.ChangedAt), SessionId: m.SessionID,
		DesktopState: desktopState(m.Info), CurrentReplayId: status.CurrentReplay, ActionInFlight: status.InFlight,
		QueuedReplays: int32(status.Queued), AgentVersion: m.Info.AgentVersion, DesktopChangedAt: timestamp(m.DesktopAt), ConflictAt: timestamp(m.ConflictAt), LastExit: m.Info.LastExit,
		ProtocolVersion: int32(m.Info.ProtocolVersion), Capabilities: m.Info.Capabilities,
		CurrentReplayState: reprisev1.ReplayState(status.CurrentState), CurrentWorkflowName: status.CurrentWorkflow,
	}
	if status.PauseReason != "" {
		out.PauseReason = session.PauseReason(status.PauseReason)
	}
	for _, mon := range m.Info.Monitors {
		out.Monitors = append(out.Monitors, &reprisev1.Monitor{
			Index: int32(mon.Index), OffsetX: int32(mon.X), OffsetY: int32(mon.Y), Width: int32(mon.Width), Height: int32(mon.Height),
			Scale: mon.Scale, Primary: mon.Primary,
		})
	}
	return out
}

func desktopState(i registry.Info) *reprisev1.DesktopState {
	return &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind(i.DesktopKind), Detail: i.DesktopWhy}
}
