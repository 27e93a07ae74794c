package execute_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

func click(target *work.Target) work.Action {
	return work.Action{Do: work.Click{Count: 1}, Target: target}
}

func TestAnElementIsClickedWhereItWantsToBe(t *testing.T) {
	at := func(x, y int) *image.Point { return &image.Point{X: x, Y: y} }
	for name, c := range map[string]struct {
		clickable *image.Point
		want      image.Point
	}{
		"at its clickable point":                        {at(105, 117), image.Pt(105, 117)},
		"in its middle":                                 {nil, image.Pt(120, 110)},
		"in its middle when its point is not within it": {at(140, 110), image.Pt(120, 110)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newForest()
			save := button("Save", 0)
			save.Clickable = c.clickable
			f.plant("1", save, button("Cancel", 50))
			o := search(t.Context(), f, click(element("Save", "", "Button")))
			if diff := cmp.Diff([]driver.Input{driver.Click{At: c.want, Count: 1}}, f.inputs); diff != "" || !o.Success() {
				t.Errorf("%s: %s %s (-want +got):\n%s", name, verdict(o), o.Message, diff)
			}
			if o.Method != "uia" || o.Score != 1 {
				t.Errorf("%s: method %q, score %v", name, o.Method, o.Score)
			}
		})
	}
}

func TestAnElementIsLookedForInItsWindowAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForest()
		f.plant("1", button("OK", 0))
		f.plant("2", button("OK", 30))
		target := element("OK", "", "")
		target.Window = "editor"
		if o := search(t.Context(), f, click(target)); !o.Success() || f.inputs[0].(driver.Click).At != image.Pt(120, 110) {
			t.Errorf("%s %s, %v", verdict(o), o.Message, f.inputs)
		}
		if diff := cmp.Diff([]string{"1 OK//"}, f.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		f.inputs = nil
		o := search(t.Context(), f, click(element("OK", "", "")))
		if o.Code != work.TargetNotFound || len(f.inputs) != 0 || !strings.Contains(o.Message, `2 elements match "OK"`) {
			t.Errorf("in two windows: %s %s, %v", verdict(o), o.Message, f.inputs)
		}
	})
}

// The target is waited for: until it is there, enabled, on the screen, and the only one.
func TestAnElementIsWaitedForUntilAPersonCouldUseIt(t *testing.T) {
	disabled, hidden, flat := button("Save", 0), button("Save", 0), button("Save", 0)
	disabled.Enabled, hidden.OnScreen, flat.Bounds = false, false, image.Rectangle{}
	for name, before := range map[string][]driver.Found{
		"absent": nil, "disabled": {disabled}, "hidden": {hidden}, "without a size": {flat}, "ambiguous": {button("Save", 0), button("Save", 40)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newForest()
			f.elements["1"] = before
			f.grows = map[time.Duration]func(*forest){4 * time.Second: func(f *forest) {
				f.elements["1"] = []driver.Found{hidden, disabled, button("Save", 0)}
			}}
			o := search(t.Context(), f, click(element("Save", "", "Button")))
			if !o.Success() || o.ResolveElapsed < 4*time.Second || o.ResolveElapsed > 5*time.Second {
				t.Errorf("%s at first: %s %s after %v", name, verdict(o), o.Message, o.ResolveElapsed)
			}
		})
	}
}

func TestWhatIsSaidOfAnElementThatIsNotFound(t *testing.T) {
	disabled, hidden, field, long := button("Save", 0), button("Save", 0), button("", 60), button(strings.Repeat("é", 61), 80)
	disabled.Enabled, hidden.OnScreen = false, false
	field.Element = driver.Element{AutomationID: "amount", ControlType: "Edit"}
	hiddenToo := button("Save all", 0)
	hiddenToo.OnScreen = false
	for name, c := range map[string]struct {
		there  []driver.Found
		target *work.Target
		want   string
	}{
		"nothing near":      {nil, element("Save", "", "Button"), `no element matches Button "Save"`},
		"a name alone":      {[]driver.Found{button("Save as", 0)}, element("Save", "", ""), `no element matches "Save"`},
		"disabled":          {[]driver.Found{disabled, hidden}, element("Save", "", ""), `the element "Save" is disabled`},
		"hidden":            {[]driver.Found{hidden}, element("Save", "", ""), `the element "Save" is hidden or covered`},
		"another name":      {[]driver.Found{button("Save as", 0), hiddenToo, field, button("Close", 40)}, element("Save", "", "Button"), `no element matches Button "Save"; there are Button "Save as", Button "Close"`},
		"another type":      {[]driver.Found{field}, element("", "amount", "Text"), `no element matches Text (automation id "amount"); there are Edit (automation id "amount")`},
		"the id fits":       {[]driver.Found{button("Save as", 0), field}, element("Amount", "amount", "Edit"), `no element matches Edit "Amount" (automation id "amount"); there are Edit (automation id "amount")`},
		"a long name":       {[]driver.Found{long}, element("Save", "", "Button"), `no element matches Button "Save"; there are Button "` + strings.Repeat("é", 60) + `…"`},
		"many that are not": {[]driver.Found{button("a", 0), button("b", 0), button("c", 0), button("d", 0), button("e", 0), button("f", 0), button("g", 0)}, element("Save", "", "Button"), `no element matches Button "Save"; there are Button "a", Button "b", Button "c", Button "d", Button "e", 2 more`},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newForest()
			f.plant("1", c.there...)
			o := search(t.Context(), f, click(c.target))
			if o.Code != work.TargetNotFound || o.Message != c.want || len(f.inputs) != 0 || o.Completion != work.NotStarted {
				t.Errorf("%s: %s\n got %s\nwant %s", name, verdict(o), o.Message, c.want)
			}
			if waited := o.EndedAt.Sub(o.StartedAt); waited < 30*time.Second || waited > 31*time.Second {
				t.Errorf("%s: given up after %v", name, waited)
			}
		})
	}
}

