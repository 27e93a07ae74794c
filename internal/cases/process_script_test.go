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

// rank is a point's place in the life of an action.
func rank(point string) int { return slices.Index(faultpoint.Points(), point) }

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
