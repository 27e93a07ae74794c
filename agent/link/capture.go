package link

import (
	"context"
	"fmt"
	"runtime/debug"

	"buf.build/go/protovalidate"

	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Camera takes pictures of the screen.
type Camera interface {
	// Received says what no picture of the newest dispatch shows, before the runner
	// hears of it.
	Received(masks []work.Mask)
	// Picture takes one beside whatever is executing, without what these masks and
	// those of what is on the screen cover, and hands it to the evidence to be brought first. The outcome holds it as
	// After, or says why there is none.
	Picture(ctx context.Context, masks []work.Mask) work.Outcome
}

// capabilityCapture says in a hello that the agent answers Capture.
const capabilityCapture = "capture"

const (
	maxCaptures  = 4   // that wait for the one that is being taken
	maxCaptureID = 100 // the schema's limit, in characters
)

// wanted is a picture that a session asked for.
type wanted struct {
	session *session
	capture *reprisev1.Capture
}

// capture has a picture taken, or answers why not. It does not wait.
func (s *session) capture(c *reprisev1.Capture) {
	err := protovalidate.Validate(c)
	switch id := []rune(c.GetCaptureId()); {
	case len(id) == 0 || len(id) > maxCaptureID:
		s.log.Error("a capture without a proper id was skipped; it can't be answered")
	case err != nil:
		s.captured(c, work.Failure(work.InvalidAction, work.NotStarted, fmt.Sprintf("the capture breaks the schema's rules: %v", err)))
	case s.cfg.Camera == nil:
		s.captured(c, work.Failure(work.Unsupported, work.NotStarted, "this agent takes no pictures on request"))
	default:
		select {
		case s.captures <- wanted{s, c}:
		default:
			s.captured(c, work.Failure(work.Internal, work.NotStarted, fmt.Sprintf("%d pictures wait to be taken already", maxCaptures)))
		}
	}
}

// captured answers a capture.
func (s *session) captured(c *reprisev1.Capture, o work.Outcome) {
	out := &reprisev1.CaptureResult{CaptureId: c.GetCaptureId(), Picture: picture(o.After)}
	if !o.Success() {
		out.Error = actionError(o)
	}
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: out}})
}

// photograph takes the pictures that are asked for, one at a time, until ctx ends.
// It belongs to no session: one that ends meanwhile does not wait for the screen.
func (l *Link) photograph(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-l.captures:
			if l.isOpen(w.session) {
				w.session.captured(w.capture, l.picture(ctx, w.capture))
			}
		}
	}
}

// picture takes one. A panic on the way to it is an answer as well.
func (l *Link) picture(ctx context.Context, c *reprisev1.Capture) (o work.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("the camera panicked", logkeys.Error, fmt.Sprint(p), logkeys.Stack, string(debug.Stack()))
			o = work.Failure(work.Internal, work.NotStarted, "the agent's camera panicked")
		}
	}()
	return l.cfg.Camera.Picture(ctx, masks(c.GetMasks()))
}

// isOpen says whether the session is the one that is open.
func (l *Link) isOpen(s *session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session == s
}
