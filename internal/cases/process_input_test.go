package cases

import (
	"strings"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// gestures are the ways to send input that is more than one event, and the one
// effect on the desktop that each of them has.
var gestures = map[string]struct {
	step   string
	events int
	effect wire.Entry
}{
	"click":        {`click: {}, target: {windowTitle: Tools, point: {x: 0.33, y: 0.31}}`, 3, wire.Entry{Widget: "save", Effect: wire.Clicked}},
	"double click": {`click: {count: 2}, target: {point: {x: 0.6875, y: 0.08}}`, 5, wire.Entry{Widget: "trash", Effect: wire.Opened}},
	"drag": {
		`drag: {to: {windowTitle: Notes, point: {x: 0.7, y: 0.7}}}, target: {windowTitle: Notes, point: {x: 0.3, y: 0.3}}`,
		11, wire.Entry{Widget: "note", Effect: wire.Focused},
	},
	// To clear first is a gesture of its own: four events, then one for each character.
	"type":  {`type: {text: "né", clearFirst: true}`, 6, wire.Entry{Widget: "note", Effect: wire.Typed, Detail: "né"}},
	"paste": {`paste: {text: "né"}`, 5, wire.Entry{Widget: "note", Effect: wire.Pasted, Detail: "né"}},
	"combo": {`keyCombo: {keys: [ctrl, a]}`, 4, wire.Entry{Widget: "note", Effect: wire.SelectedAll}},
}

// Each gesture is played as often as it has events, after a first click that gives
// the keyboard to the text; each time it is killed after another event.
func TestCase_c_KilledAfterAnyInputEventItGoesToAPersonAndNothingStaysDown(t *testing.T) {
	for name, g := range gestures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := "\n  - {click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}"
			th := open(t, play{steps: steps + strings.Repeat("\n  - {"+g.step+"}", g.events)})
			th.upTo(1, func() { th.awaitSettled(1) })
			first := th.effects(g.effect)
			for n := range g.events {
				step, sent := n+2, 0
				a := th.standWhere(faultpoint.AgentInputEvent, step, func(string) bool { sent++; return sent == n+1 })
				th.Agent.Kill()
				th.goOn(a)
				th.startAgent()
				th.upTo(step, func() { th.decideOn(g.effect, first+n, a.Subject) })
			}
			th.passAll()
			th.ended()
			if got := th.effects(g.effect) - first; got != g.events {
				t.Errorf("the desktop counted %d effects of %d steps", got, g.events)
			}
		})
	}
}

// decideOn is what a person does who looks at the screen, on which there were so
// many effects before the step was killed.
func (th *theatre) decideOn(effect wire.Entry, before int, killed string) {
	th.t.Helper()
	th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
	th.nothingDown()
	args := []string{"resume", th.replay}
	switch n := th.effects(effect) - before; n {
	case 0:
	case 1:
		args = append(args, "--skip")
	default:
		th.t.Errorf("killed after %s: %d effects of one step", killed, n)
	}
	_, err := th.Reprisectl(th.ctx, args...)
	th.must(err)
}

// effects is how often the desktop counted an effect.
func (th *theatre) effects(of wire.Entry) int {
	th.t.Helper()
	ledger, err := th.desktop.Ledger(th.ctx)
	th.must(err)
	n := 0
	for _, e := range ledger {
		if e.Widget == of.Widget && e.Effect == of.Effect && e.Detail == of.Detail {
			n++
		}
	}
	return n
}

// A kind that is safe to run twice needs no person: it is executed again, when the
// server asks for it again.
func TestCase_c_KilledInTheMiddleOfWhatIsSafeToRunTwiceItIsExecutedAgain(t *testing.T) {
	for _, point := range []string{faultpoint.AgentStarted, faultpoint.AgentInputDone, faultpoint.AgentResultReady} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			th := open(t, play{
				steps: `
  - {name: note, click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}
  - {name: front, focusWindow: {window: {title: Notes}}}
  - {name: save, click: {}, target: {windowTitle: Tools, point: {x: 0.33, y: 0.31}}}
`,
				marks: []string{"note focused", "save clicked"},
			})
			a := th.standAt(point, middleStep)
			th.kill(agentOnly)
			th.goOn(a)
			th.passAll()
			th.restart(agentOnly)
			th.cameTo(resendSpent)
		})
	}
}

// The action may be what kills the agent: it is not tried for ever.
func TestCase_n_AnActionThatItsAgentDiesOfAgainAndAgainIsGivenUp(t *testing.T) {
	th := open(t, three)
	const resends = 2 // by default
	for range resends + 1 {
		a := th.standAt(faultpoint.AgentBegins, middleStep)
		th.Agent.Kill()
		th.goOn(a)
		th.startAgent()
	}
	th.passAll()
	th.paused(reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS)
	if a := firstAction(th.get(), middleStep); a.GetDeliveries() != resends+1 || a.GetResentCount() != resends {
		t.Errorf("given up after %d deliveries and %d resends, want %d and %d", a.GetDeliveries(), a.GetResentCount(), resends+1, resends)
	}
	th.decide(middleStep)
	th.settled()
}

// awaitSettled waits until so many steps have come to their end.
func (th *theatre) awaitSettled(n int) {
	th.t.Helper()
	_, err := th.Await(th.ctx, th.replay, func(r *reprisev1.Replay) bool { return int(r.GetSettledCount()) >= n })
	th.must(err)
}
