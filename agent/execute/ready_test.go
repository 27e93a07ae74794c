package execute_test

import (
	"context"
	"errors"
	"image"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

var prompt = driver.Window{
	ID: "7", Title: "Windows Security", Class: "Credential Dialog Xaml Host", Process: "CredentialUIBroker.exe", Active: true, Bounds: image.Rect(100, 100, 300, 200),
}

// A popup is closed at once, and the target comes into sight 20 s later.
func TestTheServerIsAskedAgainBeforeTheActionsOwnInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(update)
		start := time.Now()
		s.onLook = func(s *screen) {
			if len(s.inputs) == 2 && s.active("9") {
				s.shut("9")
			}
			if time.Since(start) > 20*time.Second {
				s.onLook = nil
				s.put(icon(), image.Pt(200, 150))
			}
		}
		var asked []time.Duration
		a := work.Action{Do: work.Click{}, Target: anchored(), Popups: rules}
		o := performWith(t.Context(), s, &shelf{}, a, func() error {
			asked = append(asked, time.Since(start))
			return nil
		})
		if !o.Success() || len(asked) != 2 || asked[1] < 20*time.Second {
			t.Errorf("%s: asked after %v, the click came after %v", verdict(o), asked, time.Since(start))
		}
	})
}

func TestAnActionWhosePopupIsClosedDoesNothingMoreWithoutTheServersWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := newScreen(), 0
		s.pop(update)
		s.onLook = func(s *screen) {
			if len(s.inputs) == 2 {
				s.onLook = nil
				s.shut("9")
			}
		}
		o := performWith(t.Context(), s, &shelf{}, work.Action{Do: press, Popups: rules}, func() error {
			if asked++; asked == 2 {
				return errors.New("there is no stream")
			}
			return nil
		})
		if got := verdict(o); got != "desktop_unavailable not_started not_checked popup_handled" || len(s.inputs) != 2 {
			t.Errorf("%s, inputs %v", got, s.inputs)
		}
	})
}

// The server takes 8 s to vouch; meanwhile a prompt comes to the front.
func TestB05_WhatIsInFrontIsLookedAtAgainWhenTheServersWordWasLongInComing(t *testing.T) {
	for name, a := range map[string]work.Action{
		"keys":  {Do: press, WindowBefore: "Editor"},
		"text":  {Do: work.Type{Text: "a note"}, WindowBefore: "Editor"},
		"click": {Do: work.Click{}, Target: &work.Target{Window: "Editor"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			o := performWith(t.Context(), s, &shelf{}, a, func() error {
				time.Sleep(8 * time.Second)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.pop(prompt)
				return nil
			})
			if len(s.inputs) > 0 || o.Code != work.SystemDialog {
				t.Errorf("%s: %s: %+v went to %q", name, verdict(o), s.inputs, s.windows[0].Title)
			}
		})
	}
}

func TestATargetThatMovedWhileTheServerWasAskedIsClickedWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := newScreen(), 0
		before := s.picture
		s.put(icon(), image.Pt(20, 20))
		o := performWith(t.Context(), s, &shelf{}, work.Action{Do: work.Click{}, Target: anchored()}, func() error {
			if asked++; asked == 1 {
				time.Sleep(time.Second)
				s.picture = before
				s.put(icon(), image.Pt(200, 150))
			}
			return nil
		})
		if len(s.inputs) != 1 || s.inputs[0].(driver.Click).At != image.Pt(212, 162) {
			t.Errorf("%s, inputs %v", verdict(o), s.inputs)
		}
	})
}

// Over a way that takes long each time an action still comes to its end, and what lies in
// front is looked at behind the last answer too.
func TestB05_AWayThatIsSlowKeepsNoActionFromBeingDoneAndNoWindowFromBeingSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		comes int // at which question a prompt does; 0: none
		want  string
	}{
		{"nothing comes", 0, "success completed not_checked"},
		{"a prompt comes", 2, "system_dialog not_started not_checked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, asked := newScreen(), 0
			o := performWith(t.Context(), s, &shelf{}, work.Action{Do: press, WindowBefore: "Editor"}, func() error {
				time.Sleep(3 * time.Second)
				if asked++; asked == c.comes {
					s.pop(prompt)
				}
				return nil
			})
			if got := verdict(o); got != c.want || asked != 2 {
				t.Errorf("%s: %s after %d questions", c.name, got, asked)
			}
		})
	}
}

// dozing is a desktop at which the process stands still in its first picture.
type dozing struct {
	*screen
	dozes func()
}

func (d *dozing) Capture(ctx context.Context) (driver.Picture, error) {
	if d.dozes != nil {
		d.dozes()
		d.dozes = nil
	}
	return d.screen.Capture(ctx)
}

// Meanwhile a prompt comes to the front; the server answers at once.
func TestB05_AProcessThatStoodStillOverThePictureBeforeTheInputLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		d := &dozing{s, func() { time.Sleep(8 * time.Second); s.pop(prompt) }}
		o := executed(t, execute.Config{Driver: d}, work.Action{Do: press, Effect: work.ExpectChange})
		if len(s.inputs) > 0 || o.Code != work.SystemDialog {
			t.Errorf("%s, inputs %v", verdict(o), s.inputs)
		}
	})
}
