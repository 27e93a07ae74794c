package person

import (
	"fmt"
	"image"
	"image/color"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// paragraph is a part of a notice, from the top.
type paragraph struct {
	text  string
	style style
}

// style is how a paragraph looks.
type style int

const (
	heading style = iota
	sentence
	message
	check
	hint
)

// Sizes of a notice in pixels at 100 %.
const (
	noticeWidth = 380
	edge        = 16 // between the notice and the edges of the work area
	padding     = 16
	stripeWidth = 6
	indent      = 14 // of a check
)

var (
	backColour   = color.RGBA{R: 0x1f, G: 0x24, B: 0x2b, A: 0xff}
	stripeColour = color.RGBA{R: 0xf5, G: 0xa6, B: 0x23, A: 0xff}
	textColour   = color.RGBA{R: 0xf4, G: 0xf6, B: 0xf8, A: 0xff}
	dimColour    = color.RGBA{R: 0xb4, G: 0xbc, B: 0xc6, A: 0xff}
)

// look of the styles: size and boldness of the letters, the gap above, the colour.
var looks = map[style]struct {
	size   int
	bold   bool
	gap    int
	colour color.RGBA
}{
	heading:  {size: 18, bold: true, colour: textColour},
	sentence: {size: 15, gap: 6, colour: textColour},
	message:  {size: 15, bold: true, gap: 10, colour: textColour},
	check:    {size: 15, gap: 5, colour: textColour},
	hint:     {size: 13, gap: 12, colour: dimColour},
}

func scaled(v, dpi int) int {
	if dpi <= 0 {
		dpi = 96
	}
	return max(1, (v*dpi+48)/96)
}

// layout lays a notice out in the bottom right of the work area, as high as its text is
// and no higher than the work area. Of a text that is too long the end is cut.
func layout(paragraphs []paragraph, work image.Rectangle, dpi int, measure func(string, winapi.Font, int) (int, error)) (*winapi.Page, error) {
	px := func(v int) int { return scaled(v, dpi) }
	width := min(px(noticeWidth), work.Dx()-2*px(edge))
	most := work.Dy() - 2*px(edge)
	if width <= 2*px(padding)+px(indent) || most <= 2*px(padding) {
		return nil, fmt.Errorf("a work area of %v has no room", work.Size())
	}
	page := &winapi.Page{Back: backColour}
	y := px(padding)
	for i, p := range paragraphs {
		look := looks[p.style]
		if i > 0 {
			y += px(look.gap)
		}
		left := px(stripeWidth) + px(padding)
		if p.style == check {
			left += px(indent)
		}
		font := winapi.Font{Height: px(look.size), Bold: look.bold}
		height, err := measure(p.text, font, width-left-px(padding))
		if err != nil {
			return nil, fmt.Errorf("measure: %w", err)
		}
		height = min(height, most-px(padding)-y)
		if height <= 0 {
			break
		}
		area := image.Rect(left, y, width-px(padding), y+height)
		page.Pieces = append(page.Pieces, winapi.Piece{Text: p.text, Area: area, Font: font, Colour: look.colour})
		y += height
	}
	size := image.Pt(width, min(y+px(padding), most))
	corner := work.Max.Sub(image.Pt(px(edge), px(edge))).Sub(size)
	page.Bounds = image.Rectangle{Min: corner, Max: corner.Add(size)}
	page.Fills = []winapi.Fill{{Area: image.Rect(0, 0, px(stripeWidth), size.Y), Colour: stripeColour}}
	return page, nil
}
