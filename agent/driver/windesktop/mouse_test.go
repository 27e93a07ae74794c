package windesktop

import (
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestB15_EveryPixelIsHitWhateverTheOriginAndTheSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 32768).Draw(t, "width"), rapid.IntRange(1, 32768).Draw(t, "height"))
		origin := image.Pt(rapid.IntRange(-16000, 16000).Draw(t, "x0"), rapid.IntRange(-16000, 16000).Draw(t, "y0"))
		screen := image.Rectangle{Min: origin, Max: origin.Add(size)}
		at := origin.Add(image.Pt(rapid.IntRange(0, size.X-1).Draw(t, "x"), rapid.IntRange(0, size.Y-1).Draw(t, "y")))
		e := onGrid(at, screen)
		// Windows rounds down: pixel = grid * size / 65536.
		got := origin.Add(image.Pt(int(e.X)*size.X>>16, int(e.Y)*size.Y>>16))
		if got != at || e.X < 0 || e.X > 65535 || e.Y < 0 || e.Y > 65535 {
			t.Fatalf("%v on %v is sent as %d, %d and lands on %v", at, screen, e.X, e.Y, got)
		}
	})
}

func TestB15_AbsoluteMovesAreOfTheVirtualDesktop(t *testing.T) {
	w := newFake()
	w.screens = []image.Rectangle{image.Rect(0, 0, 1920, 1080), image.Rect(-1280, 0, 0, 800)}
	d, _ := open(t, w, Config{})
	if err := d.Do(t.Context(), driver.Move{At: image.Pt(-1280, 799)}); err != nil {
		t.Fatal(err)
	}
	want := []winapi.Event{winapi.MouseEvent{
		X: 10, Y: (799*65536 + 32768) / 1080,
		Flags: winapi.MouseMove | winapi.MouseAbsolute | winapi.MouseVirtualDesk,
	}}
	if diff := cmp.Diff(want, w.taken()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestB15_APlaceInAHoleBetweenMonitorsIsRefused(t *testing.T) {
	w := newFake()
	w.screens = []image.Rectangle{image.Rect(0, 0, 1920, 1080), image.Rect(-1280, 200, 0, 1000)}
	d, _ := open(t, w, Config{})
	hole := image.Pt(-5, 100)
	for _, in := range []driver.Input{
		driver.Click{At: hole, Count: 1}, driver.Move{At: hole}, driver.Scroll{At: hole, Vertical: 1},
		driver.Drag{From: image.Pt(5, 5), To: hole}, driver.Drag{From: hole, To: image.Pt(5, 5)},
	} {
		if err := d.Do(t.Context(), in); !errors.Is(err, driver.ErrOffScreen) || !driver.NothingSent(err) {
			t.Errorf("%T: %v; want %v with nothing sent", in, err, driver.ErrOffScreen)
		}
	}
	if got := w.taken(); len(got) != 0 {
		t.Errorf("sent: %v", got)
	}
}

func TestB17_APointerThatDoesNotComeStopsTheClick(t *testing.T) {
	w := newFake()
	w.strays = func(image.Point) image.Point { return image.Pt(640, 400) }
	d, _ := open(t, w, Config{})
	err := d.Do(t.Context(), driver.Click{At: image.Pt(10, 10), Count: 1})
	if !errors.Is(err, driver.ErrBlocked) || driver.NothingSent(err) {
		t.Errorf("%v; want %v after the move", err, driver.ErrBlocked)
	}
	if got := w.taken(); len(got) != moveTries || len(slices.Compact(got)) != 1 {
		t.Errorf("sent: %v, want the move alone", got)
	}
}

// The window in front lets input through; the one under the pointer does not.
func TestB17_AWindowWithMoreRightsUnderThePointerGetsNoInput(t *testing.T) {
	w := newFake()
	d, _ := open(t, w, Config{})
	other := w.open("elevated", image.Rect(600, 100, 900, 400))
	mine := w.open("mine", image.Rect(0, 500, 300, 700))
	w.elevated = other.hwnd
	there, here := image.Pt(700, 200), mine.area.Min.Add(image.Pt(9, 9))
	for _, in := range []driver.Input{
		driver.Click{At: there, Count: 1}, driver.Scroll{At: there, Vertical: 1}, driver.Drag{From: here, To: there}, driver.Move{At: there},
	} {
		err := d.Do(t.Context(), in)
		if !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) || !strings.Contains(err.Error(), "elevated") {
			t.Errorf("%T: %v", in, err)
		}
	}
	if got := w.taken(); len(got) != 0 {
		t.Errorf("sent: %v", got)
	}
	if err := d.Do(t.Context(), driver.Click{At: here, Count: 1}); err != nil {
		t.Errorf("beside it: %v", err)
	}
}

// lagging says where the pointer was for a few looks, as Windows sometimes does.
type lagging struct {
	*fakeWindows
	looks int
}

func (l *lagging) Pointer() (image.Point, error) {
	if l.looks > 0 {
		l.looks--
		return image.Pt(640, 400), nil
	}
	return l.fakeWindows.Pointer()
}

func TestAPointerIsLookedAtAgainBeforeItIsBlocked(t *testing.T) {
	l := &lagging{newFake(), looks - 1}
	d, err := newDriver(Config{}, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Do(t.Context(), driver.Move{At: image.Pt(10, 10)}); err != nil || l.looks != 0 {
		t.Errorf("%v, with %d looks left", err, l.looks)
	}
}

func TestB20_AClickIsOneCallWithItsModifiersAround(t *testing.T) {
	wholeCalls(t)
	w := newFake()
	d, _ := open(t, w, Config{})
	if err := d.Do(t.Context(), driver.Click{At: image.Pt(10, 20), Button: driver.Middle, Count: 2, Modifiers: []string{"ctrl", "shift"}}); err != nil {
		t.Fatal(err)
	}
	down, up := winapi.MouseEvent{Flags: winapi.MouseMiddleDown}, winapi.MouseEvent{Flags: winapi.MouseMiddleUp}
	want := [][]winapi.Event{
		{onGrid(image.Pt(10, 20), w.VirtualScreen())},
		{
			onGrid(image.Pt(10, 20), w.VirtualScreen()),
			winapi.KeyEvent{Key: vkLControl, Scan: 0x1D}, winapi.KeyEvent{Key: vkLShift, Scan: 0x2A},
			down, up, down, up,
			winapi.KeyEvent{Key: vkLShift, Scan: 0x2A, Flags: winapi.KeyUp}, winapi.KeyEvent{Key: vkLControl, Scan: 0x1D, Flags: winapi.KeyUp},
		},
	}
	if diff := cmp.Diff(want, w.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSwappedButtonsAreSwappedBack(t *testing.T) {
	w := newFake()
	d, win := open(t, w, Config{})
	for _, swapped := range []bool{false, true, false} { // the user changes it meanwhile
		w.swapped = swapped
		for i, b := range []driver.Button{driver.Left, driver.Right, driver.Middle} {
			if err := d.Do(t.Context(), driver.Click{At: win.area.Min.Add(image.Pt(50*i, 0)), Button: b, Count: 1}); err != nil {
				t.Fatal(err)
			}
			if got := last(t, win, drivertest.Press).Button; got != b {
				t.Errorf("swapped %v: button %v arrives as %v", swapped, b, got)
			}
		}
	}
}

func last(t *testing.T, win *fakeWindow, kind drivertest.Kind) drivertest.Event {
	t.Helper()
	var found *drivertest.Event
	for _, e := range win.told().Events {
		if e.Kind == kind {
			found = &e
		}
	}
	if found == nil {
		t.Fatalf("no %v arrived", kind)
	}
	return *found
}

func TestB20_TwoClicksAtOnePlaceAreNoDoubleClick(t *testing.T) {
	at := image.Pt(200, 200)
	for _, c := range []struct {
		name   string
		first  driver.Input
		second driver.Input
		waits  bool
	}{
		{"two clicks at one place", driver.Click{At: at, Count: 1}, driver.Click{At: at, Count: 1}, true},
		{"a pixel apart", driver.Click{At: at, Count: 1}, driver.Click{At: at.Add(image.Pt(1, -1)), Count: 1}, true},
		{"a double click first", driver.Click{At: at, Count: 2}, driver.Click{At: at, Count: 1}, true},
		{"a drag from there", driver.Click{At: at, Count: 1}, driver.Drag{From: at, To: at.Add(image.Pt(90, 0))}, true},
		{"after a drag from there", driver.Drag{From: at, To: at.Add(image.Pt(90, 0))}, driver.Click{At: at, Count: 1}, true},
		{"another place", driver.Click{At: at, Count: 1}, driver.Click{At: at.Add(image.Pt(40, 0)), Count: 1}, false},
		{"another button", driver.Click{At: at, Count: 1}, driver.Click{At: at, Count: 1, Button: driver.Right}, false},
		{"no click", driver.Click{At: at, Count: 1}, driver.Move{At: at}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				w.doubleClick = 700 * time.Millisecond // as this user has it
				d, win := open(t, w, Config{})
				if err := d.Do(t.Context(), c.first); err != nil {
					t.Fatal(err)
				}
				before := time.Now()
				if err := d.Do(t.Context(), c.second); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(before) >= 700*time.Millisecond; waited != c.waits {
					t.Errorf("waited: %v, want %v", waited, c.waits)
				}
				if _, moves := c.second.(driver.Move); !moves && last(t, win, drivertest.Press).Clicks != 1 {
					t.Error("the second press belongs to a double click")
				}
			})
		})
	}
}

func TestB20_AClickThatComesLaterDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := open(t, newFake(), Config{})
		click := driver.Click{At: image.Pt(200, 200), Count: 1}
		if err := d.Do(t.Context(), click); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		before := time.Now()
		if err := d.Do(t.Context(), click); err != nil || time.Since(before) != 0 {
			t.Errorf("after %v: %v", time.Since(before), err)
		}
	})
}

