package control

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// Capturer takes pictures of screens.
type Capturer interface {
	// Capture asks the machine's agent for a picture that shows nothing of the
	// masks, and returns what the agent says of it; the picture itself is uploaded
	// sooner or later. Its errors say how they leave.
	Capture(ctx context.Context, machineID string, masks []replay.Mask) (*reprisev1.EvidenceRef, error)
}

// captureTimeout is how long a picture may take, from the request to the upload.
const captureTimeout = 30 * time.Second

var (
	errNoCaptures     = rpcstatus.New(codes.FailedPrecondition, "CAPTURE_UNAVAILABLE", "this server takes no pictures of screens")
	errCaptureTimeout = rpcstatus.New(codes.DeadlineExceeded, "CAPTURE_TIMEOUT", "no picture came in 30 s")
)

// CaptureScreen implements MachineService.CaptureScreen.
func (s *Service) CaptureScreen(ctx context.Context, req *reprisev1.CaptureScreenRequest) (*reprisev1.CaptureScreenResponse, error) {
	picture, err := s.capture(ctx, req.GetMachineId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.CaptureScreenResponse{Picture: picture}, nil
}

func (s *Service) capture(ctx context.Context, machineID string) (*reprisev1.EvidenceRef, error) {
	if err := s.checkMachine(machineID); err != nil {
		return nil, err
	}
	if s.cfg.Capturer == nil {
		return nil, errNoCaptures
	}
	ctx, cancel := context.WithTimeoutCause(ctx, captureTimeout, errCaptureTimeout)
	defer cancel()
	status, err := s.status(ctx, machineID)
	if err != nil {
		return nil, err // the masks are not known: no picture rather than one without them
	}
	picture, err := s.cfg.Capturer.Capture(ctx, machineID, status.Masks)
	if err == nil {
		err = s.cfg.Pictures.Await(ctx, picture.GetSha256())
	}
	switch {
	case err == nil:
		return picture, nil
	case errors.Is(context.Cause(ctx), errCaptureTimeout):
		return nil, errCaptureTimeout
	}
	return nil, err
}
