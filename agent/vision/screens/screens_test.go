package screens

import (
	"bytes"
	"image"
	"image/draw"
	"testing"
)

func TestASeedGivesTheSamePictureAndAnotherAnother(t *testing.T) {
	size := image.Pt(320, 200)
	for _, k := range Kinds() {
		a, b, c := k.Screen(size, 1), k.Screen(size, 1), k.Screen(size, 2)
		if !bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%s: seed 1 gave two pictures", k.Name)
		}
		if bytes.Equal(a.Pix, c.Pix) {
			t.Errorf("%s: seeds 1 and 2 gave the same picture", k.Name)
		}
	}
}

func TestTheAnchorIsWhereTheSceneSays(t *testing.T) {
	for _, k := range Kinds() {
		s := k.Found(image.Pt(400, 300), image.Pt(64, 64), 3)
		there := image.NewRGBA(s.Anchor.Rect)
		draw.Draw(there, there.Rect, s.Screen, s.At.Min, draw.Src)
		if !bytes.Equal(there.Pix, s.Anchor.Pix) {
			t.Errorf("%s: the anchor is not at %v", k.Name, s.At)
		}
		m := k.Missing(image.Pt(400, 300), image.Pt(64, 64), 3)
		if !m.At.Empty() || !bytes.Equal(m.Anchor.Pix, s.Anchor.Pix) {
			t.Errorf("%s: missing at %v, or another anchor", k.Name, m.At)
		}
		draw.Draw(there, there.Rect, m.Screen, s.At.Min, draw.Src)
		if bytes.Equal(there.Pix, m.Anchor.Pix) {
			t.Errorf("%s: the missing anchor is at %v", k.Name, s.At)
		}
	}
}
