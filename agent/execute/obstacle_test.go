package execute_test

import (
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

var (
	update = driver.Window{ID: "9", Title: "An update is ready", Bounds: image.Rect(150, 120, 250, 180), Active: true, Process: "updater.exe"}
	rules  = []work.Popup{{Window: work.WindowSelector{Title: "update is ready"}, Keys: []string{"escape"}}}
	press  = work.Combo{Keys: []string{"a"}}
)

// pop puts a window in front.
func (s *screen) pop(w driver.Window) {
	for i := range s.windows {
		s.windows[i].Active = false
	}
	s.windows = append([]driver.Window{w}, s.windows...)
}

// shut takes a window away; what lay behind it comes to the front.
func (s *screen) shut(id string) {
	s.windows = slices.DeleteFunc(slices.Clone(s.windows), func(w driver.Window) bool { return w.ID == id })
	s.windows[0].Active = true
}

func TestAPopupThatARuleNamesIsClosedBeforeTheAction(t *testing.T) {
	at := work.Point{X: 0.9, Y: 0.9}
	for name, c := range map[string]struct {
		rule work.Popup
		want []driver.Input
	}{
		"by keys":  {rules[0], []driver.Input{driver.Focus{WindowID: "9"}, driver.Combo{Keys: []string{"escape"}, Front: "9"}}},
		"by click": {work.Popup{Window: work.WindowSelector{Process: "updater.exe"}, Point: &at}, []driver.Input{driver.Click{At: image.Pt(240, 174), Count: 1, On: "9"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, began := newScreen(), 0
			s.pop(update)
			last := c.want[len(c.want)-1]
			s.onLook = func(s *screen) {
				if len(s.inputs) == len(c.want) && cmp.Equal(s.inputs[len(s.inputs)-1], last) {
					s.shut("9")
					s.onLook = nil
				}
			}
			a := work.Action{Do: press, WindowBefore: "Editor", Popups: []work.Popup{c.rule}}
			outcome := performWith(t.Context(), s, &shelf{}, a, func() error {
				if began++; began == 1 && len(s.inputs) != 0 {
					t.Errorf("%s: input left before the journal said so", name)
				}
				return nil
			})
			want := append(slices.Clone(c.want), driver.Combo{Keys: []string{"a"}})
			if diff := cmp.Diff(want, s.inputs); diff != "" || began != 2 {
				t.Errorf("%s: began %d times (-want +got)\n%s", name, began, diff)
			}
			if got := verdict(outcome); got != "success completed not_checked popup_handled" {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
}

// It comes while the action looks for its target, which it covers.
func TestAPopupThatComesMeanwhileIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		looks := 0
		s.onLook = func(s *screen) {
			switch looks++; {
			case looks == 5:
				s.pop(update)
			case looks > 5 && len(s.inputs) == 2:
				s.shut("9")
				s.put(icon(), image.Pt(150, 150))
				s.onLook = nil
			}
		}
		a := work.Action{Do: work.Click{Count: 1}, Target: &work.Target{Anchor: &work.Anchor{SHA256: "icon"}}, Popups: rules}
		outcome := performWith(t.Context(), s, &shelf{}, a, nil)
		if !outcome.Success() || len(s.inputs) != 3 || !slices.Contains(outcome.Warnings, work.PopupHandled) {
			t.Errorf("%s %s, inputs %v", verdict(outcome), outcome.Message, s.inputs)
		}
	})
}

// A popup that does not go, or that comes back for ever, keeps no action busy.
func TestAPopupThatStaysIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(update)
		outcome := perform(t, s, work.Action{Do: press, WindowBefore: "Editor", Popups: rules})
		if got := verdict(outcome); got != "wrong_window not_started not_checked popup_stayed" || len(s.inputs) != 2 {
			t.Errorf("%s, inputs %v", got, s.inputs)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		again := update
		s.pop(again)
		s.onLook = func(s *screen) {
			if n := len(s.inputs); n > 0 && n%2 == 0 && s.active(again.ID) && isFor(s.inputs[n-1], again.ID) { // it goes, and is back at once
				s.shut(again.ID)
				again.ID += "x"
				s.pop(again)
			}
		}
		outcome := perform(t, s, work.Action{Do: press, WindowBefore: "Editor", Popups: rules})
		if got := verdict(outcome); got != "wrong_window not_started not_checked popup_handled" || len(s.inputs) != 10 {
			t.Errorf("%s, %d inputs", got, len(s.inputs))
		}
	})
}

// isFor says whether keys were for a window.
func isFor(in driver.Input, id string) bool {
	combo, ok := in.(driver.Combo)
	return ok && combo.Front == id
}

func TestAPopupIsNoPartOfALookAtTheScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(update)
		outcome := perform(t, s, work.Action{Do: work.Screenshot{}, Popups: rules})
		if !outcome.Success() || len(s.inputs) != 0 {
			t.Errorf("%s, inputs %v", verdict(outcome), s.inputs)
		}
	})
}

func TestADialogOfTheSystemStopsTheAction(t *testing.T) {
	for name, c := range map[string]struct {
		window driver.Window
		action work.Action
		want   string
	}{
		"whatever the action":            {driver.Window{ID: "9", Title: "x", Process: "consent.exe"}, work.Action{Do: press}, "system_dialog not_started uac_consent process consent.exe"},
		"a dialog instead of the window": {driver.Window{ID: "9", Title: "Out of paper", Class: "#32770", Active: true}, work.Action{Do: press, WindowBefore: "Editor"}, "system_dialog not_started modal_dialog window_class #32770"},
		"a dialog that was expected": {
			driver.Window{ID: "9", Title: "Out of paper", Class: "#32770", Active: true}, work.Action{Do: press, WindowBefore: "paper"}, "success completed",
		},
		"a dialog that nobody asked about": {driver.Window{ID: "9", Title: "Out of paper", Class: "#32770", Active: true}, work.Action{Do: press}, "success completed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.pop(c.window)
			o := perform(t, s, c.action)
			got := string(o.Code) + " " + string(o.Completion)
			if o.Success() {
				got = "success completed"
			}
			if d := o.Dialog; d != nil {
				got = strings.Join([]string{got, d.Category, d.Signal, d.Value}, " ")
			}
			if got != c.want || !o.Success() && len(s.inputs) != 0 {
				t.Errorf("%s: %s, want %s; inputs %v", name, got, c.want, s.inputs)
			}
		})
	}
}

func TestARuleThatCannotBeReadIsTheActionsFault(t *testing.T) {
	s := newScreen()
	bad := []work.Popup{{Window: work.WindowSelector{Title: "(", Match: work.Regexp}}}
	if o := perform(t, s, work.Action{Do: press, Popups: bad}); o.Code != work.InvalidAction || len(s.inputs) != 0 {
		t.Errorf("%s", verdict(o))
	}
}

func TestAPopupThatTakesNoInputIsLeftToTheAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(update)
		refused := errors.New("refused")
		s.onInput = func(_ *screen, n int) error {
			if n == 0 {
				return &driver.InputError{Err: refused}
			}
			return nil
		}
		o := perform(t, s, work.Action{Do: press, WindowBefore: "Editor", Popups: rules})
		if got := verdict(o); got != "wrong_window not_started not_checked" {
			t.Errorf("%s", got)
		}
	})
}
