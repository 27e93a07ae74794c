package windesktop

import (
	"context"
	"errors"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/work"
)

func TestMonitorsAreNumberedByTheirDevicesAndThePrimaryComesFirst(t *testing.T) {
	want := []driver.Monitor{
		{Index: 1, Bounds: primaryBounds, Scale: 1.5, Primary: true},
		{Index: 0, Bounds: leftBounds, Scale: 1},
		{Index: 2, Bounds: rightBounds, Scale: 2},
	}
	rapid.Check(t, func(t *rapid.T) {
		f := newFakeEyes()
		f.monitors = rapid.Permutation(f.monitors).Draw(t, "order")
		got, err := newEyes(f, image.Point{}).Monitors(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("monitors (-want +got):\n%s", diff)
		}
	})
	moved := newFakeEyes()
	moved.monitors[0].Primary, moved.monitors[1].Primary = true, false
	for _, m := range monitorsOf(moved.monitors) {
		if m.Bounds == primaryBounds && (m.Index != 1 || m.Primary) {
			t.Errorf("another primary one renumbers the others: %+v", m)
		}
	}
}

func TestMonitorsThatWindowsKnowsLittleAboutAreTakenAsTheyAre(t *testing.T) {
	got := monitorsOf([]winapi.Monitor{
		{Name: "WinDisc", Bounds: image.Rectangle{}, DPI: 96, Primary: true}, // shows nothing
		{Name: "", Bounds: rightBounds},
		{Name: `\\.\DISPLAY007`, Bounds: primaryBounds, DPI: 120},
	})
	want := []driver.Monitor{
		{Index: 0, Bounds: rightBounds, Scale: 1, Primary: true},
		{Index: 1, Bounds: primaryBounds, Scale: 1.25},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("monitors (-want +got):\n%s", diff)
	}
	f := newFakeEyes()
	f.monitorsErr = errDenied
	if _, err := newEyes(f, image.Point{}).Monitors(t.Context()); !errors.Is(err, errDenied) {
		t.Errorf("monitors that can't be asked for: %v", err)
	}
}

func TestHolesAreAllThatNoMonitorShowsAndNothingElse(t *testing.T) {
	within := func(parts []image.Rectangle, p image.Point) (n int) {
		for _, part := range parts {
			if p.In(part) {
				n++
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) image.Rectangle {
			at := image.Pt(rapid.IntRange(-12, 12).Draw(t, "x"), rapid.IntRange(-12, 12).Draw(t, "y"))
			return image.Rectangle{Min: at, Max: at.Add(image.Pt(rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")))}
		}), 1, 4).Draw(t, "monitors")
		area := span(some)
		gaps := holes(area, some)
		for y := area.Min.Y - 1; y <= area.Max.Y; y++ {
			for x := area.Min.X - 1; x <= area.Max.X; x++ {
				p, want := image.Pt(x, y), 0
				if p.In(area) && within(some, p) == 0 {
					want = 1
				}
				if got := within(gaps, p); got != want {
					t.Fatalf("%v lies in %d holes of %v, want %d", p, got, some, want)
				}
			}
		}
	})
}

// clicker notes the clicks that an executor asks for.
type clicker struct {
	*eyes
	clicks []image.Point
}

func (h *clicker) Do(_ context.Context, in driver.Input) error {
	h.clicks = append(h.clicks, in.(driver.Click).At)
	return nil
}

func (h *clicker) Release(context.Context) error { return nil }

// The monitors' bounds, the pixels of a picture, the windows' places and the places
// of gestures are one space, whatever a monitor's scale and wherever its origin.
func TestB03_APlaceInAPictureIsThePlaceOfAClick(t *testing.T) {
	f := newFakeEyes()
	h := &clicker{eyes: newEyes(f, image.Point{})}
	for _, c := range []struct {
		name    string
		monitor int
		point   work.Point
		want    image.Point
	}{
		{"the middle of the monitor at 150 %", 1, work.Point{X: 0.5, Y: 0.5}, image.Pt(150, 100)},
		{"its last pixel", 1, work.Point{X: 1, Y: 1}, image.Pt(299, 199)},
		{"the middle of the one left of and above it", 0, work.Point{X: 0.5, Y: 0.5}, image.Pt(-96, 20)},
		{"the first pixel of that", 0, work.Point{}, image.Pt(-192, -40)},
		{"a third into it", 0, work.Point{X: 1.0 / 3, Y: 0.25}, image.Pt(-128, -10)},
		{"the last pixel of the one at 200 %", 2, work.Point{X: 1, Y: 1}, image.Pt(399, 99)},
	} {
		h.clicks = nil
		outcome := execute.New(execute.Config{Driver: h}).Execute(t.Context(), work.Job{
			Dispatch: work.Dispatch{Ref: work.Ref{ActionID: "a"}, Action: work.Action{
				Do: work.Click{Count: 1}, Monitor: &c.monitor, Target: &work.Target{Point: &c.point},
			}},
			Settings: work.Settings{}.WithDefaults(), Begin: func() error { return nil }, Doing: func(string) {},
		})
		if diff := cmp.Diff([]image.Point{c.want}, h.clicks); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.name, outcome.Message, diff)
		}
		p, err := h.Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Image.RGBAAt(c.want.X, c.want.Y), pixel(c.want.X, c.want.Y, 0); got != want {
			t.Errorf("%s: the picture shows %v there, the screen %v", c.name, got, want)
		}
	}
}