func TestB20_ADragLeavesTheThresholdStepsAndDwells(t *testing.T) {
	from := image.Pt(200, 200)
	for _, c := range []struct {
		name      string
		to        image.Point
		threshold image.Point
	}{
		{"a long way", image.Pt(420, 260), image.Pt(4, 4)},
		{"a wide threshold", image.Pt(420, 260), image.Pt(60, 60)},
		{"a way within the threshold", image.Pt(202, 199), image.Pt(4, 4)},
		{"at the edge of the screen", image.Pt(200, 202), image.Pt(4, 4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				w.threshold = c.threshold
				if c.name == "at the edge of the screen" {
					w.screens = []image.Rectangle{image.Rect(0, 0, 1280, 204)}
				}
				d, win := open(t, w, Config{})
				began := time.Now()
				if err := d.Do(t.Context(), driver.Drag{From: from, To: c.to}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < 2*dragDwell+dragSteps*dragPause {
					t.Errorf("took %v, no time to be seen", took)
				}
				checkDrag(t, win.told().Events, from, c.to, c.threshold)
			})
		})
	}
}

func checkDrag(t *testing.T, events []drivertest.Event, from, to, threshold image.Point) {
	t.Helper()
	pressed := slices.IndexFunc(events, func(e drivertest.Event) bool { return e.Kind == drivertest.Press })
	press, release := events[pressed], events[len(events)-1]
	if press.Kind != drivertest.Press || press.At != from || release.Kind != drivertest.Release || release.At != to {
		t.Errorf("it goes from %v to %v, want %v to %v", press, release, from, to)
	}
	beyond, moves := false, events[pressed+1:len(events)-1]
	for _, e := range moves {
		way := e.At.Sub(from)
		beyond = beyond || distance(way.X) > threshold.X || distance(way.Y) > threshold.Y
	}
	if !beyond || len(moves) < 5 {
		t.Errorf("%d moves, beyond the threshold: %v", len(moves), beyond)
	}
}

