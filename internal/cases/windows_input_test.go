//go:build wine

package cases

import (
	"strings"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// windowsGestures are gestures as on the virtual desktop, with the input events that
// they are on Windows: each character and each key of its own, down and up.
var windowsGestures = []struct {
	name, step string
	events     int
	effect     wire.Entry
}{
	{"click", `click: {}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}`, 3, wire.Entry{Widget: "save", Effect: wire.Clicked}},
	{"double click", `click: {count: 2}, target: {windowTitle: Trash, point: {x: 0.5, y: 0.6}}`, 5, wire.Entry{Widget: "trash", Effect: wire.Opened}},
	// A move, the press, a move for each of twelve steps, the release.
	{
		"drag", `drag: {to: {windowTitle: Notes, point: {x: 0.7, y: 0.7}}}, target: {windowTitle: Notes, point: {x: 0.3, y: 0.3}}`,
		15, wire.Entry{Widget: "note", Effect: wire.Focused},
	},
	// To clear first is a gesture of its own: four events. The last character is two
	// UTF-16 units.
	{"type", `type: {text: "né😀", clearFirst: true}`, 12, wire.Entry{Widget: "note", Effect: wire.Typed, Detail: "né😀"}},
	{"paste", `paste: {text: "né"}`, 4, wire.Entry{Widget: "note", Effect: wire.Pasted, Detail: "né"}},
	{"combo", `keyCombo: {keys: [ctrl, a]}`, 4, wire.Entry{Widget: "note", Effect: wire.SelectedAll}},
}

// Each gesture is played as often as it has events, after a first click that gives the
// keyboard to the text; each time its program is killed after another event.
func TestCase_c_OnWindowsKilledAfterAnyInputEventItGoesToAPersonAndNothingStaysDown(t *testing.T) {
	for _, g := range windowsGestures {
		t.Run(g.name, func(t *testing.T) {
			steps := "\n  - {click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}"
			th := openOnWindows(t, play{steps: steps + strings.Repeat("\n  - {"+g.step+"}", g.events)})
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

// B19: a modifier stays down. Windows keeps what a dead process pressed; the next one
// lets go of it.
func TestCase_c_OnWindowsB19WhatADeadAgentHeldItsNextStartLetsGoOf(t *testing.T) {
	for _, held := range []struct {
		name, step string
		down       []string // virtual-key codes, as the desktop names them
	}{
		{"combo", `keyCombo: {keys: [ctrl, shift, f1]}`, []string{"0x11", "0x10", "0x70"}},
		{"click", `click: {modifiers: [shift]}, target: {windowTitle: Tools, point: {x: 0.5, y: 0.5}}`, []string{"0x10", "0x01"}},
		{"character", `type: {text: "é"}`, []string{"0xe7"}},
	} {
		t.Run(held.name, func(t *testing.T) {
			th := openOnWindows(t, play{steps: `
  - {click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}
  - {` + held.step + `}
`})
			a := th.standAt(faultpoint.AgentMidInput, middleStep) // all that the gesture presses is down
			th.Agent.Kill()
			down, err := th.desktop.Down(th.ctx)
			th.must(err)
			for _, key := range held.down {
				if !strings.Contains(strings.Join(down, ","), key) {
					t.Errorf("killed after %s, %v are down; want %s among them", a.Subject, down, key)
				}
			}
			th.goOn(a)
			th.passAll()
			th.startAgent()
			th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
			th.nothingDown()
		})
	}
}
