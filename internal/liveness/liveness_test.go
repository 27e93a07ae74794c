package liveness_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/internal/liveness"
)

const (
	interval = 10 * time.Second
	timeout  = 7 * time.Second
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// due asks a time after the start and fails unless the answer is as wanted.
func due(t *testing.T, p *liveness.Pings, after time.Duration, wantPing uint64, wantDead bool) {
	t.Helper()
	if ping, dead := p.Due(start.Add(after)); ping != wantPing || dead != wantDead {
		t.Errorf("after %v: ping %d, dead %v; want %d, %v", after, ping, dead, wantPing, wantDead)
	}
}

func next(t *testing.T, p *liveness.Pings, want time.Duration) {
	t.Helper()
	if got := p.Next().Sub(start); got != want {
		t.Errorf("next after %v, want %v", got, want)
	}
}

func TestTheIntervalCountsFromTheAnswerAndTheTimeoutFromThePing(t *testing.T) {
	p := liveness.New(start, interval, timeout)
	next(t, p, 10*time.Second)
	due(t, p, 10*time.Second-1, 0, false)
	due(t, p, 10*time.Second, 1, false)
	due(t, p, 10*time.Second, 0, false)
	next(t, p, 17*time.Second)
	p.Pong(start.Add(12*time.Second), 1)
	next(t, p, 22*time.Second)
	due(t, p, 22*time.Second-1, 0, false)
	due(t, p, 23*time.Second, 2, false) // a late caller: the timeout counts from its ping
	next(t, p, 30*time.Second)
	due(t, p, 30*time.Second-1, 0, false)
	due(t, p, 30*time.Second, 0, true)
	next(t, p, 30*time.Second)
}

func TestTheDeadStayDead(t *testing.T) {
	p := liveness.New(start, interval, timeout)
	due(t, p, interval, 1, false)
	due(t, p, interval+timeout, 0, true)
	p.Pong(start.Add(interval+timeout), 1)
	next(t, p, interval+timeout)
	due(t, p, interval+timeout, 0, true)
	due(t, p, time.Hour, 0, true)
	due(t, p, 0, 0, true)
}

func TestAnAnswerThatIsLateCountsUnlessDeathWasSaid(t *testing.T) {
	p := liveness.New(start, interval, timeout)
	due(t, p, interval, 1, false)
	p.Pong(start.Add(time.Minute), 1)
	due(t, p, time.Minute, 0, false)
	next(t, p, time.Minute+interval)
}

func TestAnswersToWhatNobodyAskedChangeNothing(t *testing.T) {
	p := liveness.New(start, interval, timeout)
	for _, number := range []uint64{0, 1, 1 << 32} {
		p.Pong(start.Add(5*time.Second), number)
		next(t, p, interval)
	}
	due(t, p, interval, 1, false)
	p.Pong(start.Add(11*time.Second), 1)
	p.Pong(start.Add(20*time.Second), 1) // said again
	next(t, p, 21*time.Second)
	due(t, p, 21*time.Second, 2, false)
	for _, number := range []uint64{0, 1, 3} {
		p.Pong(start.Add(22*time.Second), number)
		next(t, p, 28*time.Second)
	}
}

// other is the far side of a walk: what it was asked, and what it has answered.
type other struct {
	now      time.Time
	pings    *liveness.Pings
	number   uint64        // of the last ping
	asked    time.Time     // when that came; zero: none is unanswered
	answered time.Time     // the last answer, or the start
	patience time.Duration // how long a ping may go unanswered
	died     bool
}

// pass lets time go by as a caller does that keeps to Next, until at.
func (o *other) pass(t *rapid.T, at time.Time) {
	for {
		when := o.pings.Next()
		if when.IsZero() {
			t.Fatal("next is zero")
		}
		if o.died || when.After(at) {
			o.now = at
			return
		}
		o.now = when
		o.due(t)
	}
}

func (o *other) due(t *rapid.T) {
	ping, dead := o.pings.Due(o.now)
	switch {
	case dead:
		if ping != 0 {
			t.Fatalf("ping %d to the dead", ping)
		}
		if o.asked.IsZero() || o.now.Sub(o.asked) < timeout {
			t.Fatalf("dead %v after the ping", o.now.Sub(o.asked))
		}
		o.died = true
	case ping != 0:
		if !o.asked.IsZero() || ping != o.number+1 {
			t.Fatalf("ping %d after %d, unanswered %v", ping, o.number, !o.asked.IsZero())
		}
		o.number, o.asked = ping, o.now
	}
	if !o.died && o.now.Sub(o.answered) >= interval+timeout {
		t.Fatalf("not dead %v after the last answer", o.now.Sub(o.answered))
	}
}

func (o *other) answer(*rapid.T) {
	o.pings.Pong(o.now, o.number)
	if !o.asked.IsZero() && !o.died {
		o.asked, o.answered = time.Time{}, o.now
	}
}

func (o *other) wait(t *rapid.T) {
	at := o.now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "wait")))
	for o.patience > 0 && !o.died {
		// An other side that lives answers before its patience ends, whenever asked.
		by := o.asked
		if by.IsZero() {
			by = o.pings.Next()
		}
		by = by.Add(o.patience)
		if by.After(at) {
			break
		}
		o.pass(t, by)
		o.answer(t)
	}
	o.pass(t, at)
}

func walk(t *rapid.T, patience time.Duration) *other {
	o := &other{now: start, answered: start, patience: patience, pings: liveness.New(start, interval, timeout)}
	t.Repeat(map[string]func(*rapid.T){
		"answer": o.answer,
		"noise": func(t *rapid.T) {
			if n := rapid.Uint64().Draw(t, "number"); n != o.number {
				o.pings.Pong(o.now, n)
			}
		},
		"ask early": o.due,
		"wait":      o.wait,
	})
	return o
}

func TestWhoAnswersEachPingInTimeIsNeverDead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		patience := time.Duration(rapid.Int64Range(1, int64(timeout-1)).Draw(t, "patience"))
		if o := walk(t, patience); o.died {
			t.Fatalf("dead, with an answer to each ping within %v", patience)
		}
	})
}

func TestWhoFallsSilentIsDeadByIntervalAndTimeoutAfterItsLastAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := walk(t, 0)
		o.pass(t, o.answered.Add(interval+timeout))
		if !o.died {
			t.Fatalf("not dead %v after the last answer", interval+timeout)
		}
	})
}
