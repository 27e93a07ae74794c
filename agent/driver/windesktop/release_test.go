package windesktop

import (
	"errors"
	"image"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestB19_ReleaseLetsGoOfModifiersFirstAndTypesNothing(t *testing.T) {
	w := newFake()
	d, win := open(t, w, Config{})
	left := []uint16{'A', vkRMenu, vkLShift, vkLWin, vkRControl, vkRight, vkLeftButton, vkXButton2}
	for _, vk := range left {
		w.down[vk] = true
	}
	if err := d.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []uint16
	for _, e := range w.taken() {
		switch e := e.(type) {
		case winapi.KeyEvent:
			if e.Key != vkUnassigned && e.Flags&winapi.KeyUp == 0 {
				t.Errorf("it presses %+v", e)
			}
			order = append(order, e.Key)
		case winapi.MouseEvent:
			order = append(order, 0)
		}
	}
	want := []uint16{vkUnassigned, vkUnassigned, vkLWin, vkRMenu, vkRControl, vkLShift, vkRight, 'A', 0, 0}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if down := w.downNames(); len(down) != 0 || win.told().Text != "" {
		t.Errorf("still down: %v, typed: %q", down, win.told().Text)
	}
	calls := len(w.calls)
	if err := d.Release(t.Context()); err != nil || len(w.calls) != calls {
		t.Errorf("released again: %v, %d more calls", err, len(w.calls)-calls)
	}
}

func TestB19_WhatStaysDownIsSaidAndStopsTheGesture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, _ := open(t, w, Config{})
		w.stuck[vkLControl], w.stuck['S'] = true, true
		err := d.Release(t.Context())
		if !errors.Is(err, driver.ErrBlocked) || !strings.Contains(err.Error(), "ctrl, a key stay down") {
			t.Errorf("release: %v", err)
		}
		err = d.Do(t.Context(), driver.Type{Text: "abc"})
		if !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) {
			t.Errorf("a text: %v; want %v with nothing sent", err, driver.ErrBlocked)
		}
	})
}

func TestB19_AKeyThatSomebodyHoldsDoesNotChangeWhatIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, win := open(t, w, Config{TypeMode: ScanCodes})
		w.down[vkLControl], w.down[vkPacket] = true, true
		if err := d.Do(t.Context(), driver.Type{Text: "save"}); err != nil || win.told().Text != "save" {
			t.Errorf("arrived: %q, %v", win.told().Text, err)
		}
	})
}

func TestB19_AKeyThatSomebodyHoldsDoesNotChangeAClickOrACombo(t *testing.T) {
	w := newFake()
	d, win := open(t, w, Config{})
	for _, in := range []driver.Input{
		driver.Click{At: image.Pt(200, 200), Count: 1}, driver.Combo{Keys: []string{"f2"}}, driver.Scroll{At: image.Pt(200, 200), Vertical: 1},
	} {
		w.down[vkLShift], w.down[vkRMenu] = true, true
		if err := d.Do(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if down := w.downNames(); len(down) != 0 {
			t.Errorf("%T: still down: %v", in, down)
		}
	}
	for _, e := range win.told().Events {
		if len(e.Modifiers) > 0 {
			t.Errorf("%v arrives with %v", e.Kind, e.Modifiers)
		}
	}
}

func TestKeysOfInputMethodsAreNoKeysLeftDown(t *testing.T) {
	w := newFake()
	d, _ := open(t, w, Config{})
	for _, vk := range []uint16{0x15, 0x19, 0x1A, 0x1C, 0x1F, 0xE5, 0xF0, 0xF3, 0xF4} {
		w.stuck[vk] = true
	}
	if err := d.Release(t.Context()); err != nil || len(w.calls) != 0 {
		t.Errorf("%v, %d calls", err, len(w.calls))
	}
}
