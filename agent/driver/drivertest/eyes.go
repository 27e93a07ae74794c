package drivertest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func windowsListed(t *testing.T, f Fixture) {
	lower := f.OpenWindow(t, "the lower window")
	upper := f.OpenWindow(t, "the upper wïndow €")
	windows := listed(t, f)
	if len(windows) < 2 {
		t.Fatalf("windows = %+v, want both", windows)
	}
	for i, w := range windows {
		if w.Active != (i == 0) {
			t.Errorf("window %d %q: active = %v", i, w.Title, w.Active)
		}
	}
	for i, want := range []struct {
		title string
		area  image.Rectangle
	}{{"the upper wïndow €", upper.Area()}, {"the lower window", lower.Area()}} {
		got := windows[i]
		if got.Title != want.title || !want.area.In(got.Bounds) || got.ID == "" {
			t.Errorf("window %d = %+v, want %q round %v", i, got, want.title, want.area)
		}
	}
}

func focusArrives(t *testing.T, f Fixture) {
	first := f.OpenWindow(t, "first")
	second := f.OpenWindow(t, "second")
	do(t, f, driver.Focus{WindowID: find(t, f, "first").ID})
	if front := listed(t, f)[0]; front.Title != "first" || !front.Active {
		t.Errorf("in front = %+v, want the first window, active", front)
	}
	do(t, f, driver.Type{Text: "for the first"})
	awaitText(t, first, "for the first")
	do(t, f, driver.Focus{WindowID: find(t, f, "second").ID})
	do(t, f, driver.Type{Text: "for the second"})
	awaitText(t, second, "for the second")
	awaitText(t, first, "for the first")
}

func focusRefused(t *testing.T, f Fixture) {
	f.OpenWindow(t, "stays in front")
	refused(t, f, driver.Focus{WindowID: "2147483646"}, driver.ErrNotInFront)
	if front := listed(t, f)[0]; front.Title != "stays in front" || !front.Active {
		t.Errorf("in front = %+v", front)
	}
}

func captureChanges(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "pictures")
	began := time.Now()
	before := capture(t, f)
	if before.Taken.Before(began) || before.Taken.After(time.Now()) {
		t.Errorf("taken at %v, want between the call and its return", before.Taken)
	}
	if before.Method != driver.MethodScreen || before.Note != "" {
		t.Errorf("taken by %q, odd: %q; want the screen with nothing odd", before.Method, before.Note)
	}
	union := image.Rectangle{}
	for _, m := range monitors(t, f) {
		union = union.Union(m.Bounds)
	}
	if before.Image.Bounds() != union {
		t.Errorf("the picture spans %v, the monitors %v", before.Image.Bounds(), union)
	}
	do(t, f, driver.Type{Text: "MMMMM"})
	seen := w.Await(t, func(s Seen) bool { return s.Text == "MMMMM" && differ(before, capture(t, f), w.Area()) })
	if !differ(before, capture(t, f), w.Area()) {
		t.Errorf("the window holds %q and its picture did not change", seen.Text)
	}
}

func looksBeside(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "looked at while it is typed into")
	want := capture(t, f).Image.Bounds()
	typed, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for over := false; !over; {
			ctx, cut := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = f.Driver().Capture(ctx) // cut short, or not
			cut()
			if p, err := f.Driver().Capture(t.Context()); err != nil || p.Image.Bounds() != want {
				t.Errorf("a picture beside a gesture: %v", err)
			}
			select {
			case <-typed:
				over = true
			default:
			}
		}
	}()
	const text = "looked at meanwhile"
	err := f.Driver().Do(t.Context(), driver.Type{Text: text})
	close(typed)
	<-looked
	if err != nil {
		t.Errorf("a gesture beside pictures: %v", err)
	}
	awaitText(t, w, text)
	nothingDown(t, f)
}

