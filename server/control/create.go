package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/internal/kind"
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
	if err := checkWorkflow(req.GetWorkflow()); err != nil {
		return nil, err
	}
	hash, err := bodyHash(req)
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
	if !s.cfg.Machines.Registered(req.GetMachineId()) {
		return nil, &rpcstatus.Coded{Code: codes.NotFound, Reason: "MACHINE_NOT_FOUND", Err: fmt.Errorf("machine %q is not registered", req.GetMachineId())}
	}
	if err := s.checkPictures(req.GetWorkflow()); err != nil {
		return nil, err
	}
	created, err := newCreated(req, hash, caller(ctx))
	if err != nil {
		return nil, err
	}
	if req.GetValidateOnly() {
		return preview(created)
	}
	replayID := id.New("r")
	_, err = s.ask(ctx, req.GetMachineId(), func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Submit{ReplayID: replayID, Created: created, Reply: reply}
	})
	if errors.Is(err, replay.ErrRequestIDTaken) {
		// An earlier call of this caller, who did not wait for it, was under way.
		if r, known := s.known(ctx, req.GetRequestId(), hash); r != nil || known != nil {
			return r, known
		}
	}
	if err != nil {
		return nil, err
	}
	return s.head(ctx, replayID)
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
func bodyHash(req *reprisev1.CreateReplayRequest) (string, error) {
	body := proto.CloneOf(req)
	body.RequestId, body.ValidateOnly = "", false
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("hash a request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func newCreated(req *reprisev1.CreateReplayRequest, hash, by string) (replay.Created, error) {
	w := req.GetWorkflow()
	c := replay.Created{
		MachineID: req.GetMachineId(), Workflow: w.GetName(), RequestID: req.GetRequestId(), RequestHash: hash,
		Labels: map[string]string{}, By: by,
		Unattended: req.GetSupervision() == reprisev1.Supervision_SUPERVISION_UNATTENDED,
	}
	for _, labels := range []map[string]string{w.GetLabels(), req.GetLabels()} {
		for k, v := range labels {
			c.Labels[k] = v
		}
	}
	for i, a := range w.GetActions() {
		step, err := newStep(w, a)
		if err != nil {
			return replay.Created{}, fmt.Errorf("action %d: %w", i, err)
		}
		c.Steps = append(c.Steps, step)
	}
	return c, nil
}

// newStep decides what follows from an action's kind, once and for all.
func newStep(w *reprisev1.Workflow, a *reprisev1.Action) (replay.Step, error) {
	k := kind.Of(a)
	if a.GetMonitorResolution() == nil && w.GetMonitorResolution() != nil {
		a = proto.CloneOf(a)
		a.MonitorResolution = w.GetMonitorResolution()
	}
	payload, err := proto.Marshal(a)
	if err != nil {
		return replay.Step{}, fmt.Errorf("encode: %w", err)
	}
	s := replay.Step{
		Name: a.GetName(), Kind: k.Name, Payload: payload, ServerSide: k.ServerSide, Safe: k.Safe, Critical: k.Critical,
		ChangesScreen: kind.ExpectedEffect(a) != reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
		Visual:        k.Visual, Monitor: int(a.GetMonitorResolution().GetIndex()), MonitorSource: "default",
		MaxRetries: -1, RetryExecuted: a.GetRetryPolicy().GetRetryExecuted(),
		FailExhausted: a.GetRetryPolicy().GetOnExhausted() == reprisev1.RetriesExhausted_RETRIES_EXHAUSTED_FAIL,
		OnGiveUp:      replay.GiveUp(a.GetOnGiveUp()), Message: a.GetPauseForHuman().GetMessage(),
	}
	if a.GetMonitorResolution().GetSource() != "" {
		s.MonitorSource = a.GetMonitorResolution().GetSource()
	}
	if p := a.GetRetryPolicy(); p != nil && p.MaxRetries != nil {
		s.MaxRetries = int(p.GetMaxRetries())
	}
	for _, c := range a.GetSafetyChecks() {
		s.Checks = append(s.Checks, replay.Check{
			ID: c.GetId(), Label: c.GetLabel(), Required: c.GetRequired(),
			Server: c.GetSource() == reprisev1.SafetyCheckSource_SAFETY_CHECK_SOURCE_SERVER,
		})
	}
	return s, nil
}

// checkWorkflow refuses what the schema's own limits cannot say.
func checkWorkflow(w *reprisev1.Workflow) error {
	bad := &errdetails.BadRequest{}
	refuse := func(field, why string) {
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: field, Description: why})
	}
	names := map[string]int{}
	for i, a := range w.GetActions() {
		field := fmt.Sprintf("workflow.actions[%d]", i)
		if first, ok := names[a.GetName()]; ok && a.GetName() != "" {
			refuse(field+".name", fmt.Sprintf("action %d has the name %q already", first, a.GetName()))
		}
		names[a.GetName()] = i
		k := kind.Of(a)
		switch {
		case k.Name == "":
			refuse(field+".kind", "exactly one kind must be set")
		case k.ServerSide && a.GetPauseForHuman() == nil:
			refuse(field+"."+k.Name, "this server executes no "+k.Name+" actions")
		case needsPlace(a) && !hasPlace(a.GetTarget()):
			refuse(field+".target", k.Name+" needs a target")
		case a.GetDrag() != nil && !hasPlace(a.GetDrag().GetTo()):
			refuse(field+".drag.to", "drag needs a place to go to")
		}
		checkIDs(a, field, refuse)
		for _, t := range targets(a) {
			if p := t.GetAnchorImage(); p != nil && p.GetSha256() == "" {
				refuse(field+".target.anchor_image.sha256", "the picture's digest is missing; reprisectl sets it")
			}
		}
	}
	if len(bad.FieldViolations) == 0 {
		return nil
	}
	return badRequest(bad)
}

