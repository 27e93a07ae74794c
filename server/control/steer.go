package control

import (
	"context"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// PauseReplay implements ReplayService.PauseReplay.
func (s *Service) PauseReplay(ctx context.Context, req *reprisev1.PauseReplayRequest) (*reprisev1.PauseReplayResponse, error) {
	by := caller(ctx)
	a, err := s.command(ctx, order{replayID: req.GetReplayId(), decide: func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecidePause(by, req.GetMessage())
	}})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.PauseReplayResponse{Replay: fromView(*a.View)}, nil
}

// ResumeReplay implements ReplayService.ResumeReplay.
func (s *Service) ResumeReplay(ctx context.Context, req *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
	c := replay.ResumeCommand{
		By: caller(ctx), Acked: req.GetAcknowledgedCheckIds(), From: req.GetFromAction(),
		Skip: req.GetDecision() == reprisev1.ResumeDecision_RESUME_DECISION_SKIP,
	}
	if p := req.GetPosition(); p != nil {
		c.Position = &replay.Point{X: p.GetX(), Y: p.GetY()}
	}
	a, err := s.command(ctx, order{replayID: req.GetReplayId(), decide: func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecideResume(c)
	}})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.ResumeReplayResponse{Replay: fromView(*a.View), SessionId: a.SessionID, RemainingActions: int32(a.Remaining)}, nil
}

// CancelReplay implements ReplayService.CancelReplay.
func (s *Service) CancelReplay(ctx context.Context, req *reprisev1.CancelReplayRequest) (*reprisev1.CancelReplayResponse, error) {
	by := caller(ctx)
	a, err := s.command(ctx, order{replayID: req.GetReplayId(), decide: func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecideCancel(by, req.GetReason())
	}})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.CancelReplayResponse{Replay: fromView(*a.View)}, nil
}

// CloseReplay implements ReplayService.CloseReplay.
func (s *Service) CloseReplay(ctx context.Context, req *reprisev1.CloseReplayRequest) (*reprisev1.CloseReplayResponse, error) {
	by := caller(ctx)
	a, err := s.command(ctx, order{replayID: req.GetReplayId(), decide: func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecideClose(by)
	}})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.CloseReplayResponse{Replay: fromView(*a.View)}, nil
}
