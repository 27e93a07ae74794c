//go:build faultpoint

package virtualdesktop_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Where a process that is killed in the middle of a gesture leaves the desktop.
func TestTheFaultPointLiesAfterAnEffectAndBeforeTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		gesture func(*rig) driver.Input
		down    []string
		effect  wire.Effect
	}{
		"paste": {func(*rig) driver.Input { return driver.Paste{Text: "SELECT 1"} }, []string{"ctrl"}, wire.Pasted},
		"type":  {func(*rig) driver.Input { return driver.Type{Text: "abcd"} }, nil, wire.Typed},
		"combo": {func(*rig) driver.Input { return driver.Combo{Keys: []string{"ctrl", "a"}} }, []string{"a", "ctrl"}, wire.SelectedAll},
		"click": {
			func(r *rig) driver.Input {
				area, err := r.control.Find(t.Context(), "trash")
				must(t, err)
				return driver.Click{At: area.Min.Add(area.Size().Div(2)), Count: 2}
			}, []string{"left_button"}, wire.Opened,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "simple", "127.0.0.1:0")
			note, err := r.control.Find(t.Context(), "note")
			must(t, err)
			must(t, r.driver.Do(t.Context(), driver.Click{At: note.Min, Count: 1}))

			points, err := faultpoint.Listen()
			must(t, err)
			defer func() { _ = points.Close() }()
			t.Setenv(faultpoint.Address, points.Address())
			t.Setenv(faultpoint.Names, faultpoint.AgentMidInput)
			done := make(chan error, 1)
			in := c.gesture(r)
			go func() { done <- r.driver.Do(t.Context(), in) }()

			arrival := <-points.Arrivals()
			if arrival.Subject != name {
				t.Errorf("subject = %q, want the gesture's name", arrival.Subject)
			}
			if diff := cmp.Diff(c.down, r.Down(t), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("down (-want +got):\n%s", diff)
			}
			ledger, err := r.control.Ledger(t.Context())
			must(t, err)
			if last := ledger[len(ledger)-1]; last.Effect != c.effect {
				t.Errorf("last entry = %+v, want %s", last, c.effect)
			}
			arrival.GoOn()
			must(t, <-done)
			if down := r.Down(t); len(down) != 0 {
				t.Errorf("still down: %v", down)
			}
		})
	}
}

// Each event can be the last one that a killed process has sent.
func TestAFaultPointLiesAfterEachEventAndNamesIt(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	points, err := faultpoint.Listen()
	must(t, err)
	defer func() { _ = points.Close() }()
	t.Setenv(faultpoint.Address, points.Address())
	t.Setenv(faultpoint.Names, faultpoint.AgentInputEvent)
	done := make(chan error, 1)
	go func() { done <- r.driver.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "a"}}) }()
	for _, want := range []struct {
		subject string
		down    []string
	}{
		{"combo 1/4 key_down", []string{"ctrl"}},
		{"combo 2/4 key_down", []string{"a", "ctrl"}},
		{"combo 3/4 key_up", []string{"ctrl"}},
		{"combo 4/4 key_up", nil},
	} {
		arrival := <-points.Arrivals()
		if arrival.Subject != want.subject {
			t.Errorf("subject = %q, want %q", arrival.Subject, want.subject)
		}
		if down := r.Down(t); !slices.Equal(down, want.down) {
			t.Errorf("%s: down are %q, want %q", want.subject, down, want.down)
		}
		arrival.GoOn()
	}
	must(t, <-done)
}
