package cases

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// script knows how far the programs are, by the fault points that they come to.
type script struct {
	step    int // whose input is sent: the driver does not know its action
	waiting []faultpoint.Arrival
}

// turn is where an arrival lies, seen from what a test waits for.
type turn int

const (
	turnPassed turn = iota
	turnHere
	turnBehind
)

func (s *script) turn(a faultpoint.Arrival, point string, step int, wanted func(string) bool) turn {
	at := stepOf(a.Subject)
	if at == 0 {
		at = s.step
	}
	if a.Name == faultpoint.AgentBegins || a.Name == faultpoint.AgentStarted {
		s.step = at
	}
	switch {
	case a.Name == point && at == step && wanted(a.Subject):
		return turnHere
	case at < step, at == step && rank(a.Name) <= rank(point):
		return turnPassed
	case a.Name == faultpoint.DispatchDecided && rank(point) >= rank(faultpoint.ReportDecided):
		// The report and the next dispatch are one record.
		return turnPassed
	}
	return turnBehind
}

// standAt waits until a program stands at a point with a step, and returns there.
// What precedes it in the step's life passes; what would follow stands still.
func (th *theatre) standAt(point string, step int) faultpoint.Arrival {
	th.t.Helper()
	return th.standWhere(point, step, func(string) bool { return true })
}

// standWhere is standAt for a point whose subject is as wanted.
func (th *theatre) standWhere(point string, step int, wanted func(subject string) bool) faultpoint.Arrival {
	th.t.Helper()
	held := th.script.waiting
	th.script.waiting = nil
	for {
		var a faultpoint.Arrival
		if len(held) > 0 {
			a, held = held[0], held[1:]
		} else {
			select {
			case a = <-th.Faults.Arrivals():
			case <-th.ctx.Done():
				th.t.Fatalf("nothing stood at %s with step %d", point, step)
			}
		}
		switch th.script.turn(a, point, step, wanted) {
		case turnHere:
			th.script.waiting = append(th.script.waiting, held...)
			return a
		case turnPassed:
			a.GoOn()
		case turnBehind:
			th.script.waiting = append(th.script.waiting, a)
		}
	}
}

// goOn lets all that stands still go on, up to the next standAt.
func (th *theatre) goOn(a faultpoint.Arrival) {
	a.GoOn()
	for _, w := range th.script.waiting {
		w.GoOn()
	}
	th.script.waiting = nil
}

// upTo lets the programs go on while f runs, until a later step than the one named
// comes to the agent: that stands still.
func (th *theatre) upTo(step int, f func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case a := <-th.Faults.Arrivals():
				if th.script.turn(a, faultpoint.AgentReceived, step+1, func(string) bool { return true }) == turnPassed {
					a.GoOn()
				} else {
					th.script.waiting = append(th.script.waiting, a)
				}
			case <-over:
				return
			}
		}
	}()
	defer func() { close(over); <-done }()
	f()
}

// passAll lets every later arrival go on until the test ends.
func (th *theatre) passAll() {
	go func() {
		for a := range th.Faults.Arrivals() {
			a.GoOn()
		}
	}()
}

// rank is a point's place in the life of an action. The two points within a gesture
// are passed by turns.
func rank(point string) int {
	if point == faultpoint.AgentMidInput {
		point = faultpoint.AgentInputEvent
	}
	return slices.Index(faultpoint.Points(), point)
}

// stepOf reads the step, from 1, out of an action's id such as r…-2_resume; 0: it
// is none.
func stepOf(actionID string) int {
	i := strings.LastIndexByte(actionID, '-')
	if i < 0 {
		return 0
	}
	digits, _, _ := strings.Cut(actionID[i+1:], "_")
	step, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return step
}
