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

// Lease decides whether a dispatch still counts when it is read, and whether an action
// may begin. A process that was frozen, or a link that stalled, comes late to either:
// meanwhile the server may have closed the stream, and the action may be cancelled, given
// up or given to another agent. So the server must have answered something on this stream
// that was said a moment ago; else it is asked first, and the dispatch or the beginning
// waits. What the server said before it answers, such as a cancel or the end of the
// stream, is then read before the answer. It is pure; the session guards it.
type Lease struct {
	limit     time.Duration
	since     time.Time     // the last thing said that the server has answered
	believed  time.Time     // when an answer was believed last although it was late
	waiting   work.Dispatch // for the answer, while arrival waits
	arrival   patience      // of the dispatch
	beginning patience      // of the action that begins
	asked     bool          // the last ping is unanswered
	pinged    time.Time     // when that was
	number    uint64        // of that
}

// patience is that of something that waits for an answer, and what it has seen so far.
type patience struct {
	waits bool
	slow  time.Duration // how long the last answer was on its way, which came too late to vouch; 0: none did
}

// over takes in an answer, and how long it was on its way, and says whether the waiting is
// over by it. An answer that comes later than a moment may have lain in the socket of a
// frozen process. When the next one takes about as long, it is the way that is slow, and
// it is believed.
func (p *patience) over(took, moment time.Duration) bool {
	switch {
	case !p.waits:
		return false
	case took <= moment, p.slow > 0 && took <= p.slow+moment:
		*p = patience{}
		return true
	}
	p.slow = took
	return false
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
// that is unanswered (0): that answer comes behind it as well.
func (l *Lease) Dispatched(now time.Time, d work.Dispatch) (counts bool, ping uint64) {
	if l.fresh(now, l.since) {
		l.arrival = patience{}
		return true, 0
	}
	l.waiting, l.arrival.waits = d, true
	return false, l.ask(now)
}

// Begins says whether an action may begin now. If it may not, it waits for the answer to
// the ping returned, or to the one that is unanswered (0). An answer that was believed
// although it was late counts here: on a way that is slow nothing fresher comes.
func (l *Lease) Begins(now time.Time) (vouched bool, ping uint64) {
	if l.fresh(now, l.since) || l.fresh(now, l.believed) {
		l.beginning = patience{}
		return true, 0
	}
	l.beginning = patience{waits: true}
	return false, l.ask(now)
}

// fresh says whether a moment is no longer ago than an answer vouches for.
func (l *Lease) fresh(now, then time.Time) bool { return elapsed(now, then) <= l.limit }

// elapsed is how long a moment is ago. The clock on the wall has a say in it: the other
// one stands still while a machine sleeps. One that was put back tells nothing good.
func elapsed(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)).Abs())
}

// ask returns the ping to be sent; 0: one is unanswered.
func (l *Lease) ask(now time.Time) (ping uint64) {
	if l.asked {
		return 0
	}
	l.asked, l.pinged = true, now
	l.number++
	return l.number
}

// Vouched is what an answer to a ping leads to.
type Vouched struct {
	Dispatch *work.Dispatch // that counts by it; nil: none
	Begins   bool           // the action that waits to begin does
	Ping     uint64         // to be sent, because something still waits; 0: none
}

// Pong takes the answer to a ping.
func (l *Lease) Pong(now time.Time, number uint64) Vouched {
	if number != l.number || !l.asked {
		return Vouched{}
	}
	l.asked = false
	l.Answered(l.pinged)
	took := elapsed(now, l.pinged)
	var v Vouched
	if l.arrival.over(took, l.limit) {
		d := l.waiting
		v.Dispatch = &d
	}
	v.Begins = l.beginning.over(took, l.limit)
	if took > l.limit && (v.Dispatch != nil || v.Begins) {
		l.believed = now
	}
	if l.arrival.waits || l.beginning.waits {
		v.Ping = l.ask(now)
	}
	return v
}

// Cancelled drops the dispatch that waits if it is the one meant; an empty action id
// means all of the replay's.
func (l *Lease) Cancelled(replayID, actionID string) {
	if l.waiting.ReplayID == replayID && (actionID == "" || actionID == l.waiting.ActionID) {
		l.arrival = patience{}
	}
}

// Stopped says that the action that waits to begin does not begin any more.
func (l *Lease) Stopped() { l.beginning = patience{} }
