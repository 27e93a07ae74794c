package windesktop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// fakeTrees is a Windows whose windows have elements. Its hands are never used.
type fakeTrees struct {
	*fakeEyes
	handsSystem
	trees map[winapi.HWND][]winapi.Element
	fails map[winapi.HWND]error
	over  map[image.Point]winapi.HWND // what lies at a place instead of the first window there
	asked []string
}

func (f *fakeTrees) Foreground() winapi.HWND { return f.fakeEyes.Foreground() }

func (f *fakeTrees) Elements(_ context.Context, w winapi.HWND, q winapi.ElementQuery) ([]winapi.Element, error) {
	f.asked = append(f.asked, fmt.Sprintf("%x %s/%s/%d", uintptr(w), q.Name, q.AutomationID, q.ControlType))
	if err := f.fails[w]; err != nil {
		return nil, err
	}
	return f.trees[w], nil
}

func (f *fakeTrees) WindowAt(p image.Point) winapi.HWND {
	if w, ok := f.over[p]; ok {
		return w
	}
	for _, w := range f.windows {
		if p.In(w.Bounds) {
			return w.HWND
		}
	}
	return 0
}

// ok is a button in the first window, ok2 one in the second.
var (
	ok  = winapi.Element{ID: "2a.1", Name: "OK", AutomationID: "1", ControlType: 50000, Bounds: image.Rect(30, 30, 50, 40), Enabled: true}
	ok2 = winapi.Element{ID: "2a.2", Name: "OK", ControlType: 50000, Bounds: image.Rect(-90, 40, -80, 50), Enabled: true}
)

var errOther = errors.New("the other window's error")

func newFakeTrees(t *testing.T, config Config) (*Driver, *fakeTrees) {
	t.Helper()
	f := &fakeTrees{
		fakeEyes: newFakeEyes(), fails: map[winapi.HWND]error{}, over: map[image.Point]winapi.HWND{},
		trees: map[winapi.HWND][]winapi.Element{notes: {ok}, terminal: {ok2}},
	}
	d, err := newDriver(config, f)
	if err != nil {
		t.Fatal(err)
	}
	return d, f
}