func windowPictured(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "pictured")
	f.OpenWindow(t, "beside it") // the one in front
	id := find(t, f, "pictured").ID
	began := time.Now()
	before := captureWindow(t, f, id)
	if before.Taken.Before(began) || before.Taken.After(time.Now()) {
		t.Errorf("taken at %v, want between the call and its return", before.Taken)
	}
	if before.Method != driver.MethodWindow && before.Method != driver.MethodScreenCrop {
		t.Errorf("taken by %q", before.Method)
	}
	bounds := find(t, f, "pictured").Bounds
	if got := before.Image.Bounds(); !w.Area().In(got) || !got.In(bounds) {
		t.Errorf("the picture spans %v; want what is on screen of %v, and %v at least", got, bounds, w.Area())
	}
	do(t, f, driver.Focus{WindowID: id})
	do(t, f, driver.Type{Text: "MMMMM"})
	seen := w.Await(t, func(s Seen) bool { return s.Text == "MMMMM" && differ(before, captureWindow(t, f, id), w.Area()) })
	if !differ(before, captureWindow(t, f, id), w.Area()) {
		t.Errorf("the window holds %q and its picture did not change", seen.Text)
	}
	alike := false // where each pixel lies; a caret may blink between the two
	w.Await(t, func(Seen) bool {
		alike = !differ(captureWindow(t, f, id), capture(t, f), w.Area())
		return alike
	})
	if !alike {
		t.Error("the window's picture is never what the screen shows there")
	}
}

func gonePictured(t *testing.T, f Fixture) {
	f.OpenWindow(t, "still there")
	for _, id := range []string{"2147483646", "", "no window"} {
		if p, err := windowEyes(t, f).CaptureWindow(t.Context(), id); !errors.Is(err, driver.ErrGone) || p.Image != nil {
			t.Errorf("window %q: a picture %v, %v; want that it is gone", id, p.Image != nil, err)
		}
	}
}

func monitorsListed(t *testing.T, f Fixture) {
	primaries, indexes := 0, map[int]bool{}
	for i, m := range monitors(t, f) {
		if m.Primary {
			primaries++
		}
		if m.Primary != (i == 0) || m.Bounds.Empty() || m.Scale <= 0 || indexes[m.Index] {
			t.Errorf("monitor %d = %+v", i, m)
		}
		indexes[m.Index] = true
	}
	if was, is := driver.Geometry(monitors(t, f)), driver.Geometry(monitors(t, f)); was != is {
		t.Errorf("the geometry changes by itself: %s, then %s", was, is)
	}
	if primaries != 1 {
		t.Errorf("%d primary monitors", primaries)
	}
}

func listed(t *testing.T, f Fixture) []driver.Window {
	t.Helper()
	windows, err := f.Driver().Windows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return windows
}

func find(t *testing.T, f Fixture, title string) driver.Window {
	t.Helper()
	windows := listed(t, f)
	i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.Title == title })
	if i < 0 {
		t.Fatalf("no window %q in %+v", title, windows)
	}
	return windows[i]
}

func monitors(t *testing.T, f Fixture) []driver.Monitor {
	t.Helper()
	all, err := f.Driver().Monitors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func capture(t *testing.T, f Fixture) driver.Picture {
	t.Helper()
	p, err := f.Driver().Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func windowEyes(t *testing.T, f Fixture) driver.WindowEyes {
	t.Helper()
	eyes, ok := f.Driver().(driver.WindowEyes)
	if !ok {
		t.Fatal("the driver takes no pictures of single windows")
	}
	return eyes
}

func captureWindow(t *testing.T, f Fixture, id string) driver.Picture {
	t.Helper()
	p, err := windowEyes(t, f).CaptureWindow(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// differ says whether two pictures differ within an area.
func differ(a, b driver.Picture, area image.Rectangle) bool {
	row := func(p driver.Picture, y int) []byte {
		return p.Image.Pix[p.Image.PixOffset(area.Min.X, y):p.Image.PixOffset(area.Max.X, y)]
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		if !bytes.Equal(row(a, y), row(b, y)) {
			return true
		}
	}
	return false
}