func TestB20_ADragAcrossAHoleStaysOnMonitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.screens = []image.Rectangle{image.Rect(0, 0, 500, 800), image.Rect(700, 0, 1200, 800)}
		w.strays = func(at image.Point) image.Point { // Windows lets no pointer stand in a hole
			if at.X >= 500 && at.X < 700 {
				at.X = 499
			}
			return at
		}
		d, _ := open(t, w, Config{})
		if err := d.Do(t.Context(), driver.Drag{From: image.Pt(400, 100), To: image.Pt(800, 100)}); err != nil {
			t.Error(err)
		}
	})
}

func TestB20_TheWheelTurnsNotchByNotch(t *testing.T) {
	w := newFake()
	d, _ := open(t, w, Config{})
	if err := d.Do(t.Context(), driver.Scroll{At: image.Pt(200, 200), Vertical: -2, Horizontal: 1}); err != nil {
		t.Fatal(err)
	}
	aim := onGrid(image.Pt(200, 200), w.VirtualScreen())
	down := winapi.MouseEvent{Data: -120, Flags: winapi.MouseWheel}
	want := []winapi.Event{aim, aim, down, aim, down, aim, winapi.MouseEvent{Data: 120, Flags: winapi.MouseHWheel}}
	if diff := cmp.Diff(want, w.taken()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
