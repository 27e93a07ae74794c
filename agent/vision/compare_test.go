package vision

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func painted(img *image.RGBA, c color.Color, parts ...image.Rectangle) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	copy(out.Pix, img.Pix)
	for _, r := range parts {
		draw.Draw(out, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return out
}

func TestCompareSaysHowMuchChangedAndWhere(t *testing.T) {
	ground := painted(image.NewRGBA(image.Rect(-50, -20, 50, 80)), color.Gray{100}, image.Rect(-50, -20, 50, 80))
	caret, clock, letter := image.Rect(3, 4, 5, 20), image.Rect(40, -20, 50, -10), image.Rect(10, 4, 18, 16)
	for _, c := range []struct {
		name  string
		after *image.RGBA
		o     CompareOptions
		want  Change
	}{
		{"nothing", ground, CompareOptions{}, Change{}},
		{"one pixel", painted(ground, color.White, image.Rect(-50, 79, -49, 80)), CompareOptions{},
			Change{Pixels: 1, Bounds: image.Rect(-50, 79, -49, 80), Share: 1. / 10000}},
		{"two places", painted(ground, color.White, caret, letter), CompareOptions{},
			Change{Pixels: 32 + 96, Bounds: image.Rect(3, 4, 18, 20), Share: 128. / 10000}},
		{"a caret, counted", painted(ground, color.White, caret), CompareOptions{},
			Change{Pixels: 32, Bounds: caret, Share: 32. / 10000}},
		{"a caret, told to leave it out", painted(ground, color.White, caret), CompareOptions{Caret: image.Pt(2, 40)}, Change{}},
		{"a letter is no caret", painted(ground, color.White, letter), CompareOptions{Caret: image.Pt(2, 40)},
			Change{Pixels: 96, Bounds: letter, Share: 96. / 10000}},
		{"a caret that moved is a change", painted(ground, color.White, caret, caret.Add(image.Pt(8, 0))), CompareOptions{Caret: image.Pt(2, 40)},
			Change{Pixels: 64, Bounds: image.Rect(3, 4, 13, 20), Share: 64. / 10000}},
		{"a clock that is ignored", painted(ground, color.White, clock), CompareOptions{Ignore: []image.Rectangle{clock}}, Change{}},
		{"beside an ignored part", painted(ground, color.White, image.Rect(0, 0, 10, 1)), CompareOptions{Ignore: []image.Rectangle{image.Rect(2, -9, 4, 9), image.Rect(3, 0, 6, 1)}},
			Change{Pixels: 6, Bounds: image.Rect(0, 0, 10, 1), Share: 6. / (10000 - 2*18 - 2)}},
		{"outside the region", painted(ground, color.White, clock), CompareOptions{Region: image.Rect(0, 0, 99, 99)}, Change{}},
		{"across the region's border", painted(ground, color.White, image.Rect(-5, 0, 5, 2)), CompareOptions{Region: image.Rect(0, 0, 10, 10)},
			Change{Pixels: 10, Bounds: image.Rect(0, 0, 5, 2), Share: 0.1}},
		{"a region off the pictures", painted(ground, color.White, clock), CompareOptions{Region: image.Rect(500, 0, 510, 10)}, Change{}},
		{"within the tolerance", painted(ground, color.Gray{103}, letter), CompareOptions{Tolerance: 3}, Change{}},
		{"beyond the tolerance, darker", painted(ground, color.Gray{96}, letter), CompareOptions{Tolerance: 3},
			Change{Pixels: 96, Bounds: letter, Share: 96. / 10000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Compare(ground, c.after, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if got.Seen() != (c.want.Pixels > 0) {
				t.Errorf("seen = %v with %d pixels", got.Seen(), got.Pixels)
			}
		})
	}
}

func TestCompareRefusesPicturesOfDifferentDesktops(t *testing.T) {
	_, err := Compare(image.NewRGBA(image.Rect(0, 0, 4, 4)), image.NewRGBA(image.Rect(0, 0, 4, 5)), CompareOptions{})
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("err = %v, want %v", err, ErrInvalid)
	}
}

func TestUniformTellsABlackCaptureFromADesktop(t *testing.T) {
	black := image.NewRGBA(image.Rect(-5, -5, 20, 20))
	blue := painted(black, color.RGBA{0, 0, 200, 255}, black.Rect)
	for _, c := range []struct {
		name string
		img  *image.RGBA
		want bool
	}{
		{"black", black, true},
		{"blue", blue, true},
		{"empty", image.NewRGBA(image.Rectangle{}), true},
		{"the last pixel differs", painted(blue, color.White, image.Rect(19, 19, 20, 20)), false},
		{"a desktop", load(t, "desktop.png"), false},
		{"a uniform part of a desktop", load(t, "desktop.png").SubImage(image.Rect(100, 500, 300, 700)).(*image.RGBA), true},
	} {
		if got := Uniform(c.img); got != c.want {
			t.Errorf("%s: uniform = %v", c.name, got)
		}
	}
}

func TestAroundIsWhatOfTheSurroundingsLiesOnTheScreen(t *testing.T) {
	screen := image.Rect(-1280, -200, 1920, 1080)
	for _, c := range []struct {
		name   string
		at     image.Point
		radius int
		want   image.Rectangle
	}{
		{"in the middle", image.Pt(100, 200), 50, image.Rect(50, 150, 151, 251)},
		{"in a corner", image.Pt(-1280, -200), 10, image.Rect(-1280, -200, -1269, -189)},
		{"the last pixel", image.Pt(1919, 1079), 4, image.Rect(1915, 1075, 1920, 1080)},
		{"just off the screen", image.Pt(1922, 0), 4, image.Rect(1918, -4, 1920, 5)},
		{"far off the screen", image.Pt(5000, 0), 4, screen},
		{"no radius", image.Pt(3, 4), 0, image.Rect(3, 4, 4, 5)},
		{"a negative radius", image.Pt(3, 4), -7, image.Rect(3, 4, 4, 5)},
		{"a radius beyond all screens", image.Pt(3, 4), math.MaxInt, screen},
	} {
		if got := Around(c.at, c.radius, screen); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := Around(image.Pt(3, 4), 9, image.Rectangle{}); !got.Empty() {
		t.Errorf("around a place on no screen: %v", got)
	}
}

func TestWhatChangesAroundTheTargetIsItsEffect(t *testing.T) {
	ground := painted(image.NewRGBA(image.Rect(0, 0, 200, 100)), color.Gray{200}, image.Rect(0, 0, 200, 100))
	clock, caret := image.Rect(95, 30, 120, 40), image.Rect(80, 50, 82, 66)
	o := CompareOptions{Region: Around(image.Pt(80, 50), 30, ground.Rect), Ignore: []image.Rectangle{clock}, Caret: image.Pt(3, 48)}
	for _, c := range []struct {
		name    string
		changed []image.Rectangle
		want    bool
	}{
		{"nothing", nil, false},
		{"a tick in a box", []image.Rectangle{image.Rect(78, 48, 84, 54)}, true},
		{"at the rim", []image.Rectangle{image.Rect(110, 80, 111, 81), image.Rect(50, 20, 51, 21)}, true},
		{"beyond the rim", []image.Rectangle{image.Rect(111, 0, 200, 100)}, false},
		{"a popup elsewhere", []image.Rectangle{image.Rect(130, 10, 190, 90)}, false},
		{"a window that covers all", []image.Rectangle{ground.Rect}, true},
		{"the caret", []image.Rectangle{caret}, false},
		{"the clock", []image.Rectangle{clock}, false},
		{"caret and clock at once", []image.Rectangle{caret, clock}, false},
		{"a letter beside the caret", []image.Rectangle{caret, image.Rect(70, 52, 78, 64)}, true},
		{"beside the clock", []image.Rectangle{image.Rect(90, 30, 110, 40)}, true},
	} {
		got, err := Compare(ground, painted(ground, color.Black, c.changed...), o)
		if err != nil || got.Seen() != c.want {
			t.Errorf("%s: %+v, %v; want a change: %v", c.name, got, err, c.want)
		}
	}
}