func checkIDs(a *reprisev1.Action, field string, refuse func(field, why string)) {
	seen := map[string]bool{}
	for j, c := range a.GetSafetyChecks() {
		if seen[c.GetId()] {
			refuse(fmt.Sprintf("%s.safety_checks[%d].id", field, j), fmt.Sprintf("the check %q is there already", c.GetId()))
		}
		seen[c.GetId()] = true
	}
}

func badRequest(bad *errdetails.BadRequest) error {
	first := bad.GetFieldViolations()[0]
	message := first.GetField() + ": " + first.GetDescription()
	if n := len(bad.GetFieldViolations()) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more)", n)
	}
	st := status.New(codes.InvalidArgument, message)
	if d, err := st.WithDetails(bad); err == nil {
		st = d
	}
	return st.Err()
}

// needsPlace says whether an action makes no sense without a target.
func needsPlace(a *reprisev1.Action) bool {
	return a.GetClick() != nil || a.GetMove() != nil || a.GetDrag() != nil || a.GetScroll() != nil || a.GetWaitForTarget() != nil
}

func hasPlace(t *reprisev1.Target) bool {
	return t.GetByText() != "" || t.GetVlmDescription() != "" || t.GetAnchorImage() != nil || t.GetWindowTitle() != "" ||
		t.GetUiaTarget() != nil || t.GetPoint() != nil
}

func targets(a *reprisev1.Action) []*reprisev1.Target {
	return []*reprisev1.Target{a.GetTarget(), a.GetDrag().GetTo()}
}

// checkPictures refuses a workflow whose anchors an agent could not fetch.
func (s *Service) checkPictures(w *reprisev1.Workflow) error {
	for i, a := range w.GetActions() {
		for _, t := range targets(a) {
			p := t.GetAnchorImage()
			if p == nil {
				continue
			}
			has, err := s.cfg.Pictures.Has(p.GetSha256())
			if err != nil {
				return err
			}
			if !has {
				return &rpcstatus.Coded{Code: codes.FailedPrecondition, Reason: "PICTURE_MISSING",
					Err: fmt.Errorf("workflow.actions[%d]: the anchor picture %s was not uploaded", i, p.GetSha256())}
			}
		}
	}
	return nil
}

// preview shows what a request would make; it has no id, since it is not stored.
func preview(c replay.Created) (*reprisev1.Replay, error) {
	r := &replay.Replay{}
	if err := r.ApplyEvent("", c, time.Now()); err != nil {
		return nil, err
	}
	return fromHead(r.Head()), nil
}
