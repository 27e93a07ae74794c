package link

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/work"
)

// leaseTime is for how long an answer of the server vouches for the stream. It is
// shorter than the time in which another agent can take the machine over.
const leaseTime = time.Second

// leaseNumbers is where the numbers of a lease's pings begin, apart from those of
// session.watch.
const leaseNumbers = 1 << 32

// lease decides whether a dispatch still counts when it is read. A process that was
// frozen, or a link that stalled, brings it late: meanwhile the server may have closed
// the stream, and its action may be cancelled or given to another agent. So the server
// must have answered something on this stream that was said a moment ago; else it is
// asked first, and the dispatch waits. What the server said behind it, such as a cancel
// or the end of the stream, is then read before the answer. It is pure and used by the
// stream's reader.
type lease struct {
	limit   time.Duration
	since   time.Time      // the last thing said that the server has answered
	waiting *work.Dispatch // for the answer to the last ping; nil: nothing waits
	pinged  time.Time      // when that was
	number  uint64         // of that
}

// newLease is the lease of a stream whose hello, said at a time, was answered.
func newLease(hello time.Time, pingTimeout time.Duration) lease {
	return lease{limit: min(leaseTime, pingTimeout/2), since: hello, number: leaseNumbers}
}

// said is a report, and when it was sent.
type said struct {
	actionID string
	at       time.Time
}

// acked takes in an answer to a report; last is the one that was sent last.
func (l *lease) acked(last *said, actionID string) {
	if last != nil && last.actionID == actionID {
		l.answered(last.at)
	}
}

// answered takes in that the server has answered what was said at a time.
func (l *lease) answered(said time.Time) {
	if said.After(l.since) {
		l.since = said
	}
}

// dispatched takes a dispatch, which replaces one that waits. It returns 0 if it
// counts, else the number of the ping to send.
func (l *lease) dispatched(now time.Time, d work.Dispatch) (ping uint64) {
	if now.Sub(l.since) <= l.limit {
		l.waiting = nil
		return 0
	}
	l.number++
	l.waiting, l.pinged = &d, now
	return l.number
}

// pong takes the answer to a ping and returns the dispatch that counts by it; nil:
// there is none.
func (l *lease) pong(number uint64) *work.Dispatch {
	if number != l.number || l.waiting == nil {
		return nil
	}
	d := l.waiting
	l.waiting = nil
	l.answered(l.pinged)
	return d
}

// cancelled drops the dispatch that waits if it is the one meant; an empty action id
// means all of the replay's.
func (l *lease) cancelled(replayID, actionID string) {
	if l.waiting != nil && l.waiting.ReplayID == replayID && (actionID == "" || actionID == l.waiting.ActionID) {
		l.waiting = nil
	}
}
