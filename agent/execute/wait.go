package execute

import (
	"context"
	"time"
)

// pause waits for the next look; it fails when ctx ends.
func (r *run) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

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
		if err := r.pause(ctx, min(r.cfg.Poll, time.Until(end))); err != nil {
			return false, err
		}
	}
}
