package winapi

import (
	"image"
	"image/color"
)

// Page is a notice as it is drawn: fills first, then pieces of text. Areas count from
// the notice's corner.
type Page struct {
	Bounds image.Rectangle // on the virtual desktop
	Back   color.RGBA
	Fills  []Fill
	Pieces []Piece
}

// Fill is an area of one colour.
type Fill struct {
	Area   image.Rectangle
	Colour color.RGBA
}

// Piece is a text that wraps within its area; what does not fit is not shown.
type Piece struct {
	Text   string
	Area   image.Rectangle
	Font   Font
	Colour color.RGBA
}

// Font is a size of the system's typeface.
type Font struct {
	Height int // of a line's letters, in pixels
	Bold   bool
}

// Tray is an icon in the notification area, with the menu that a click on it opens.
type Tray struct {
	Tip  string // what it says when the pointer is on it; up to 127 UTF-16 units show
	Icon *image.NRGBA
	Menu []MenuItem
}

// MenuItem is a line of a menu.
type MenuItem struct {
	ID   int // what is told when it is chosen, from 1
	Text string
	Off  bool // it can't be chosen
}

// colorRef is COLORREF of windef.h: 0x00bbggrr.
func colorRef(c color.RGBA) uint32 {
	return uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16
}

// iconPixels are those of an icon as Windows wants them: blue, green, red, and how
// opaque, by rows from the top; colours are not multiplied by it.
func iconPixels(img *image.NRGBA) []byte {
	size := img.Bounds().Size()
	pixels := make([]byte, 0, 4*size.X*size.Y)
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			c := img.NRGBAAt(x, y)
			pixels = append(pixels, c.B, c.G, c.R, c.A)
		}
	}
	return pixels
}

// clipped are the UTF-16 units of a text that fit in a field with its NUL; no
// surrogate pair is cut in two.
func clipped(units []uint16, field int) []uint16 {
	if len(units) < field {
		return units
	}
	units = units[:field-1]
	if last := units[len(units)-1]; last >= 0xd800 && last < 0xdc00 {
		units = units[:len(units)-1]
	}
	return units
}
