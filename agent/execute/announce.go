package execute

import (
	"context"
	"image"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// outline is half the side of the square that is drawn round a place.
const outline = 24

// announce shows the person at the machine where the gesture goes. It is a courtesy:
// only the end of ctx keeps the action from being done.
func (r *run) announce(ctx context.Context) error {
	desktop, ok := r.cfg.Driver.(driver.Attended)
	if !ok || r.cfg.Announce <= 0 || len(r.places) == 0 {
		return nil
	}
	around := image.Rectangle{Min: r.places[0], Max: r.places[0].Add(image.Pt(1, 1))}.Inset(-outline)
	if err := desktop.Announce(ctx, around, r.cfg.Announce); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.cfg.Log.Debug("the place was not outlined", logkeys.Action, r.job.ActionID, logkeys.Error, err)
	}
	return nil
}
