package execute_test

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

func TestADialogInFrontIsWhyAWindowThatAnActionNamesWasNotFound(t *testing.T) {
	save := driver.Window{ID: "8", Title: "Save?", Class: "#32770", Active: true, Bounds: image.Rect(0, 0, 50, 50)}
	main := work.WindowSelector{Title: "Main"}
	for name, a := range map[string]work.Action{
		"focus":    {Do: work.FocusWindow{Window: main}},
		"a window": {Do: work.Click{}, Target: &work.Target{Window: "Main"}},
		"a drag":   {Do: work.Drag{To: work.Target{Window: "Main"}}, Target: point(0, 0)},
		"a title":  {Do: press, WindowBefore: "Main"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.pop(save)
			if o := perform(t, s, a); o.Code != work.SystemDialog || o.Dialog == nil || !strings.Contains(o.Message, "Save?") {
				t.Errorf("%s: %s: %s", name, verdict(o), o.Message)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.pop(save)
		o := perform(t, s, work.Action{Do: work.FocusWindow{Window: work.WindowSelector{Title: "Save", Process: "other.exe"}}})
		if o.Code != work.SystemDialog {
			t.Errorf("a dialog of another program: %s", verdict(o))
		}
		o = perform(t, s, work.Action{Do: work.Click{}, Target: anchored()})
		if o.Code != work.TargetNotFound {
			t.Errorf("an action that names no window: %s", verdict(o))
		}
	})
}

func TestAProgramsOwnDialogCanBeWorkedIn(t *testing.T) {
	database := driver.Window{ID: "8", Title: "Connexion à la base patients", Class: "#32770", Process: "dossier.exe", Active: true, Bounds: image.Rect(0, 0, 100, 100)}
	shared := database
	shared.Title, shared.Process = "Windows Security", "explorer.exe"
	inDialog := func(title string) *work.Target {
		return &work.Target{Window: title, Point: &work.Point{X: 0.5, Y: 0.5}}
	}
	for name, c := range map[string]struct {
		window driver.Window
		action work.Action
		want   string
	}{
		"named":             {database, work.Action{Do: work.Click{}, Target: inDialog("Connexion à la base")}, "success"},
		"not named":         {database, work.Action{Do: press}, "success"},
		"named, of Windows": {shared, work.Action{Do: work.Click{}, Target: inDialog("windows security")}, "success"},
		"of Windows":        {shared, work.Action{Do: press}, "system_dialog"},
		"to come":           {shared, work.Action{Do: press, WindowAfter: "Security"}, "success"},
		"by its process":    {prompt, work.Action{Do: work.Click{}, Target: inDialog("windows security")}, "system_dialog"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.pop(c.window)
			if o := perform(t, s, c.action); !strings.HasPrefix(verdict(o), c.want+" ") || o.Success() != (len(s.inputs) == 1) {
				t.Errorf("%s: %s: %+v", name, verdict(o), o.Dialog)
			}
		})
	}
}

// A mask lies over the upper edge of the editor, and over the middle of the terminal.
func TestB26_ATitleUnderAMaskIsInNoMessage(t *testing.T) {
	masks := []work.Mask{{Left: 0.3, Top: 0.3, Width: 0.1, Height: 0.1}, {Left: 0.9, Top: 0.95, Width: 0.05, Height: 0.04}}
	said := func(o work.Outcome) string { return o.Message + fmt.Sprintf("%+v", o.Dialog) }
	hung := fmt.Errorf("window %q, %q has the keyboard: %w", "Terminal", "Editor - notes", driver.ErrNotInFront)
	for name, c := range map[string]struct {
		action work.Action
		change func(*screen)
		told   string
	}{
		"in front":       {work.Action{Do: press, WindowBefore: "Browser"}, nil, "expected"},
		"the windows":    {work.Action{Do: work.FocusWindow{Window: work.WindowSelector{Title: "Browser"}}}, nil, `"Terminal"`},
		"round a dialog": {work.Action{Do: press}, func(s *screen) { s.pop(prompt) }, `"Terminal"`},
		"the desktop": {work.Action{Do: press}, func(s *screen) {
			s.state = desktop.State{Kind: desktop.Locked, Detail: `"Editor - notes" hides "Terminal"`}
		}, `"Terminal"`},
		"what a driver says": {work.Action{Do: press}, func(s *screen) { s.onInput = func(*screen, int) error { return &driver.InputError{Err: hung} } }, `"Terminal"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.windows[1].Bounds = image.Rect(300, 220, 400, 300)
			if c.change != nil {
				c.change(s)
			}
			c.action.Masks = masks
			o := perform(t, s, c.action)
			if text := said(o); strings.Contains(text, "notes") || !strings.Contains(text, c.told) || o.Success() {
				t.Errorf("%s: %s", name, text)
			}
			c.action.Masks, s.inputs = nil, nil
			if text := said(perform(t, s, c.action)); !strings.Contains(text, "notes") {
				t.Errorf("%s, without a mask: %s", name, text)
			}
		})
	}
}
