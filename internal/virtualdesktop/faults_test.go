package virtualdesktop_test

import (
	"errors"
	"image"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

func TestSwallowedInputOnlyMovesThePointer(t *testing.T) {
	h := at(t, "simple")
	h.Swallow(true)
	h.click("note")
	h.typeIn("lost")
	h.press("f11")
	h.do(wire.Event{Kind: wire.Activate, Window: "notes"})
	h.do(move(h.middle("save")), down, up)
	h.happened()
	if windows := h.Windows(); windows[0].ID != "tools" {
		t.Errorf("in front = %q, want what was there before", windows[0].ID)
	}
	h.Swallow(false)
	h.do(down, up) // where the pointer has moved meanwhile
	h.happened("save clicked")
}

func TestADesktopThatIsAwayTakesNothingAndStillNoticesLettingGo(t *testing.T) {
	for name, c := range map[string]struct {
		away func(*hand, bool)
		want error
		is   wire.Condition
	}{
		"locked":       {func(h *hand, on bool) { h.Lock(on) }, wire.ErrLocked, wire.Locked},
		"disconnected": {func(h *hand, on bool) { h.Disconnect(on) }, wire.ErrDisconnected, wire.Disconnected},
	} {
		t.Run(name, func(t *testing.T) {
			h := at(t, "simple")
			h.do(move(h.middle("save")), down, wire.Event{Kind: wire.KeyDown, Key: "ctrl"})
			c.away(h, true)
			for _, e := range []wire.Event{move(image.Pt(5, 5)), down, {Kind: wire.Char, Text: "x"}, {Kind: wire.KeyDown, Key: "a"}, {Kind: wire.Clipboard}} {
				if err := h.Apply(e, h.now); !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", e.Kind, err, c.want)
				}
			}
			if h.Condition() != c.is {
				t.Errorf("condition = %v", h.Condition())
			}
			h.do(up, wire.Event{Kind: wire.KeyUp, Key: "ctrl"})
			if down := h.Down(); len(down) != 0 {
				t.Errorf("still down: %v", down)
			}
			c.away(h, false)
			h.happened() // letting go of the button while it was away clicked nothing
			h.click("save")
			h.happened("save clicked")
		})
	}
}

func TestADialogTakesTheKeyboardUntilItIsClosed(t *testing.T) {
	h := at(t, "simple")
	h.click("note")
	id := h.Popup(wire.SystemDialog(), h.now)
	h.typeIn("not for the note")
	front := h.Windows()[0]
	if front.ID != id || !front.Active || front.Title != "User Account Control" || front.Process != "consent.exe" {
		t.Errorf("in front = %+v", front)
	}
	h.click(id + "-ok")
	h.typeIn("for the note")
	h.happened("notes raised", "note focused", id+" shown", id+"-ok clicked", id+" hidden", "note typed for the note")
}

func TestAMovedWindowIsWhereItIsSeen(t *testing.T) {
	h := at(t, "simple")
	was := h.middle("save")
	if err := h.MoveWindow("tools", image.Pt(1200, 700)); err != nil {
		t.Fatal(err)
	}
	if bounds := h.Windows()[0].Bounds; bounds.In(h.Monitors()[0].Bounds) || bounds.Min != image.Pt(1200, 700) {
		t.Errorf("bounds = %v, want partly off the screen", bounds)
	}
	h.do(move(was), down, up)
	h.happened()
	if err := h.MoveWindow("nobody", image.Point{}); !errors.Is(err, wire.ErrNoWindow) {
		t.Errorf("moving no window: %v", err)
	}
}

func TestRecordersDoNotCoverEachOther(t *testing.T) {
	for _, scene := range virtualdesktop.SceneNames() {
		h := at(t, scene)
		first, second := h.OpenRecorder("one", h.now), h.OpenRecorder("two", h.now)
		if first.Area.Overlaps(second.Area) || first.Area.Dx() < 200 || first.Area.Dy() < 100 {
			t.Errorf("%s: areas %v and %v", scene, first.Area, second.Area)
		}
		h.typeIn("two")
		h.do(wire.Event{Kind: wire.Activate, Window: first.Window})
		h.typeIn("one")
		for _, r := range []struct{ widget, want string }{{first.Widget, "one"}, {second.Widget, "two"}} {
			if text, err := h.Text(r.widget); err != nil || text != r.want {
				t.Errorf("%s: %q, %v", r.widget, text, err)
			}
		}
	}
}

// Whatever a hand does, nothing panics, what is down is what was pressed and not
// let go, and the ledger only grows.
func TestAnyEventsKeepTheDesktopSane(t *testing.T) {
	keys := []string{"ctrl", "shift", "a", "v", "enter", "f11", "left", "home", "end", "backspace", "delete", "tab"}
	events := rapid.Custom(func(t *rapid.T) wire.Event {
		return wire.Event{
			Kind: rapid.SampledFrom([]wire.Kind{
				wire.Move, wire.ButtonDown, wire.ButtonUp, wire.Wheel, wire.KeyDown, wire.KeyUp, wire.Char, wire.Clipboard, wire.Activate, "none",
			}).Draw(t, "kind"),
			X: rapid.IntRange(-900, 1300).Draw(t, "x"), Y: rapid.IntRange(-50, 850).Draw(t, "y"),
			Button: rapid.SampledFrom([]string{wire.Left, wire.Right, wire.Middle, ""}).Draw(t, "button"),
			Key:    rapid.SampledFrom(keys).Draw(t, "key"),
			Text:   rapid.SampledFrom([]string{"a", "é", "\n", "", "long"}).Draw(t, "text"),
			Window: rapid.SampledFrom([]string{"notes", "tools", "recorder-1", "gone"}).Draw(t, "window"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		h := at(t, "simple")
		h.OpenRecorder("recorder", h.now)
		pressed := map[string]bool{}
		for _, e := range rapid.SliceOfN(events, 1, 60).Draw(rt, "events") {
			before := h.Ledger()
			err := h.Apply(e, h.now)
			if err == nil {
				follow(pressed, e)
			} else if len(h.Ledger()) != len(before) {
				rt.Fatalf("%+v was refused and happened", e)
			}
			for i, entry := range before[:max(len(before)-1, 0)] { // the last one may still grow
				if diff := cmp.Diff(entry, h.Ledger()[i]); diff != "" {
					rt.Fatalf("the past changed: %s", diff)
				}
			}
		}
		want := []string{}
		for name, is := range pressed {
			if is {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := h.Down(); !slices.Equal(got, want) {
			rt.Fatalf("down = %v, want %v", got, want)
		}
		for _, s := range h.View().Surfaces {
			for _, n := range s.Nodes {
				if n.Caret < 0 || n.Caret > len([]rune(n.Text)) {
					rt.Fatalf("caret %d in %q", n.Caret, n.Text)
				}
			}
		}
	})
}

func follow(pressed map[string]bool, e wire.Event) {
	switch e.Kind {
	case wire.ButtonDown, wire.ButtonUp:
		pressed[e.Button] = e.Kind == wire.ButtonDown
	case wire.KeyDown, wire.KeyUp:
		pressed[e.Key] = e.Kind == wire.KeyDown
	}
}
