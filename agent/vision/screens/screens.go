// Package screens draws desktops that nobody uses, for the tests and
// benchmarks of package vision: text, forms, something like a photo, noise, and
// flat controls that repeat. A seed gives the same picture every time and
// everywhere. It decides nothing and is no part of a program that is shipped.
package screens

import (
	"image"
	"image/draw"
	"math/rand/v2"
)

// Kind is a sort of screen.
type Kind struct {
	Name string // a word or two
	draw func(img *image.RGBA, random *rand.Rand)
}

// Kinds are all sorts of screens.
func Kinds() []Kind {
	return []Kind{
		{"text", drawText}, {"forms", drawForms}, {"photo", drawPhoto}, {"noise", drawNoise}, {"flat, repeating", drawTiles},
	}
}

// Screen draws one, with its first pixel at (0,0).
func (k Kind) Screen(size image.Point, seed uint64) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	k.draw(img, rand.New(rand.NewPCG(seed, 1)))
	return img
}

// Scene is a screen and an anchor to look for on it.
type Scene struct {
	Screen, Anchor *image.RGBA
	// At is where the anchor lies; empty when it is on the screen nowhere.
	At image.Rectangle
}

// Found is a scene whose anchor lies on the screen, about two thirds of the way
// down it, and nowhere else.
func (k Kind) Found(screen, anchor image.Point, seed uint64) Scene {
	s := Scene{Screen: k.Screen(screen, seed)}
	corner := special(screen).Mul(tile).Add(image.Pt(8, 0))
	s.At = image.Rectangle{Min: corner, Max: corner.Add(anchor)}
	s.Anchor = cut(s.Screen, s.At)
	return s
}

// Missing is the same scene, but another part of the screen covers the one that
// the anchor was cut from.
func (k Kind) Missing(screen, anchor image.Point, seed uint64) Scene {
	s := k.Found(screen, anchor, seed)
	draw.Draw(s.Screen, s.At, cut(s.Screen, s.At.Sub(image.Pt(2*tile, 0))), image.Point{}, draw.Src)
	return Scene{Screen: s.Screen, Anchor: s.Anchor}
}

// tile is the edge of the cells of a list, in pixels.
const tile = 80

// special is the cell, by column and row, that is like no other in a list.
func special(screen image.Point) image.Point { return screen.Mul(2).Div(3 * tile) }

// cut copies a part of a picture, its first pixel at (0,0).
func cut(img *image.RGBA, part image.Rectangle) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: part.Size()})
	draw.Draw(out, out.Rect, img, part.Min, draw.Src)
	return out
}
