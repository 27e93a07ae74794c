package session

import (
	"context"
	"fmt"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// handle takes one message of an opened session.
func (s *Service) handle(ctx context.Context, ses *session, loop *dispatch.Loop, m *reprisev1.ConnectRequest) error {
	switch m := m.GetMessage().(type) {
	case *reprisev1.ConnectRequest_Report:
		return s.report(ctx, ses, loop, m.Report)
	case *reprisev1.ConnectRequest_Progress:
		ses.clock.heard(m.Progress.GetActionId(), s.cfg.Observer)
		loop.TryPost(progress(ses, m.Progress)) // one that is dropped is followed by the next
		return nil
	case *reprisev1.ConnectRequest_DesktopState:
		d := m.DesktopState
		s.cfg.Registry.SetDesktop(ses.machineID, ses.id, int(d.GetKind()), ses.typed.all().Mask(d.GetDetail()))
		return loop.Post(ses.ended, dispatch.Desktop{SessionID: ses.id, Usable: usable(d)})
	case *reprisev1.ConnectRequest_PersonRequest:
		return s.person(ses, loop, m.PersonRequest)
	case *reprisev1.ConnectRequest_Ping:
		ses.queue(pong(m.Ping.GetNumber()))
		return nil
	case *reprisev1.ConnectRequest_Pong:
		ses.pong(m.Pong.GetNumber())
		return nil
	case *reprisev1.ConnectRequest_CaptureResult:
		s.captured(ses, m.CaptureResult)
		return nil
	}
	return ErrNoHello // a second hello, or nothing that is known
}

func progress(ses *session, p *reprisev1.Progress) dispatch.Progress {
	phase := pending.Received
	if p.GetState() == reprisev1.ProgressState_PROGRESS_STATE_EXECUTING {
		phase = pending.Executing
	}
	out := dispatch.Progress{SessionID: ses.id, ActionID: p.GetActionId(), Phase: phase}
	if texts, known := ses.typed.get(p.GetActionId()); known { // or it is no action that this session waits for
		out.Doing = texts.Mask(p.GetDoing())
	}
	return out
}

func (s *Service) report(ctx context.Context, ses *session, loop *dispatch.Loop, r *reprisev1.Report) error {
	if r.GetMachineId() != "" && r.GetMachineId() != ses.machineID {
		return fmt.Errorf("%w: %q", ErrOtherMachine, r.GetMachineId())
	}
	faultpoint.Hit(faultpoint.ReportReceived, r.GetActionId())
	ses.clock.reported(r.GetActionId(), s.cfg.Observer)
	res, err := result(r)
	if err != nil {
		return err
	}
	ses.typed.unspoken(ctx, loop, &res)
	return loop.Post(ctx, dispatch.Report{SessionID: ses.id, Result: res})
}

// person takes what the person at the machine asks for.
func (s *Service) person(ses *session, loop *dispatch.Loop, p *reprisev1.PersonRequest) error {
	by := "person at " + ses.machineID
	decide := func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause(by, "") }
	if p.GetKind() == reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_GO_ON {
		decide = func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(replay.ResumeCommand{By: by}) }
	}
	return loop.Post(ses.ended, dispatch.Command{ReplayID: p.GetReplayId(), SessionID: ses.id, Decide: decide, Reply: func(a dispatch.Answer) {
		if a.Err != nil {
			s.cfg.Log.Warn("the person at the machine asked in vain", logkeys.Machine, ses.machineID, logkeys.Replay, a.Replay, logkeys.Error, a.Err)
		}
	}})
}
