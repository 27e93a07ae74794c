package driver_test

import (
	"errors"
	"fmt"
	"image"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func drawMonitors(t *rapid.T) []driver.Monitor {
	scales := []float64{1, 1.25, 1.5, 1.75, 2, 100.0 / 96}
	count := rapid.IntRange(1, 4).Draw(t, "monitors")
	primary := rapid.IntRange(0, count-1).Draw(t, "primary")
	monitors := make([]driver.Monitor, count)
	for i := range monitors {
		at := image.Pt(rapid.IntRange(-4000, 4000).Draw(t, "x"), rapid.IntRange(-4000, 4000).Draw(t, "y"))
		size := image.Pt(rapid.IntRange(1, 4000).Draw(t, "width"), rapid.IntRange(1, 4000).Draw(t, "height"))
		monitors[i] = driver.Monitor{
			Index: i, Bounds: image.Rectangle{Min: at, Max: at.Add(size)},
			Scale: rapid.SampledFrom(scales).Draw(t, "scale"), Primary: i == primary,
		}
	}
	return monitors
}

func TestGeometryIsTheSameInAnyOrderAndChangesWithEveryMonitor(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{16}$`)
	rapid.Check(t, func(t *rapid.T) {
		monitors := drawMonitors(t)
		was := driver.Geometry(monitors)
		if !form.MatchString(was) {
			t.Fatalf("geometry %q", was)
		}
		if got := driver.Geometry(rapid.Permutation(monitors).Draw(t, "order")); got != was {
			t.Errorf("in another order: %s, was %s", got, was)
		}
		i := rapid.IntRange(0, len(monitors)-1).Draw(t, "changed")
		for what, change := range map[string]func(*driver.Monitor){
			"moved":        func(m *driver.Monitor) { m.Bounds = m.Bounds.Add(image.Pt(0, -1)) },
			"wider":        func(m *driver.Monitor) { m.Bounds.Max.X++ },
			"higher":       func(m *driver.Monitor) { m.Bounds.Min.Y-- },
			"scaled":       func(m *driver.Monitor) { m.Scale += 0.25 },
			"primary":      func(m *driver.Monitor) { m.Primary = !m.Primary },
			"another name": func(m *driver.Monitor) { m.Index += 10 },
		} {
			changed := slices.Clone(monitors)
			change(&changed[i])
			if got := driver.Geometry(changed); got == was {
				t.Errorf("monitor %d %s: still %s", i, what, got)
			}
		}
		if got := driver.Geometry(append(slices.Clone(monitors), driver.Monitor{Index: 9, Bounds: image.Rect(0, 0, 1, 1), Scale: 1})); got == was {
			t.Errorf("one monitor more: still %s", got)
		}
	})
	if got := driver.Geometry(nil); got != "" {
		t.Errorf("of no monitors: %q", got)
	}
}

// A picture that was kept names its geometry: the fingerprint must be the same in
// every version of the agent.
func TestGeometryStaysWhatItIs(t *testing.T) {
	got := driver.Geometry([]driver.Monitor{
		{Index: 0, Bounds: image.Rect(0, 0, 3000, 2000), Scale: 1.5, Primary: true},
		{Index: 1, Bounds: image.Rect(-1920, 200, 0, 1280), Scale: 1},
	})
	if want := "18bbf8ac803abef8"; got != want {
		t.Errorf("geometry %s, want %s", got, want)
	}
}

func TestAnElementIsClickedWithinItsBounds(t *testing.T) {
	bounds := image.Rect(-10, 20, -5, 26)
	for _, c := range []struct {
		clickable *image.Point
		want      image.Point
	}{
		{nil, image.Pt(-8, 23)}, {&image.Point{X: -10, Y: 25}, image.Pt(-10, 25)}, {&image.Point{X: -5, Y: 25}, image.Pt(-8, 23)}, {&image.Point{}, image.Pt(-8, 23)},
	} {
		if got := (driver.Found{Bounds: bounds, Clickable: c.clickable}).Place(); got != c.want {
			t.Errorf("clickable at %v: clicked at %v, want %v", c.clickable, got, c.want)
		}
	}
}

func TestEveryGestureHasItsNameAndItsPlaces(t *testing.T) {
	from, to := image.Pt(-1, 2), image.Pt(3, 4)
	for name, c := range map[string]struct {
		in     driver.Input
		places []image.Point
	}{
		"click":        {driver.Click{At: from}, []image.Point{from}},
		"move":         {driver.Move{At: from}, []image.Point{from}},
		"drag":         {driver.Drag{From: from, To: to}, []image.Point{from, to}},
		"scroll":       {driver.Scroll{At: to}, []image.Point{to}},
		"type":         {driver.Type{}, nil},
		"paste":        {driver.Paste{}, nil},
		"key combo":    {driver.Combo{}, nil},
		"focus window": {driver.Focus{}, nil},
	} {
		if got := driver.NameOf(c.in); got != name {
			t.Errorf("%T is named %q, want %q", c.in, got, name)
		}
		if got := driver.Places(c.in); !slices.Equal(got, c.places) {
			t.Errorf("%s is at %v, want %v", name, got, c.places)
		}
	}
}

func TestOnlyWhatIsMarkedOfAGesturesErrorIsTelling(t *testing.T) {
	inner := fmt.Errorf("the character at byte 3 has no key: %w", driver.ErrUnsupported)
	err := error(&driver.InputError{Err: fmt.Errorf("type %q: %w", "a text", driver.Tellable(inner))})
	if told, ok := driver.Telling(err); !ok || told != inner.Error() || !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("%q, %v", told, ok)
	}
	for _, err := range []error{nil, inner, &driver.InputError{Err: inner}, driver.Tellable(nil)} {
		if told, ok := driver.Telling(err); ok || told != "" {
			t.Errorf("%v tells %q", err, told)
		}
	}
}
