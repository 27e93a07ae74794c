package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/internal/stage"
)

// Agents upload beside their work, so the last pictures may still be on their way.
const (
	uploadsWithin = 5 * time.Minute
	uploadsPoll   = 500 * time.Millisecond
)

// keepEvidence fetches what the reports of a replay name into the run's folder, and
// says where it is. A picture that does not come is a fault: none may be lost, also
// where the agent was killed before it had uploaded it.
func keepEvidence(ctx context.Context, s *stage.Stage, replayID string) error {
	dir := filepath.Join(s.Dir, "evidence")
	ctx, cancel := context.WithTimeoutCause(ctx, uploadsWithin, fmt.Errorf("not all pictures came within %v", uploadsWithin))
	defer cancel()
	poll := time.NewTicker(uploadsPoll)
	defer poll.Stop()
	s.Say("$ reprisectl get %s --evidence %s", replayID, dir)
	for {
		text, err := s.Reprisectl(ctx, "get", replayID, "--evidence", dir)
		if err == nil {
			s.Say("%s", strings.TrimSpace(text))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), strings.TrimSpace(text))
		case <-poll.C:
		}
	}
}
