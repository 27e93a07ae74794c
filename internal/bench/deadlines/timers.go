package deadlines

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/server/pending"
)

// soon is the time from the arming of the first timer to the first due time: all
// are armed by then.
const soon = 2 * time.Second

// errNotAllFired says that the measurement cannot be used.
var errNotAllFired = errors.New("not all of the timers fired")

// bareTimers returns how late timers fire that were due at these times after the
// first of them.
func bareTimers(ctx context.Context, due []time.Duration) (Lateness, error) {
	first := time.Now().Add(soon)
	late, left, all := make([]time.Duration, len(due)), atomic.Int64{}, make(chan struct{})
	left.Store(int64(len(due)))
	for i, d := range due {
		at := first.Add(d)
		time.AfterFunc(time.Until(at), func() {
			late[i] = time.Since(at)
			if left.Add(-1) == 0 {
				close(all)
			}
		})
	}
	select {
	case <-all:
		return lateness(late), nil
	case <-ctx.Done():
		return Lateness{}, context.Cause(ctx)
	}
}

// oneMap returns how late a loop with one timer and one pending map takes entries
// out that are due at these times after the first of them, and how long it takes it
// to see that none is due yet.
func oneMap(ctx context.Context, due []time.Duration) (Lateness, time.Duration, error) {
	const timeout = time.Hour // an entry is armed that long before it is due
	m := pending.New(pending.Timeouts{Receipt: timeout, Orphan: 2 * timeout})
	first := time.Now().Add(soon)
	at := make(map[string]time.Time, len(due))
	for i, d := range due {
		id := fmt.Sprintf("replay-%d", i)
		at[id] = first.Add(d)
		if err := m.Put(pending.Entry{ActionID: id}); err != nil {
			return Lateness{}, 0, err
		}
		m.Arm(id, at[id].Add(-timeout))
	}
	start := time.Now()
	if early := m.Due(start); len(early) > 0 {
		return Lateness{}, 0, fmt.Errorf("%d entries were due while they were armed", len(early))
	}
	sweep := time.Since(start)
	var late []time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, ok := m.Next()
		if !ok {
			break
		}
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return Lateness{}, 0, context.Cause(ctx)
		}
		now := time.Now()
		for _, d := range m.Due(now) {
			late = append(late, now.Sub(at[d.ActionID]))
			m.Remove(d.ActionID)
		}
	}
	if len(late) != len(due) {
		return Lateness{}, 0, errNotAllFired
	}
	return lateness(late), sweep, nil
}
