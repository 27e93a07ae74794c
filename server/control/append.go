package control

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// AppendActions implements ReplayService.AppendActions.
func (s *Service) AppendActions(ctx context.Context, req *reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
	res, err := s.append(ctx, req)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return res, nil
}

func (s *Service) append(ctx context.Context, req *reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
	actions := actionList{field: "actions", actions: req.GetActions()}
	if err := actions.check(); err != nil {
		return nil, err
	}
	body := proto.CloneOf(req)
	body.RequestId = ""
	hash, err := bodyHash(body)
	if err != nil {
		return nil, err
	}
	steps, err := actions.steps()
	if err != nil {
		return nil, err
	}
	head, err := s.cfg.Journal.Head(ctx, req.GetReplayId())
	if err != nil {
		return nil, err
	}
	// What the world has to say counts for a new append alone: one that was taken
	// is answered, whatever has become of its pictures since.
	impossible := s.checkWorld(head.MachineID, actions)
	c := replay.AppendCommand{RequestID: req.GetRequestId(), RequestHash: hash, By: caller(ctx), Steps: steps, Close: req.GetClose()}
	a, err := s.command(ctx, order{replayID: req.GetReplayId(), appendID: req.GetRequestId(), decide: func(r *replay.Replay) ([]replay.Event, error) {
		events, err := r.DecideAppend(c)
		switch {
		case err != nil || len(events) == 0:
			return nil, err
		case impossible != nil:
			return nil, impossible
		}
		return events, checkNewNames(r, steps)
	}})
	if err != nil {
		return nil, err
	}
	return &reprisev1.AppendActionsResponse{Replay: fromView(*a.View), ActionIds: a.Appended}, nil
}

// checkNewNames refuses steps whose name the replay has already.
func checkNewNames(r *replay.Replay, steps []replay.Step) error {
	var faults validation.Faults
	for i, s := range steps {
		if step, taken := r.StepNamed(s.Name); taken && s.Name != "" {
			faults.Add(fmt.Sprintf("actions[%d].name", i), fmt.Sprintf("step %d of the replay has the name %q already", step, s.Name), "")
		}
	}
	return faults.Err()
}
