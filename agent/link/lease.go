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

// Lease decides whether a dispatch still counts when it is read. A process that was
// frozen, or a link that stalled, brings it late: meanwhile the server may have closed
// the stream, and its action may be cancelled or given to another agent. So the server
// must have answered something on this stream that was said a moment ago; else it is
// asked first, and the dispatch waits. What the server said behind it, such as a cancel
// or the end of the stream, is then read before the answer. It is pure and used by the
// stream's reader.
type Lease struct {
	limit   time.Duration
	since   time.Time      // the last thing said that the server has answered
	waiting *work.Dispatch // for the answer to the last ping; nil: nothing waits
	pinged  time.Time      // when that was
	number  uint64         // of that
	late    bool           // the answer to the ping before came too late to vouch
}

// NewLease is the lease of a stream whose hello, said at a time, was answered.
func NewLease(hello time.Time, pingTimeout time.Duration) Lease {
	return Lease{limit: min(leaseTime, pingTimeout/2), since: hello, number: leaseNumbers}
}

// said is a report, and when it was sent.
type said struct {
	actionID string
	at       time.Time
}

// acked takes in an answer to a report; last is the one that was sent last.
func (l *Lease) acked(last *said, actionID string) {
	if last != nil && last.actionID == actionID {
		l.Answered(last.at)
	}
}

// Answered takes in that the server has answered what was said at a time.
func (l *Lease) Answered(said time.Time) {
	if said.After(l.since) {
		l.since = said
	}
}

// Dispatched takes a dispatch, which replaces one that waits, and says whether it
// counts. If it does not, it waits for the answer to the ping returned, or to the one
// that is unanswered: that answer comes behind it as well.
func (l *Lease) Dispatched(now time.Time, d work.Dispatch) (counts bool, ping uint64) {
	if l.fresh(now, l.since) {
		l.waiting = nil
		return true, 0
	}
	asked := l.waiting != nil
	l.waiting = &d
	if asked {
		return false, 0
	}
	l.late = false
	return false, l.ask(now)
}

// fresh says whether a moment is no longer ago than an answer vouches for. The clock
// on the wall has a say in it: the other one stands still while a machine sleeps.
func (l *Lease) fresh(now, then time.Time) bool {
	wall := now.Round(0).Sub(then.Round(0))
	return now.Sub(then) <= l.limit && wall <= l.limit && wall >= -l.limit
}

func (l *Lease) ask(now time.Time) (ping uint64) {
	l.number++
	l.pinged = now
	return l.number
}

// Pong takes the answer to a ping and returns the dispatch that counts by it; nil:
// there is none. An answer that is late itself may have lain in the socket like the
// dispatch, so the server is asked again, with the ping returned. When that answer is
// late as well it is the way that is slow, and the dispatch counts.
func (l *Lease) Pong(now time.Time, number uint64) (counts *work.Dispatch, ping uint64) {
	if number != l.number || l.waiting == nil {
		return nil, 0
	}
	if !l.fresh(now, l.pinged) && !l.late {
		l.late = true
		return nil, l.ask(now)
	}
	counts, l.waiting = l.waiting, nil
	l.Answered(l.pinged)
	return counts, 0
}

// Cancelled drops the dispatch that waits if it is the one meant; an empty action id
// means all of the replay's.
func (l *Lease) Cancelled(replayID, actionID string) {
	if l.waiting != nil && l.waiting.ReplayID == replayID && (actionID == "" || actionID == l.waiting.ActionID) {
		l.waiting = nil
	}
}