func TestElementsOfAWindowAreFoundAsTheyAre(t *testing.T) {
	d, f := newFakeTrees(t, Config{})
	at := image.Pt(31, 39)
	away, icon := ok, ok
	away.ID, away.OffScreen, away.Enabled, away.Clickable = "2a.3", true, false, &at
	icon.ID, icon.Bounds = "2a.4", image.Rectangle{}
	f.trees[notes] = []winapi.Element{ok, away, icon}
	got, err := d.Elements(t.Context(), windowID(notes, 0x9c4), driver.Element{Name: "OK", AutomationID: "1", ControlType: "button"})
	button := driver.Element{Name: "OK", AutomationID: "1", ControlType: "Button"}
	want := []driver.Found{
		{Element: button, Bounds: ok.Bounds, OnScreen: true, Enabled: true},
		{Element: button, Bounds: ok.Bounds, Clickable: &at},
		{Element: button, Enabled: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"1a02f4 OK/1/50000"}, f.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// A dialog lies below its owner and is a window of its own as well.
func TestElementsOfAllWindowsComeOnceInTheirOrder(t *testing.T) {
	d, f := newFakeTrees(t, Config{})
	nameless := ok
	nameless.ID = ""
	f.trees[terminal] = []winapi.Element{ok, ok2, nameless, nameless}
	f.windows = append(f.windows, winapi.Window{HWND: 5, PID: 5, Title: "an icon"})
	got, err := d.Elements(t.Context(), "", driver.Element{Name: "OK"})
	var places []image.Rectangle
	for _, g := range got {
		places = append(places, g.Bounds)
	}
	want := []image.Rectangle{ok.Bounds, ok2.Bounds, ok.Bounds, ok.Bounds}
	if diff := cmp.Diff(want, places); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"1a02f4 OK//0", "20412 OK//0"}, f.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// B05: UI Automation calls an element on screen though another window lies over it, and
// a click would go to that one.
func TestB05_AnElementUnderAnotherWindowIsNotOnScreen(t *testing.T) {
	d, f := newFakeTrees(t, Config{})
	const dialog, overlay winapi.HWND = 0x77, 0x78
	f.windows = append(f.windows, winapi.Window{HWND: dialog, PID: 0x9c4, Title: "Save as"})
	clickable := image.Pt(32, 32)
	for _, c := range []struct {
		name      string
		over      winapi.HWND
		at        image.Point
		clickable *image.Point
		want      bool
	}{
		{"nothing is over it", notes, image.Pt(40, 35), nil, true},
		{"another program is over its middle", terminal, image.Pt(40, 35), nil, false},
		{"another program is over its middle alone", terminal, image.Pt(40, 35), &clickable, true},
		{"another program is over its clickable point", terminal, clickable, &clickable, false},
		{"a dialog of its own is over it", dialog, image.Pt(40, 35), nil, false},
		{"a window that is not listed is over it", overlay, image.Pt(40, 35), nil, false},
		{"no window is said to be there", 0, image.Pt(40, 35), nil, true},
	} {
		e := ok
		e.Clickable = c.clickable
		f.trees[notes], f.over = []winapi.Element{e}, map[image.Point]winapi.HWND{c.at: c.over}
		got, err := d.Elements(t.Context(), windowID(notes, 0x9c4), driver.Element{Name: "OK"})
		if err != nil || len(got) != 1 || got[0].OnScreen != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// What a combo box drops down, a menu and a dialog are windows of their own, and lie below
// their owner in the tree as well.
func TestAnElementInAWindowOfItsOwnersIsOnScreen(t *testing.T) {
	const dropped winapi.HWND = 0x77
	nameless := ok
	nameless.ID = ""
	other := nameless
	other.Bounds = other.Bounds.Add(image.Pt(0, 1))
	for _, c := range []struct {
		name  string
		found winapi.Element
		below []winapi.Element // below the window that lies over it
		fails error
		want  bool
	}{
		{"it lies in that one", ok, []winapi.Element{ok2, ok}, nil, true},
		{"another one does", ok, []winapi.Element{ok2}, nil, false},
		{"one without an id lies in it", nameless, []winapi.Element{nameless}, nil, true},
		{"one without an id that looks the same lies elsewhere", nameless, []winapi.Element{other}, nil, false},
		{"nobody can say", ok, []winapi.Element{ok}, winapi.ErrHung, false},
	} {
		d, f := newFakeTrees(t, Config{})
		f.windows = append(f.windows, winapi.Window{HWND: dropped, PID: 0x9c4})
		f.trees[notes], f.trees[dropped], f.fails[dropped] = []winapi.Element{c.found, c.found}, c.below, c.fails
		f.over[image.Pt(40, 35)] = dropped
		got, err := d.Elements(t.Context(), windowID(notes, 0x9c4), driver.Element{Name: "OK"})
		if err != nil || len(got) == 0 || got[0].OnScreen != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if len(f.asked) > 2 {
			t.Errorf("%s: asked were %v", c.name, f.asked)
		}
	}
}

func TestWindowsThatCanNotBeAskedSayWhy(t *testing.T) {
	id := windowID(notes, 0x9c4)
	for name, c := range map[string]struct {
		change func(*fakeTrees)
		id     string
		want   error
		alone  bool // only a search in that window fails
	}{
		"hung":                  {func(f *fakeTrees) { f.hung[notes] = true }, id, driver.ErrHung, true},
		"of more rights":        {func(f *fakeTrees) { f.elevated[notes] = true }, id, driver.ErrBlocked, true},
		"denied":                {func(f *fakeTrees) { f.fails[notes] = fmt.Errorf("find: %w", winapi.ErrDenied) }, id, driver.ErrBlocked, true},
		"silent":                {func(f *fakeTrees) { f.fails[notes] = fmt.Errorf("find: %w", winapi.ErrHung) }, id, driver.ErrHung, true},
		"closed meanwhile":      {func(f *fakeTrees) { f.fails[notes] = winapi.ErrGone }, id, driver.ErrGone, true},
		"closed before":         {func(*fakeTrees) {}, "0x1-1", driver.ErrGone, true},
		"of a broken program":   {func(f *fakeTrees) { f.fails[notes] = errDenied }, id, errDenied, true},
		"broken, as all are":    {func(f *fakeTrees) { f.fails[notes], f.fails[terminal] = errDenied, errOther }, id, errDenied, false},
		"not listed":            {func(f *fakeTrees) { f.windowsErr = errDenied }, id, errDenied, false},
		"without UI Automation": {func(f *fakeTrees) { f.fails[notes] = winapi.ErrNotHere }, id, driver.ErrUnsupported, false},
	} {
		d, f := newFakeTrees(t, Config{})
		c.change(f)
		if got, err := d.Elements(t.Context(), c.id, driver.Element{Name: "OK"}); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
		got, err := d.Elements(t.Context(), "", driver.Element{Name: "OK"})
		if c.alone && (err != nil || len(got) == 0) || !c.alone && !errors.Is(err, c.want) {
			t.Errorf("%s, in a search in all windows: %v, %v", name, got, err)
		}
		if asked := strings.Join(f.asked, ", "); (f.hung[notes] || f.elevated[notes]) && asked != "20412 OK//0" {
			t.Errorf("%s: asked were %s", name, asked)
		}
	}
}

func TestAnUnknownControlTypeIsRefusedUnasked(t *testing.T) {
	d, f := newFakeTrees(t, Config{})
	_, err := d.Elements(t.Context(), "", driver.Element{ControlType: "Knopf"})
	if !errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), `"Knopf"`) || len(f.asked) != 0 {
		t.Errorf("%v, asked %v", err, f.asked)
	}
}

func TestAWindowsWithoutUIAutomationSaysSoOnce(t *testing.T) {
	var log bytes.Buffer
	d, f := newFakeTrees(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	f.fails[notes] = fmt.Errorf("CoCreateInstance: %w (0x80040154)", winapi.ErrNotHere)
	var said sync.Once
	for range 3 {
		if _, err := d.elements(t.Context(), "", driver.Element{Name: "OK"}, &said); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%v", err)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "0x80040154") {
		t.Errorf("%d lines: %s", n, log.String())
	}
	d, _ = open(t, newFake(), Config{})
	if _, err := d.Elements(t.Context(), "", driver.Element{Name: "OK"}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("a system that can't be asked: %v", err)
	}
}

func TestASearchForElementsThatIsCancelledAsksNobody(t *testing.T) {
	d, f := newFakeTrees(t, Config{})
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errDenied)
	if _, err := d.Elements(ctx, "", driver.Element{Name: "OK"}); !errors.Is(err, errDenied) || len(f.asked) != 0 {
		t.Errorf("%v, asked %v", err, f.asked)
	}
}
