package drivertest

import (
	"bytes"
	"context"
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
	if before.Method == "" {
		t.Error("the picture does not say how it was taken")
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

// differ says whether two pictures differ within an area.
func differ(a, b driver.Picture, area image.Rectangle) bool {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		from, to := a.Image.PixOffset(area.Min.X, y), a.Image.PixOffset(area.Max.X, y)
		if !bytes.Equal(a.Image.Pix[from:to], b.Image.Pix[from:to]) {
			return true
		}
	}
	return false
}
