package execute_test

import (
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

var (
	middle  = work.Point{X: 0.5, Y: 0.5}
	pressed = driver.Combo{Keys: press.Keys}
	clicked = []work.Popup{{Window: work.WindowSelector{Process: "updater.exe"}, Point: &middle}}
)

// behind puts a popup below the window that is worked in, which covers it.
func (s *screen) behind(w driver.Window) {
	w.Active = false
	s.windows = append(s.windows, w)
}

func TestB05_APopupBehindAnotherWindowIsBroughtToTheFrontAndClickedThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.behind(update)
		hit := ""
		s.onInput = func(s *screen, _ int) error {
			if s.windows[0].ID == "9" {
				hit = s.at(image.Pt(200, 150))
				s.onInput = func(s *screen, _ int) error { s.shut("9"); s.onInput = nil; return nil }
				return s.onInput(s, 0)
			}
			return nil
		}
		o := perform(t, s, work.Action{Do: press, Popups: clicked})
		want := []driver.Input{driver.Focus{WindowID: "9"}, driver.Click{At: image.Pt(200, 150), Count: 1, On: "9"}, pressed}
		if diff := cmp.Diff(want, s.inputs); diff != "" || hit != "9" || !slices.Contains(o.Warnings, work.PopupHandled) {
			t.Errorf("%s, the click hit %q (-want +got)\n%s", verdict(o), hit, diff)
		}
	})
}

// A popup that does not come to the front, or stays behind a window that is always on top.
func TestB05_APopupBehindAnotherWindowIsNotClickedThroughIt(t *testing.T) {
	for _, refused := range []error{nil, driver.ErrNotInFront, driver.ErrBlocked} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.behind(update)
			s.onInput = func(s *screen, n int) error {
				if s.windows[0].ID != "1" {
					s.raise("1")
				}
				if n == 0 && refused != nil {
					s.onInput = nil
					return &driver.InputError{Err: refused}
				}
				return nil
			}
			s.onLook = func(s *screen) { s.raise("1") }
			o := perform(t, s, work.Action{Do: press, Popups: clicked})
			if !o.Success() || slices.ContainsFunc(s.inputs, isClick) {
				t.Errorf("%s, inputs %v", verdict(o), s.inputs)
			}
		})
	}
}

func isClick(in driver.Input) bool { _, click := in.(driver.Click); return click }

// What never takes the keyboard, such as a notification, lies over all and is clicked.
func TestAPopupThatTakesNoKeyboardIsClickedWhereItLiesOnTop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		toast := update
		toast.Active = false
		s.windows = append([]driver.Window{toast}, s.windows...)
		s.onInput = func(s *screen, n int) error { s.shut("9"); s.onInput = nil; return nil }
		o := perform(t, s, work.Action{Do: press, Popups: clicked})
		if len(s.inputs) != 2 || !isClick(s.inputs[0]) || !slices.Contains(o.Warnings, work.PopupHandled) {
			t.Errorf("%s, inputs %v", verdict(o), s.inputs)
		}
	})
}

func TestAPopupThatIsAnIconIsInNobodysWay(t *testing.T) {
	for _, rule := range [][]work.Popup{clicked, rules} {
		s := newScreen()
		icon := update
		icon.Bounds = image.Rectangle{}
		s.behind(icon)
		o := perform(t, s, work.Action{Do: press, Popups: rule})
		if diff := cmp.Diff([]driver.Input{pressed}, s.inputs); diff != "" || !o.Success() {
			t.Errorf("%s (-want +got)\n%s", verdict(o), diff)
		}
	}
}

// Its own time is over between the look and the keys: alt and F4 would close the program
// that is worked in.
func TestB05_KeysForAPopupThatWentByItselfArePressedNowhere(t *testing.T) {
	for name, goes := range map[string]func(s *screen){
		"while the server is asked": func(s *screen) { s.shut("9") },
		"once it was in front":      nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.pop(update)
			if goes == nil {
				s.onInput = func(s *screen, n int) error {
					if n == 1 {
						s.shut("9")
						s.onInput = nil
					}
					return nil
				}
			}
			rule := []work.Popup{{Window: work.WindowSelector{Process: "updater.exe"}, Keys: []string{"alt", "f4"}}}
			began := time.Now()
			o := performWith(t.Context(), s, &shelf{}, work.Action{Do: press, Popups: rule}, func() error {
				if goes != nil && s.active("9") {
					goes(s)
				}
				return nil
			})
			closes := func(in driver.Input) bool { combo, ok := in.(driver.Combo); return ok && len(combo.Keys) == 2 }
			if slices.ContainsFunc(s.inputs, closes) || verdict(o) != "success completed not_checked" || time.Since(began) > 500*time.Millisecond {
				t.Errorf("%s: %s after %v, inputs %v", name, verdict(o), time.Since(began), s.inputs)
			}
		})
	}
}

func TestAPopupThatDidNotCloseIsToldWithItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(update)
		o := perform(t, s, work.Action{Do: press, Popups: rules})
		if got := verdict(o); got != "success completed not_checked popup_stayed" {
			t.Errorf("%s", got)
		}
		o = perform(t, s, work.Action{Do: press, WindowBefore: "Editor", Popups: rules})
		if !strings.Contains(o.Message, `the rule for title "update is ready"`) {
			t.Errorf("%s: %q", verdict(o), o.Message)
		}
	})
}

// It takes 3 s to fade, three times as long as an effect is waited for.
func TestAPopupThatFadesSlowlyIsCountedAndTheActionTriedAgain(t *testing.T) {
	for name, a := range map[string]work.Action{
		"while the target is looked for": {Do: work.Click{}, Target: &work.Target{Window: "Editor"}, WindowBefore: "Editor"},
		"after the input":                {Do: press, WindowAfter: "Editor"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.pop(update)
			s.onInput = func(s *screen, n int) error {
				due := time.Now().Add(1900 * time.Millisecond)
				s.onLook = func(s *screen) {
					if !time.Now().Before(due) && s.active("9") {
						s.shut("9")
						s.onLook = nil
					}
				}
				s.onInput = nil
				return nil
			}
			a.Popups = rules
			if o := perform(t, s, a); !o.Success() || !slices.Equal(o.Warnings, []work.Warning{work.PopupHandled}) {
				t.Errorf("%s: %s %s", name, verdict(o), o.Message)
			}
		})
	}
}

// Both come at the same look: the target is no reason to click beside a prompt.
func TestADialogOfTheSystemThatComesWhileTheTargetIsLookedForStopsTheAction(t *testing.T) {
	for name, a := range map[string]work.Action{
		"a target": {Do: work.Click{}, Target: anchored()},
		"a window": {Do: work.FocusWindow{Window: work.WindowSelector{Title: "late"}}},
		"a wait":   {Do: work.WaitForWindow{Window: work.WindowSelector{Title: "late"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			due := time.Now().Add(5 * time.Second)
			s.onLook = func(s *screen) {
				if time.Now().Before(due) {
					return
				}
				s.onLook = nil
				s.put(icon(), image.Pt(20, 20))
				s.pop(driver.Window{ID: "3", Title: "late", Bounds: image.Rect(0, 0, 50, 50)})
				s.pop(prompt)
			}
			if o := perform(t, s, a); o.Code != work.SystemDialog || len(s.inputs) != 0 {
				t.Errorf("%s: %s, inputs %v", name, verdict(o), s.inputs)
			}
		})
	}
}
