package vision

import (
	"image"
	"image/draw"
	"testing"
)

// wall is a screen of 2560x1600: four desktops, the anchor on the last one only.
func wall(b *testing.B) *image.RGBA {
	desktop := load(b, "desktop.png")
	screen := image.NewRGBA(image.Rect(0, 0, 2560, 1600))
	for i, at := range []image.Point{{0, 0}, {1280, 0}, {0, 800}, {1280, 800}} {
		draw.Draw(screen, desktop.Rect.Add(at), desktop, image.Point{}, draw.Src)
		if i < 3 {
			draw.Draw(screen, anchorAt.Add(at), desktop, image.Pt(40, 80), draw.Src)
		}
	}
	return screen
}

func benchmarkFind(b *testing.B, screen *image.RGBA, want image.Rectangle) {
	anchor := load(b, "anchor.png")
	for b.Loop() {
		m, err := Find(screen, anchor, Options{MinScore: 0.95})
		if err != nil || m.Bounds != want {
			b.Fatalf("Find = %v, %v", m, err)
		}
	}
}

func BenchmarkFind64In1280x800(b *testing.B) {
	benchmarkFind(b, load(b, "desktop.png"), anchorAt)
}

func BenchmarkFind64In2560x1600(b *testing.B) {
	benchmarkFind(b, wall(b), anchorAt.Add(image.Pt(1280, 800)))
}

func BenchmarkFind64In2560x1600WithNoise(b *testing.B) {
	benchmarkFind(b, altered(wall(b), 1, 0, 5), anchorAt.Add(image.Pt(1280, 800)))
}

func BenchmarkFindNothingIn1280x800(b *testing.B) {
	screen, anchor := load(b, "desktop.png"), load(b, "anchor.png")
	draw.Draw(screen, anchorAt, load(b, "desktop.png"), image.Pt(40, 80), draw.Src)
	for b.Loop() {
		if _, err := Find(screen, anchor, Options{MinScore: 0.95}); err == nil {
			b.Fatal("found")
		}
	}
}

func BenchmarkCompare2560x1600(b *testing.B) {
	before, after := wall(b), altered(wall(b), 1, 0, 3)
	for b.Loop() {
		if _, err := Compare(before, after, CompareOptions{Tolerance: 8}); err != nil {
			b.Fatal(err)
		}
	}
}
