// Package liveness decides when one side of a stream pings the other, and when an
// unanswered ping means that the other is dead. It is pure: it holds no clock, timer
// or stream. The caller brings the time, sends the pings, hands in the answers and
// ends the stream.
package liveness

import "time"

// Pings is one side's pings over one stream. One ping at a time is unanswered; the
// next one follows an interval after its answer. It is used by one goroutine; the
// zero value is of no use.
type Pings struct {
	interval, timeout time.Duration

	last       uint64    // number of the last ping; 0: none was sent
	unanswered bool      // the last ping is
	dead       bool      // said once, it stays so
	next       time.Time // of a ping, or of death while one is unanswered
}

// New returns the pings of a stream that opened now: the first is due after interval.
// A ping that is unanswered for timeout means that the other side is dead. Both are
// positive.
func New(now time.Time, interval, timeout time.Duration) *Pings {
	return &Pings{interval: interval, timeout: timeout, next: now.Add(interval)}
}

// Due acts on the time. It returns the number of a ping that the caller is to send
// now, counted from 1, or 0 for none; or that the other side is dead, which no later
// answer changes. Called before Next it changes nothing.
func (p *Pings) Due(now time.Time) (ping uint64, dead bool) {
	if now.Before(p.next) {
		return 0, p.dead
	}
	if p.unanswered {
		p.dead = true
		return 0, true
	}
	p.last++
	p.unanswered, p.next = true, now.Add(p.timeout)
	return p.last, false
}

// Pong takes an answer. It counts from when it came, however late that was, unless
// Due has said dead before. One to an older ping, to one that is answered already, or
// to none, changes nothing.
func (p *Pings) Pong(now time.Time, number uint64) {
	if !p.unanswered || p.dead || number != p.last {
		return
	}
	p.unanswered, p.next = false, now.Add(p.interval)
}

// Next returns when Due wants to be called; it is never zero. Once Due has said dead,
// it stays the time at which that became true.
func (p *Pings) Next() time.Time { return p.next }
