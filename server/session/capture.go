package session

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// Why no picture was taken, as the caller of Capture is told.
var (
	ErrAgentAway          = rpcstatus.New(codes.Unavailable, "AGENT_AWAY", "the machine's agent is away")
	ErrCaptureUnsupported = rpcstatus.New(codes.FailedPrecondition, "CAPTURE_UNSUPPORTED", "the machine's agent takes no pictures on request")
	ErrCaptureFailed      = rpcstatus.New(codes.FailedPrecondition, "CAPTURE_FAILED", "the agent took no picture")
	ErrCaptureBusy        = rpcstatus.New(codes.ResourceExhausted, "CAPTURE_BUSY", "the agent has enough pictures to take already")
)

// captureCapability is what an agent's hello says when it answers Capture.
const captureCapability = "capture"

// maxCaptures is how many pictures one session may be waited for.
const maxCaptures = 4

// Capture asks a machine's agent for a picture of its screen that shows nothing of
// masks, and returns what the agent says of it. The picture itself comes by an
// upload of its own, sooner or later than this answer. It returns ErrAgentAway also
// when the agent goes away meanwhile, and the cause of ctx when that ends first;
// ErrCaptureFailed comes with the agent's words.
func (s *Service) Capture(ctx context.Context, machineID string, without []replay.Mask) (*reprisev1.EvidenceRef, error) {
	ses := s.sessionOf(machineID)
	switch {
	case ses == nil:
		return nil, ErrAgentAway
	case !ses.canCapture:
		return nil, ErrCaptureUnsupported
	}
	captureID := id.New("c")
	answer, ok := ses.captures.begin(captureID)
	if !ok {
		return nil, ErrCaptureBusy
	}
	defer ses.captures.end(captureID)
	if !ses.offer(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Capture{Capture: &reprisev1.Capture{
		CaptureId: captureID, Masks: masks(without),
	}}}) {
		return nil, ErrCaptureBusy
	}
	select {
	case r := <-answer:
		return ses.picture(r)
	case <-ses.ended.Done():
		select {
		case r := <-answer: // its last word
			return ses.picture(r)
		default:
			return nil, fmt.Errorf("%w: its stream ended before it answered", ErrAgentAway)
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// sessionOf returns the open session of a machine, or nil.
func (s *Service) sessionOf(machineID string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ses := range s.open {
		if ses.machineID == machineID && ses.isOpen() {
			return ses
		}
	}
	return nil
}

// isOpen says whether the agent is welcomed and the session goes on.
func (s *session) isOpen() bool {
	select {
	case <-s.welcomed:
		return s.ended.Err() == nil
	default:
		return false
	}
}

// picture returns what an answer says, or why there is none. What an agent says is
// masked, as ever.
func (s *session) picture(r *reprisev1.CaptureResult) (*reprisev1.EvidenceRef, error) {
	switch {
	case r.GetError() != nil:
		return nil, fmt.Errorf("%w: %s: %s", ErrCaptureFailed, errorCode(r.GetError().GetCode()), s.typed.all().Mask(r.GetError().GetMessage()))
	case r.GetPicture().GetSha256() == "":
		return nil, fmt.Errorf("%w and did not say why", ErrCaptureFailed)
	}
	s.typed.all().Picture(r.GetPicture())
	return r.GetPicture(), nil
}

// captured hands an answer to the one who waits for it.
func (s *Service) captured(ses *session, r *reprisev1.CaptureResult) {
	if !ses.captures.answer(r) {
		s.cfg.Log.Debug("a picture came that nobody waits for", logkeys.Machine, ses.machineID, logkeys.Session, ses.id)
	}
}

// captures are those who wait for a picture, by the capture's id. The zero value is
// ready.
type captures struct {
	mu      sync.Mutex
	waiting map[string]chan<- *reprisev1.CaptureResult
}

func (c *captures) begin(captureID string) (<-chan *reprisev1.CaptureResult, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxCaptures {
		return nil, false
	}
	if c.waiting == nil {
		c.waiting = map[string]chan<- *reprisev1.CaptureResult{}
	}
	answer := make(chan *reprisev1.CaptureResult, 1)
	c.waiting[captureID] = answer
	return answer, true
}

func (c *captures) end(captureID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, captureID)
}

// answer says whether somebody waited; it never blocks, since the first answer
// ends the waiting.
func (c *captures) answer(r *reprisev1.CaptureResult) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.waiting[r.GetCaptureId()]
	if ok {
		delete(c.waiting, r.GetCaptureId())
		answer <- r
	}
	return ok
}
