package execute

import (
	"context"
	"time"

	"github.com/reprise-rpa/reprise/internal/wait"
)

// until looks again and again until look says that it is done, or the time is
// over; it says whether look was.
func (r *run) until(ctx context.Context, limit time.Duration, look func() (bool, error)) (bool, error) {
	end := time.Now().Add(limit)
	for {
		ok, err := look()
		if ok || err != nil {
			return ok, err
		}
		if time.Until(end) <= 0 {
			return false, nil
		}
		if err := wait.For(ctx, min(r.cfg.Poll, time.Until(end))); err != nil {
			return false, err
		}
	}
}
