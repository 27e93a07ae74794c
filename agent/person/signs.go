package person

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// ShowPause implements driver.Attended.
func (g *Guard) ShowPause(ctx context.Context, n driver.Notice) error {
	if g.machine == nil {
		return nil
	}
	defer g.acts.stir()
	return g.stage.showPause(ctx, n)
}

// HidePause implements driver.Attended.
func (g *Guard) HidePause(ctx context.Context, pauseID string) error {
	if g.machine == nil {
		return nil
	}
	defer g.acts.stir()
	return g.stage.hidePause(ctx, pauseID)
}

// Announce implements driver.Attended. A stop of the person ends it, with
// driver.ErrStopped.
func (g *Guard) Announce(ctx context.Context, around image.Rectangle, d time.Duration) error {
	if g.machine == nil {
		return nil
	}
	braked, leave, err := g.brake.enter(ctx)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer leave()
	remove, shown, err := g.stage.outline(braked, around.Canon())
	if err != nil || !shown {
		return err
	}
	defer remove()
	return wait.For(braked, d)
}
