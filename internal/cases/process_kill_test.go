package cases

import (
	"slices"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// stepOutcome is what must be seen of the step at which somebody was killed.
type stepOutcome struct {
	deliveries []int // of the decision to run it; one of them
	resent     int   // of them, what counts against the resend budget
	asks       bool  // it goes to a person
}

// What becomes of a killed step. A process of the agent that is gone with the action
// in flight has spent a resend; a restart of the server has spent none.
var (
	takenOnce        = stepOutcome{deliveries: []int{1}}                        // and settled by that
	sentTwice        = stepOutcome{deliveries: []int{2}}                        // the server's death was the reason
	perhapsSentTwice = stepOutcome{deliveries: []int{1, 2}}                     // the dispatch was on its way, or there
	resendSpent      = stepOutcome{deliveries: []int{2}, resent: 1}             // the agent's death was
	asksAPerson      = stepOutcome{deliveries: []int{2}, resent: 1, asks: true} // whether it ran is not known
)

// actionsLife is every point of an action's life, and what becomes of the action when one
// side, or both, are killed there.
var actionsLife = []struct {
	point               string
	agent, server, both stepOutcome
}{
	{faultpoint.DispatchDecided, resendSpent, takenOnce, takenOnce}, // what is not durable was never sent
	{faultpoint.DispatchJournaled, resendSpent, sentTwice, resendSpent},
	{faultpoint.DispatchSent, resendSpent, perhapsSentTwice, resendSpent},
	// An action begins only while the server vouches for it.
	{faultpoint.AgentReceived, resendSpent, perhapsSentTwice, resendSpent},
	{faultpoint.AgentBegins, resendSpent, perhapsSentTwice, resendSpent},
	// What stood still there asks anew before its input, and there may be nobody to answer.
	{faultpoint.AgentStarted, asksAPerson, perhapsSentTwice, asksAPerson},
	{faultpoint.AgentInputEvent, asksAPerson, takenOnce, asksAPerson},
	{faultpoint.AgentMidInput, asksAPerson, takenOnce, asksAPerson},
	{faultpoint.AgentInputDone, asksAPerson, takenOnce, asksAPerson},
	{faultpoint.AgentResultReady, asksAPerson, takenOnce, asksAPerson},
	{faultpoint.AgentResultStored, takenOnce, takenOnce, takenOnce},
	{faultpoint.AgentReportSent, takenOnce, takenOnce, takenOnce},
	{faultpoint.ReportReceived, takenOnce, takenOnce, takenOnce},
	{faultpoint.ReportDecided, takenOnce, takenOnce, takenOnce},
	{faultpoint.ReportJournaled, takenOnce, takenOnce, takenOnce},
	{faultpoint.ReportAcked, takenOnce, takenOnce, takenOnce},
	{faultpoint.AgentAcknowledged, takenOnce, takenOnce, takenOnce},
	{faultpoint.AgentForgot, takenOnce, takenOnce, takenOnce},
}

func TestEveryPointOfAnActionsLifeHasItsKills(t *testing.T) {
	var got []string
	for _, l := range actionsLife {
		got = append(got, l.point)
	}
	if want := faultpoint.Points(); !slices.Equal(got, want) {
		t.Errorf("killed at %q, want %q", got, want)
	}
}

func TestCase_b_KilledBeforeItHasStartedTheActionIsExecutedOnce(t *testing.T) {
	killAt(t, agentOnly, faultpoint.DispatchDecided, faultpoint.AgentBegins)
}

func TestCase_c_KilledBetweenStartedAndTheResultItGoesToAPerson(t *testing.T) {
	killAt(t, agentOnly, faultpoint.AgentStarted, faultpoint.AgentResultReady)
}

func TestCase_c_KilledOnceTheResultIsStoredItIsNotExecutedAgain(t *testing.T) {
	killAt(t, agentOnly, faultpoint.AgentResultStored, faultpoint.AgentForgot)
}

func TestCase_d_TheServerDiesAroundItsAcknowledgementAndTakesTheReportOnce(t *testing.T) {
	killAt(t, serverOnly, faultpoint.AgentReportSent, faultpoint.AgentForgot)
}

func TestCase_i_TheServerIsKilledWithAnActionInFlightAndGoesOnFromItsJournal(t *testing.T) {
	killAt(t, serverOnly, faultpoint.DispatchDecided, faultpoint.AgentResultStored)
}

func TestCase_i_BothAreKilledAtOnceAndTheirJournalsSettleIt(t *testing.T) {
	killAt(t, bothSides, faultpoint.DispatchDecided, faultpoint.AgentForgot)
}

// victim is who is killed.
type victim int

const (
	agentOnly victim = iota
	serverOnly
	bothSides
)

// killAt kills at each point from the first to the last.
func killAt(t *testing.T, who victim, first, last string) {
	for _, l := range actionsLife[rank(first) : rank(last)+1] {
		want := []stepOutcome{agentOnly: l.agent, serverOnly: l.server, bothSides: l.both}[who]
		t.Run(l.point, func(t *testing.T) {
			t.Parallel()
			th := open(t, three)
			a := th.standAt(l.point, middleStep)
			th.kill(who)
			th.goOn(a)
			th.passAll()
			th.restart(who)
			th.cameTo(want)
		})
	}
}

func (th *theatre) kill(who victim) {
	if who != serverOnly {
		th.Agent.Kill()
	}
	if who != agentOnly {
		th.Server.Kill()
	}
}

func (th *theatre) restart(who victim) {
	th.t.Helper()
	if who != agentOnly {
		th.startServer()
	}
	if who != serverOnly {
		th.startAgent()
	}
}

// cameTo takes the replay to its end, with the help of a person where the contract
// wants one and nowhere else.
func (th *theatre) cameTo(want stepOutcome) {
	th.t.Helper()
	if want.asks {
		r := th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
		if got := stepOf(r.GetPause().GetActionToDecide()); got != middleStep {
			th.t.Errorf("the person is asked about step %d, want %d", got, middleStep)
		}
		th.decide(middleStep)
	}
	r := th.settled()
	a := firstAction(r, middleStep)
	if !slices.Contains(want.deliveries, int(a.GetDeliveries())) || int(a.GetResentCount()) != want.resent {
		th.t.Errorf("%s was delivered %d times and spent %d resends, want %v and %d",
			a.GetActionId(), a.GetDeliveries(), a.GetResentCount(), want.deliveries, want.resent)
	}
}
