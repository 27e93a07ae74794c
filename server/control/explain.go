package control

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
	"github.com/reprise-rpa/reprise/server/session"
)

// ExplainReplay implements ReplayService.ExplainReplay.
func (s *Service) ExplainReplay(ctx context.Context, req *reprisev1.ExplainReplayRequest) (*reprisev1.ExplainReplayResponse, error) {
	f, err := s.facts(ctx, req.GetReplayId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.ExplainReplayResponse{Replay: fromView(f.now.View), Causes: explain(f)}, nil
}

// facts are what an explanation is made of.
type facts struct {
	now        dispatch.Situation // of an ended replay, or with unreadable, its View alone
	machine    registry.Machine
	unreadable bool // the machine's state cannot be read from its journal
}

func (s *Service) facts(ctx context.Context, replayID string) (facts, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return facts{}, err
	}
	f := facts{machine: s.cfg.Registry.Machine(head.MachineID)}
	if !head.State.Ended() {
		var found bool
		f.now, found, err = s.cfg.Fleet.Loop(head.MachineID).Situation(ctx, replayID)
		if errors.Is(err, dispatch.ErrUnavailable) {
			f.unreadable = true
			f.now.View = dispatch.View{Head: head, AgentAway: f.machine.SessionID == ""}
			return f, nil
		}
		if err != nil || found {
			return f, err
		}
		if head, err = s.endedHead(ctx, replayID); err != nil {
			return facts{}, err
		}
	}
	f.now.View = dispatch.View{Head: head}
	return f, nil
}

// explain says why a replay is where it is: what it waits for, what that waits for,
// and so on to what can be acted upon.
func explain(f facts) []*reprisev1.Cause {
	head := f.now.View.Head
	switch {
	case head.State.Ended():
		return []*reprisev1.Cause{endedCause(head)}
	case f.unreadable:
		return []*reprisev1.Cause{journalCause(head.MachineID, "read")}
	}
	if n := len(f.now.Ahead); n > 0 {
		holder := f.now.Ahead[0]
		return append([]*reprisev1.Cause{behindCause(head, holder.Head, n)}, explainHolder(f, holder)...)
	}
	return explainHolder(f, f.now.View)
}

// explainHolder says what holds up the replay that holds the machine.
func explainHolder(f facts, holder dispatch.View) []*reprisev1.Cause {
	var causes []*reprisev1.Cause
	switch {
	case holder.Pause != nil:
		causes = append(causes, pausedCause(holder))
	case f.now.Idle: // whoever feeds it is waited for, and nothing else
		return []*reprisev1.Cause{idleCause(holder.Head)}
	}
	if f.now.InFlight != nil {
		causes = append(causes, inFlightCause(*f.now.InFlight, f.now.SessionID == ""))
	}
	switch {
	case f.now.SessionID == "":
		causes = append(causes, offlineCause(f))
	case !f.now.Usable:
		causes = append(causes, desktopCause(f.machine))
	}
	if f.now.Failing {
		causes = append(causes, journalCause(holder.Head.MachineID, "written"))
	}
	if f.now.Draining {
		causes = append(causes, drainingCause())
	}
	if len(causes) == 0 {
		causes = append(causes, readyCause(holder.Head))
	}
	return causes
}

func endedCause(h replay.Head) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayEnded(h), Since: timestamp(h.EndedAt),
		Kind: &reprisev1.Cause_Ended{Ended: &reprisev1.EndedCause{State: reprisev1.ReplayState(h.State), Reason: h.EndReason}},
	}
}

func journalCause(machineID, what string) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayJournal(machineID, what),
		Kind:    &reprisev1.Cause_JournalUnavailable{JournalUnavailable: &reprisev1.JournalUnavailableCause{MachineId: machineID}},
	}
}

