package vision

import (
	"errors"
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/vision/screens"
)

var (
	largeScreen = image.Pt(2560, 1600)
	square64    = image.Pt(64, 64)
)

func BenchmarkFind64In2560x1600(b *testing.B) {
	for _, k := range screens.Kinds() {
		b.Run(k.Name, func(b *testing.B) {
			s := k.Found(largeScreen, square64, 1)
			for b.Loop() {
				m, err := Find(s.Screen, s.Anchor, Options{MinScore: 0.95})
				if err != nil || m.Bounds != s.At {
					b.Fatalf("Find = %v, %v", m, err)
				}
			}
		})
	}
}

func BenchmarkMiss64In2560x1600(b *testing.B) {
	for _, k := range screens.Kinds() {
		b.Run(k.Name, func(b *testing.B) {
			s := k.Missing(largeScreen, square64, 1)
			for b.Loop() {
				if _, err := Find(s.Screen, s.Anchor, Options{MinScore: 0.95}); !errors.Is(err, ErrNotFound) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFindScaledIn2560x1600(b *testing.B) {
	anchor := screens.Form(image.Pt(700, 500), 1, 1).SubImage(image.Rect(240, 60, 304, 124))
	screen := screens.Form(largeScreen, 1.5, 1)
	for b.Loop() {
		if _, err := Find(screen, anchor, Options{MinScore: 0.9, Scales: Ratios(1)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare2560x1600(b *testing.B) {
	before := screens.Form(largeScreen, 1, 1)
	after := altered(before, 1, 0, 3)
	for b.Loop() {
		if _, err := Compare(before, after, CompareOptions{Tolerance: 8}); err != nil {
			b.Fatal(err)
		}
	}
}
