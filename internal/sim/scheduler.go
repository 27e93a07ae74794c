package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// start is when every world begins.
var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// scheduler runs one event after the other, in the order of their time; those of the
// same moment in the order in which they were scheduled.
type scheduler struct {
	now    time.Duration // since start
	events queue
	seq    int
	rng    *rand.Rand
}

type event struct {
	at  time.Duration
	seq int
	of  *process // nil: of the world
	gen int      // of the process; an event of an earlier life never happens
	do  func()
}

// process is something that can be killed, frozen and started again.
type process struct {
	name   string
	alive  bool
	gen    int // how often it was started
	frozen bool
	held   []event // what waits for it to thaw
}

// killed is thrown by what a process does when it is killed in the middle of it: it
// unwinds to the scheduler, and what the process had in memory is lost with it.
type killed struct{}

// after schedules something of the world.
func (s *scheduler) after(d time.Duration, do func()) { s.add(event{at: s.now + d, do: do}) }

// in schedules something of a process in the life that it has now.
func (s *scheduler) in(p *process, d time.Duration, do func()) {
	s.add(event{at: s.now + max(0, d), of: p, gen: p.gen, do: do})
}

func (s *scheduler) add(e event) {
	s.seq++
	e.seq = s.seq
	heap.Push(&s.events, e)
}

// step runs the next event; false: there is none.
func (s *scheduler) step() bool {
	if len(s.events) == 0 {
		return false
	}
	e := heap.Pop(&s.events).(event)
	s.now = e.at
	switch {
	case e.of == nil:
		s.run(e)
	case !e.of.alive || e.of.gen != e.gen:
	case e.of.frozen:
		e.of.held = append(e.of.held, e)
	default:
		s.run(e)
	}
	return true
}

func (s *scheduler) run(e event) {
	defer func() {
		if p := recover(); p != nil {
			if _, dead := p.(killed); !dead {
				panic(p)
			}
		}
	}()
	e.do()
}

// thaw lets a frozen process do at once what it could not.
func (s *scheduler) thaw(p *process) {
	p.frozen = false
	for _, e := range p.held {
		e.at = s.now
		s.add(e)
	}
	p.held = nil
}

func (p *process) start() {
	p.alive, p.frozen, p.held = true, false, nil
	p.gen++
}

func (p *process) kill() { p.alive, p.frozen, p.held = false, false, nil }

// between draws a duration.
func (s *scheduler) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(most-least)+1))
}

// chance draws true in one of n.
func (s *scheduler) chance(n int) bool { return s.rng.IntN(n) == 0 }

// clock is what a process takes for the time.
type clock struct {
	offset time.Duration
	drift  float64 // seconds too many per second
}

// at is what the clock shows.
func (c clock) at(now time.Duration) time.Time {
	return start.Add(c.offset + now + time.Duration(float64(now)*c.drift))
}

// until is how long it takes until the clock shows a time.
func (c clock) until(now time.Duration, t time.Time) time.Duration {
	left := t.Sub(c.at(now))
	if left <= 0 {
		return 0
	}
	return time.Duration(float64(left)/(1+c.drift)) + time.Microsecond // never a moment too early
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return e
}

// stamp prints a moment for the story.
func stamp(d time.Duration) string {
	return fmt.Sprintf("%02d:%06.3f", int(d.Minutes()), (d % time.Minute).Seconds())
}