func TestB26_WhatAMaskHidesNoMessageNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForest()
		f.plant("1", button("Jane Doe, 4711", 0), button("Close", 90))
		a := click(element("Save", "", "Button"))
		a.Masks = []work.Mask{{Left: 0.25, Top: 1.0 / 3, Width: 0.1, Height: 0.05}} // 100,100 to 140,115
		if o := search(t.Context(), f, a); !strings.HasSuffix(o.Message, `; there are Button "Close"`) {
			t.Errorf("message %q", o.Message)
		}
		a.Masks[0].Monitor = 7 // which is not there: the mask may be anywhere
		if o := search(t.Context(), f, a); !strings.HasSuffix(o.Message, `matches Button "Save"`) {
			t.Errorf("message %q", o.Message)
		}
	})
}

func TestErrorsOfTheTreeAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want work.Code
		at   time.Duration // when the action ends
	}{
		"a window of more rights":       {driver.ErrBlocked, work.InputBlocked, 0},
		"no tree":                       {driver.ErrUnsupported, work.Unsupported, 0},
		"a desktop that went away":      {driver.ErrUnavailable, work.DesktopUnavailable, 0},
		"a window that closed":          {driver.ErrGone, work.TargetNotFound, 30 * time.Second},
		"a window that hangs":           {driver.ErrHung, work.TargetNotFound, 30 * time.Second},
		"a program that answers wrong":  {errors.New("0x80010105"), work.TargetNotFound, 30 * time.Second},
		"a window that hangs for a bit": {nil, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newForest()
			f.plant("1", button("OK", 0))
			f.fails = func(string) error {
				if c.err != nil {
					return fmt.Errorf("ask: %w", c.err)
				}
				if time.Since(f.began) < 3*time.Second {
					return driver.ErrHung
				}
				return nil
			}
			target := element("OK", "", "")
			target.Window = "editor"
			o := search(t.Context(), f, click(target))
			if o.Code != c.want || (c.err != nil && !strings.Contains(o.Message, c.err.Error())) || (c.want != "" && len(f.inputs) != 0) {
				t.Errorf("%s: %s %s", name, verdict(o), o.Message)
			}
			if c.err != nil && o.EndedAt.Sub(o.StartedAt).Truncate(time.Second) != c.at {
				t.Errorf("%s: ended after %v", name, o.EndedAt.Sub(o.StartedAt))
			}
		})
	}
}

func TestADriverWithoutElementsLeavesItToTheNextWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(20, 20))
		target := anchored()
		target.UIA = &work.UIA{Name: "OK"}
		o := performWith(t.Context(), s, &shelf{}, click(target), nil)
		if !o.Success() || o.Method != "template" || o.ResolveElapsed > time.Second {
			t.Errorf("%s by %q after %v: %s", verdict(o), o.Method, o.ResolveElapsed, o.Message)
		}
		o = perform(t, newScreen(), click(element("OK", "", "")))
		if o.Code != work.Unsupported || o.Message != "this agent can't find a target by uia" || o.Description != `the element "OK"` {
			t.Errorf("%s %q of %q", verdict(o), o.Message, o.Description)
		}
	})
}

// Every way says why it found nothing; a way that is not there says nothing then.
func TestAllWaysThatFoundNothingSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := anchored()
		target.UIA, target.ByText = &work.UIA{Name: "OK"}, "OK"
		o := search(t.Context(), newForest(), click(target))
		element, picture, both := strings.Cut(o.Message, "; ")
		if o.Code != work.TargetNotFound || !both || element != `no element matches "OK"` || strings.Contains(picture, "ocr") {
			t.Errorf("%s %q", verdict(o), o.Message)
		}
		target.Order = []work.Way{work.WayOCR, work.WayUIA}
		if o := search(t.Context(), newForest(), click(target)); o.Code != work.TargetNotFound || o.Message != `no element matches "OK"` {
			t.Errorf("%s %q", verdict(o), o.Message)
		}
	})
}

func TestASearchForAnElementEndsWhenItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(1200*time.Millisecond, func() { stop(work.ErrInterrupted) })
		o := search(ctx, newForest(), click(element("OK", "", "")))
		if took := o.EndedAt.Sub(o.StartedAt); o.Code != work.Interrupted || took > 1250*time.Millisecond {
			t.Errorf("%s after %v", verdict(o), took)
		}
	})
}

func TestAnElementThatIsNamedByNothingIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForest()
		if o := search(t.Context(), f, click(element("", "", ""))); o.Code != work.InvalidAction || len(f.asked) != 0 {
			t.Errorf("%s %s, asked %v", verdict(o), o.Message, f.asked)
		}
	})
}

func TestB01_ADesktopThatLocksMeanwhileIsNotOneWithoutTheElement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForest()
		f.grows = map[time.Duration]func(*forest){time.Second: func(f *forest) { f.state.Kind = desktop.Locked }}
		if o := search(t.Context(), f, click(element("OK", "", ""))); o.Code != work.DesktopUnavailable || len(f.inputs) != 0 {
			t.Errorf("%s %s", verdict(o), o.Message)
		}
	})
}
