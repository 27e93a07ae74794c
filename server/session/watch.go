package session

import (
	"time"

	"github.com/reprise-rpa/reprise/internal/liveness"
)

// Watch decides how long a session may go on: until its opening takes too long, or
// its agent answers a ping no more. It is pure and used by one goroutine; the zero
// value is of no use.
type Watch struct {
	opening           time.Time // when it must be welcomed
	interval, timeout time.Duration
	pings             *liveness.Pings // nil until the welcome
}

// NewWatch returns the watch over a session that must be welcomed by opening. From
// the welcome on its agent is pinged in an interval, and answers within timeout.
func NewWatch(opening time.Time, interval, timeout time.Duration) *Watch {
	return &Watch{opening: opening, interval: interval, timeout: timeout}
}

// Welcomed says that the session is open.
func (w *Watch) Welcomed(now time.Time) { w.pings = liveness.New(now, w.interval, w.timeout) }

// Pong takes the agent's answer to a ping; one to none changes nothing.
func (w *Watch) Pong(now time.Time, number uint64) {
	if w.pings != nil {
		w.pings.Pong(now, number)
	}
}

// Due acts on the time: the number of a ping to be sent, 0 for none, or why the
// session must end, ErrNotOpened or ErrPingTimeout.
func (w *Watch) Due(now time.Time) (ping uint64, err error) {
	if w.pings == nil {
		if now.Before(w.opening) {
			return 0, nil
		}
		return 0, ErrNotOpened
	}
	ping, dead := w.pings.Due(now)
	if dead {
		return 0, ErrPingTimeout
	}
	return ping, nil
}

// Next returns when Due wants to be called; it is never zero.
func (w *Watch) Next() time.Time {
	if w.pings == nil {
		return w.opening
	}
	return w.pings.Next()
}
