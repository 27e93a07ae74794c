package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/internal/runnable"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// CreateReplay implements ReplayService.CreateReplay.
func (s *Service) CreateReplay(ctx context.Context, req *reprisev1.CreateReplayRequest) (*reprisev1.CreateReplayResponse, error) {
	r, err := s.create(ctx, req)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.CreateReplayResponse{Replay: r}, nil
}

func (s *Service) create(ctx context.Context, req *reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
	if err := checkWorkflow(req); err != nil {
		return nil, err
	}
	body := proto.CloneOf(req)
	body.RequestId, body.ValidateOnly = "", false
	hash, err := bodyHash(body)
	if err != nil {
		return nil, err
	}
	if req.GetRequestId() != "" {
		defer s.requests.lock(req.GetRequestId())()
		r, err := s.known(ctx, req.GetRequestId(), hash)
		if err != nil || r != nil && !req.GetValidateOnly() {
			return r, err
		}
	}
	if err := s.checkMachine(req.GetMachineId()); err != nil {
		return nil, err
	}
	if err := s.checkWorld(req.GetMachineId(), workflowActions(req.GetWorkflow())); err != nil {
		return nil, err
	}
	created, err := newCreated(req, hash, caller(ctx))
	if err != nil {
		return nil, err
	}
	if req.GetValidateOnly() {
		return preview(created)
	}
	return s.submit(ctx, req.GetMachineId(), created)
}

func (s *Service) submit(ctx context.Context, machineID string, c replay.Created) (*reprisev1.Replay, error) {
	replayID := id.New("r")
	a, err := s.ask(ctx, machineID, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Submit{ReplayID: replayID, Created: c, Reply: reply}
	})
	if errors.Is(err, replay.ErrRequestIDTaken) {
		// An earlier call of this caller, who did not wait for it, was under way.
		if r, known := s.known(ctx, c.RequestID, c.RequestHash); r != nil || known != nil {
			return r, known
		}
	}
	if err != nil {
		return nil, err
	}
	return fromView(*a.View), nil
}

// known returns the replay that a request id made before; nil: none.
func (s *Service) known(ctx context.Context, requestID, hash string) (*reprisev1.Replay, error) {
	head, err := s.cfg.Journal.HeadByRequest(ctx, requestID)
	switch {
	case errors.Is(err, replay.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case head.RequestHash != hash:
		return nil, fmt.Errorf("%w: by replay %s, with another body", replay.ErrRequestIDTaken, head.ReplayID)
	}
	return s.fromHead(head), nil
}

// bodyHash is over everything that makes two requests the same.
func bodyHash(body proto.Message) (string, error) {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("hash a request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func workflowActions(w *reprisev1.Workflow) actionList {
	return actionList{field: "workflow.actions", actions: w.GetActions(), monitor: w.GetMonitorResolution()}
}

// checkWorkflow refuses what the schema's own limits cannot say.
func checkWorkflow(req *reprisev1.CreateReplayRequest) error {
	if len(req.GetWorkflow().GetActions()) == 0 && !req.GetLeaveOpen() {
		return invalid("workflow.actions", "at least one action is needed")
	}
	var faults validation.Faults
	for _, f := range runnable.PopupFaults(req.GetWorkflow()) {
		faults.Add("workflow."+f.Path, f.Why, "")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	return workflowActions(req.GetWorkflow()).check()
}

// invalid refuses one field of a request.
func invalid(field, why string) error {
	var faults validation.Faults
	faults.Add(field, why, "")
	return faults.Err()
}

func (s *Service) checkMachine(machineID string) error {
	if s.cfg.Machines.Registered(machineID) {
		return nil
	}
	return &rpcstatus.Coded{Code: codes.NotFound, Reason: "MACHINE_NOT_FOUND", Err: fmt.Errorf("machine %q is not registered", machineID)}
}

func newCreated(req *reprisev1.CreateReplayRequest, hash, by string) (replay.Created, error) {
	w := req.GetWorkflow()
	c := replay.Created{
		MachineID: req.GetMachineId(), Workflow: w.GetName(), RequestID: req.GetRequestId(), RequestHash: hash,
		Labels: map[string]string{}, By: by, Open: req.GetLeaveOpen(),
		Unattended: req.GetSupervision() == reprisev1.Supervision_SUPERVISION_UNATTENDED,
	}
	for _, labels := range []map[string]string{w.GetLabels(), req.GetLabels()} {
		for k, v := range labels {
			c.Labels[k] = v
		}
	}
	for _, m := range w.GetMasks() {
		c.Masks = append(c.Masks, replay.Mask{
			Monitor: int(m.GetMonitor()), Left: m.GetLeft(), Top: m.GetTop(), Width: m.GetWidth(), Height: m.GetHeight(),
		})
	}
	for _, p := range w.GetPopups() {
		encoded, err := proto.Marshal(p)
		if err != nil {
			return c, err
		}
		c.Popups = append(c.Popups, encoded)
	}
	var err error
	c.Steps, err = workflowActions(w).steps()
	return c, err
}

// preview shows what a request would make; it has no id, since it is not stored.
func preview(c replay.Created) (*reprisev1.Replay, error) {
	r := &replay.Replay{}
	if err := r.ApplyEvent("", c, time.Now()); err != nil {
		return nil, err
	}
	return fromHead(r.Head()), nil
}