func behindCause(h, holder replay.Head, ahead int) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayBehind(holder, ahead), Since: timestamp(h.CreatedAt),
		Kind: &reprisev1.Cause_BehindReplay{BehindReplay: &reprisev1.BehindReplayCause{
			ReplayId: holder.ReplayID, WorkflowName: holder.Workflow, State: reprisev1.ReplayState(holder.State), ReplaysAhead: int32(ahead),
		}},
	}
}

func pausedCause(holder dispatch.View) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayPaused(holder), Since: timestamp(holder.Pause.At),
		Kind: &reprisev1.Cause_Paused{Paused: &reprisev1.PausedCause{
			ReplayId: holder.Head.ReplayID, Pause: pauseInfo(holder.Pause), Pausing: holder.Head.Pausing,
		}},
	}
}

func idleCause(holder replay.Head) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayIdle(holder), Since: timestamp(holder.UpdatedAt),
		Kind: &reprisev1.Cause_WaitingForActions{WaitingForActions: &reprisev1.WaitingForActionsCause{
			ReplayId: holder.ReplayID, ActionCount: int32(holder.Actions),
		}},
	}
}

func inFlightCause(a dispatch.InFlight, away bool) *reprisev1.Cause {
	c := &reprisev1.ActionInFlightCause{
		ReplayId: a.ReplayID, ActionId: a.ActionID, ActionKind: a.Kind, Phase: reprisev1.ActionPhase(a.Phase), Doing: a.Doing,
		Deliveries: int32(a.Deliveries), ResentCount: int32(a.Resent), Deadline: deadlines[a.Deadline],
	}
	if a.Deadline != 0 {
		c.DueIn = durationpb.New(max(0, a.DueIn))
	}
	return &reprisev1.Cause{Message: sayInFlight(a, away), Since: timestamp(a.Since), Kind: &reprisev1.Cause_ActionInFlight{ActionInFlight: c}}
}

var deadlines = map[pending.Kind]reprisev1.DeadlineKind{
	pending.Receipt: reprisev1.DeadlineKind_DEADLINE_KIND_RECEIPT, pending.Orphan: reprisev1.DeadlineKind_DEADLINE_KIND_ORPHAN,
}

func offlineCause(f facts) *reprisev1.Cause {
	c := &reprisev1.MachineOfflineCause{
		MachineId: f.machine.ID, NeverConnected: f.machine.ChangedAt.IsZero(), LastExit: f.machine.Info.LastExit,
	}
	if f.now.PausesIn > 0 {
		c.PausesIn = durationpb.New(f.now.PausesIn)
	}
	return &reprisev1.Cause{
		Message: sayOffline(f), Since: timestamp(f.now.AwaySince), Kind: &reprisev1.Cause_MachineOffline{MachineOffline: c},
	}
}

func desktopCause(m registry.Machine) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: sayDesktop(m), Since: timestamp(m.DesktopAt),
		Kind: &reprisev1.Cause_DesktopUnusable{DesktopUnusable: &reprisev1.DesktopUnusableCause{MachineId: m.ID, DesktopState: desktopState(m.Info)}},
	}
}

func drainingCause() *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: "the server is going away and dispatches nothing; the next one goes on where this one stops",
		Kind:    &reprisev1.Cause_ServerDraining{ServerDraining: &reprisev1.ServerDrainingCause{}},
	}
}

func readyCause(holder replay.Head) *reprisev1.Cause {
	return &reprisev1.Cause{
		Message: "nothing holds replay " + holder.ReplayID + " up: its next action goes out at once",
		Kind:    &reprisev1.Cause_Ready{Ready: &reprisev1.ReadyCause{}},
	}
}

// pauseInfo shows a pause.
func pauseInfo(p *replay.Pause) *reprisev1.PauseInfo {
	return &reprisev1.PauseInfo{
		PauseId: p.ID, Reason: session.PauseReason(p.Reason), Message: p.Message, SafetyChecks: session.SafetyChecks(p.Checks),
		ActionToDecide: p.Decide, PausedAt: timestamp(p.At), PausedBy: p.By,
	}
}
