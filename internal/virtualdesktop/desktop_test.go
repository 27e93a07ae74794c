package virtualdesktop_test

import (
	"errors"
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// hand is a desktop and someone who uses it.
type hand struct {
	*virtualdesktop.Desktop
	t   *testing.T
	now time.Time
}

func at(t *testing.T, scene string) *hand {
	t.Helper()
	s, ok := virtualdesktop.BuiltIn(scene)
	if !ok {
		t.Fatalf("no scene %q", scene)
	}
	return &hand{virtualdesktop.New(s), t, time.Unix(1000, 0)}
}

func (h *hand) do(events ...wire.Event) {
	h.t.Helper()
	for _, e := range events {
		if err := h.Apply(e, h.now); err != nil {
			h.t.Fatalf("%+v: %v", e, err)
		}
	}
}

func (h *hand) wait(d time.Duration) {
	h.now = h.now.Add(d)
	h.Advance(h.now)
}

func (h *hand) middle(id string) image.Point {
	h.t.Helper()
	r, ok := h.Find(id)
	if !ok {
		h.t.Fatalf("%q is not to be seen", id)
	}
	return r.Min.Add(r.Size().Div(2))
}

// click clicks in the middle of a widget, apart from any click before.
func (h *hand) click(id string) {
	h.t.Helper()
	h.wait(time.Second)
	h.do(move(h.middle(id)), down, up)
}

func (h *hand) press(keys ...string) {
	h.t.Helper()
	for _, key := range keys {
		h.do(wire.Event{Kind: wire.KeyDown, Key: key})
	}
	for i := range keys {
		h.do(wire.Event{Kind: wire.KeyUp, Key: keys[len(keys)-1-i]})
	}
}

func (h *hand) typeIn(text string) {
	h.t.Helper()
	for _, r := range text {
		h.do(wire.Event{Kind: wire.Char, Text: string(r)})
	}
}

func (h *hand) paste(text string) {
	h.t.Helper()
	h.do(wire.Event{Kind: wire.Clipboard, Text: text})
	h.press("ctrl", "v")
}

// happened fails unless the ledger says exactly this, "widget effect detail".
func (h *hand) happened(want ...string) {
	h.t.Helper()
	var got []string
	for i, e := range h.Ledger() {
		line := e.Widget + " " + string(e.Effect)
		if e.Detail != "" {
			line += " " + e.Detail
		}
		got = append(got, line)
		if e.Seq != i+1 {
			h.t.Errorf("entry %d has number %d", i+1, e.Seq)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

var (
	down = wire.Event{Kind: wire.ButtonDown, Button: wire.Left}
	up   = wire.Event{Kind: wire.ButtonUp, Button: wire.Left}
)

func move(p image.Point) wire.Event { return wire.Event{Kind: wire.Move, X: p.X, Y: p.Y} }

func TestIconOpensOnTwoPressesCloseInTimeAndPlace(t *testing.T) {
	right := []wire.Event{{Kind: wire.ButtonDown, Button: wire.Right}, {Kind: wire.ButtonUp, Button: wire.Right}}
	for name, c := range map[string]struct {
		later  time.Duration
		away   image.Point
		second []wire.Event
		want   bool
	}{
		"at once":             {0, image.Point{}, []wire.Event{down, up}, true},
		"just in time":        {500 * time.Millisecond, image.Point{}, []wire.Event{down, up}, true},
		"too late":            {501 * time.Millisecond, image.Point{}, []wire.Event{down, up}, false},
		"just near enough":    {0, image.Pt(4, -4), []wire.Event{down, up}, true},
		"too far away":        {0, image.Pt(5, 0), []wire.Event{down, up}, false},
		"with another button": {0, image.Point{}, right, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := at(t, "linux_db")
			place := h.middle("remote_viewer")
			h.do(move(place), down, up)
			h.wait(c.later)
			h.do(move(place.Add(c.away)))
			h.do(c.second...)
			if opened := len(h.Windows()) == 1; opened != c.want {
				t.Errorf("opened = %v, want %v", opened, c.want)
			}
		})
	}
}

func TestWhatIsDoneTwiceIsCountedTwice(t *testing.T) {
	h := at(t, "linux_db")
	place := h.middle("remote_viewer")
	for range 2 {
		h.wait(time.Second)
		h.do(move(place), down, up, down, up)
	}
	h.click("activities")
	h.click("activities")
	h.happened("remote_viewer selected", "remote_viewer opened", "viewer shown",
		"remote_viewer selected", "remote_viewer opened",
		"activities clicked", "launcher shown", "activities clicked")
}

// However soon the second double click follows the first, it is one.
func TestPressesThatFollowADoubleClickBeginAnew(t *testing.T) {
	h := at(t, "simple")
	h.do(move(h.middle("trash")), down, up, down, up, down, up, down, up)
	h.happened("trash selected", "trash opened", "trash selected", "trash opened")
}

func TestASceneSaysHowSlowADoubleClickMayBe(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("simple")
	scene.DoubleClickTime = time.Minute
	h := &hand{virtualdesktop.New(scene), t, time.Unix(1000, 0)}
	h.do(move(h.middle("trash")), down, up)
	h.wait(time.Minute)
	h.do(down, up)
	h.happened("trash selected", "trash opened")
	h.do(down, up)
	h.wait(time.Minute + 1)
	h.do(down, up)
	h.happened("trash selected", "trash opened", "trash selected", "trash selected")
}

func TestAButtonIsClickedOnlyWhereItWasPressed(t *testing.T) {
	h := at(t, "simple")
	on, off := h.middle("save"), h.middle("save").Add(image.Pt(0, 100))
	h.do(move(on), down, move(off), up)
	h.do(move(off), down, move(on), up)
	h.happened()
	h.do(down, up)
	h.happened("save clicked")
}

func TestTheProgramOpensWhenItHasStarted(t *testing.T) {
	h := at(t, "linux_db")
	h.do(move(h.middle("remote_viewer")), down, up, down, up)
	h.click("activities")
	h.click("launch_database")
	h.wait(700*time.Millisecond - 1)
	if _, seen := h.Find("client_logo"); seen {
		t.Error("the program is there before it has started")
	}
	h.wait(1)
	if _, seen := h.Find("client_logo"); !seen {
		t.Error("the program is not there after it has started")
	}
	last := h.Ledger()[len(h.Ledger())-1]
	if last.Widget != "client" || last.Effect != wire.Shown || !last.Time.Equal(h.now) {
		t.Errorf("last entry = %+v, want the program shown now", last)
	}
}

func TestTypedTextIsOneEntryUntilSomethingElseHappens(t *testing.T) {
	h := at(t, "simple")
	h.click("note")
	h.typeIn("été 😀")
	h.press("enter")
	h.press("shift", "é")
	h.paste("pasted")
	h.typeIn("b")
	h.press("backspace")
	h.happened("notes raised", "note focused", "note typed été 😀\nÉ", "note pasted pasted", "note typed b", "note erased b")
}

func TestSelectedTextIsReplaced(t *testing.T) {
	h := at(t, "simple")
	h.click("note")
	h.typeIn("old")
	h.press("ctrl", "a")
	h.typeIn("new")
	if text, err := h.Text("note"); err != nil || text != "new" {
		t.Errorf("text = %q, %v", text, err)
	}
	h.happened("notes raised", "note focused", "note typed old", "note selected_all", "note typed new")
}

func TestAStatementIsExecutedFullScreenWithItsWholeText(t *testing.T) {
	h := at(t, "linux_db")
	h.do(move(h.middle("remote_viewer")), down, up, down, up)
	h.click("activities")
	h.click("launch_database")
	h.wait(time.Second)
	for _, id := range []string{"hospital", "patients", "sql"} {
		h.click(id)
	}
	before := len(h.Ledger())
	h.press("ctrl", "f11")
	if full := h.Windows()[0].Bounds; full != h.Monitors()[0].Bounds {
		t.Errorf("full screen is %v", full)
	}
	h.paste("SELECT 1;\n")
	h.press("ctrl", "enter")
	h.press("f11")
	var got []wire.Entry
	for _, e := range h.Ledger()[before:] {
		got = append(got, wire.Entry{Widget: e.Widget, Effect: e.Effect, Detail: e.Detail})
	}
	want := []wire.Entry{
		{Widget: "viewer", Effect: wire.FullScreen},
		{Widget: "sql", Effect: wire.Pasted, Detail: "SELECT 1;\n"},
		{Widget: "sql", Effect: wire.Executed, Detail: "SELECT 1;\n"},
		{Widget: "viewer", Effect: wire.FullScreenLeft},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatTheDesktopCannotTakeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		event wire.Event
		want  error
	}{
		"a place on no monitor": {wire.Event{Kind: wire.Move, X: -1, Y: 50}, wire.ErrOffScreen},
		"an unknown button":     {wire.Event{Kind: wire.ButtonDown, Button: "fourth"}, wire.ErrBadRequest},
		"a key without a name":  {wire.Event{Kind: wire.KeyDown}, wire.ErrBadRequest},
		"two characters":        {wire.Event{Kind: wire.Char, Text: "ab"}, wire.ErrBadRequest},
		"no character":          {wire.Event{Kind: wire.Char}, wire.ErrBadRequest},
		"a window that is gone": {wire.Event{Kind: wire.Activate, Window: "gone"}, wire.ErrNoWindow},
		"an unknown event":      {wire.Event{Kind: "sing"}, wire.ErrBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			h := at(t, "simple")
			if err := h.Apply(c.event, h.now); !errors.Is(err, c.want) {
				t.Errorf("err = %v, want %v", err, c.want)
			}
			h.happened()
		})
	}
}
