// Package render draws what is to be seen of a virtual desktop. It decides how
// things look and nothing else: same view, same pixels, on every machine. There
// is no pointer in a picture and the caret does not blink, so that two pictures
// differ only where something happened.
package render

import (
	"image"
	"image/color"
	"image/draw"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Measures of text, in pixels.
const (
	charWidth  = 8
	lineHeight = 17
	ascent     = 13
	heading    = 32 // height of a text area's heading
)

var (
	black  = color.RGBA{0, 0, 0, 0xff}
	white  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink    = color.RGBA{0x20, 0x22, 0x28, 0xff}
	edge   = color.RGBA{0x8a, 0x90, 0x9c, 0xff}
	accent = color.RGBA{0x2f, 0x6f, 0xde, 0xff}
	idle   = color.RGBA{0x6b, 0x72, 0x80, 0xff}
	marked = color.RGBA{0xbf, 0xd7, 0xff, 0xff}
	night  = color.RGBA{0x14, 0x1a, 0x2b, 0xff}
)

// Picture draws the whole virtual desktop. What is on no monitor is black, and
// so is a display that is disconnected.
func Picture(v virtualdesktop.View) *image.RGBA {
	all := image.NewRGBA(v.Bounds)
	fill(all, v.Bounds, black)
	if v.Condition == wire.Disconnected {
		return all
	}
	for _, m := range v.Monitors {
		screen := cut(all, m.Bounds)
		if v.Condition == wire.Locked {
			fill(screen, m.Bounds, night)
			write(screen, m.Bounds.Min.Add(image.Pt(60, 60)), "Locked", white)
			continue
		}
		for i, s := range v.Surfaces {
			surface(screen, s, i == 0)
		}
	}
	return all
}

func surface(dst *image.RGBA, s virtualdesktop.Surface, background bool) {
	if !background && s.Outer != s.Client {
		bar := edge
		if s.Active {
			bar = accent
		}
		fill(dst, s.Outer, bar)
		write(cut(dst, s.Outer), s.Outer.Min.Add(image.Pt(10, 5)), s.Spec.Title, white)
	}
	fill(dst, s.Client, s.Spec.Colour)
	for _, n := range s.Nodes {
		node(cut(dst, n.Visible), n)
	}
}

func node(dst *image.RGBA, n virtualdesktop.Node) {
	switch n.Spec.Shape {
	case virtualdesktop.Panel:
		fill(dst, n.Bounds, n.Spec.Colour)
	case virtualdesktop.Label:
		glyph(dst, n.Bounds.Min, n.Spec.Glyph, n.Spec.Zoom)
		write(dst, n.Bounds.Min, n.Spec.Text, ink)
	case virtualdesktop.Icon:
		icon(dst, n)
	case virtualdesktop.Button:
		button(dst, n)
	case virtualdesktop.Editor, virtualdesktop.Recorder:
		textArea(dst, n)
	}
	if n.Chosen {
		frame(dst, n.Bounds, accent, 3)
	}
}

func icon(dst *image.RGBA, n virtualdesktop.Node) {
	size := 16 * n.Spec.Zoom
	glyph(dst, image.Pt(n.Bounds.Min.X+(n.Bounds.Dx()-size)/2, n.Bounds.Min.Y+8), n.Spec.Glyph, n.Spec.Zoom)
	left := n.Bounds.Min.X + (n.Bounds.Dx()-charWidth*len([]rune(n.Spec.Text)))/2
	write(dst, image.Pt(left, n.Bounds.Min.Y+size+14), n.Spec.Text, white)
}

func button(dst *image.RGBA, n virtualdesktop.Node) {
	fill(dst, n.Bounds, n.Spec.Colour)
	frame(dst, n.Bounds, edge, 1)
	size, width := 16*n.Spec.Zoom, charWidth*len([]rune(n.Spec.Text))
	at := n.Bounds.Min.Add(image.Pt(8, (n.Bounds.Dy()-size)/2))
	switch {
	case n.Spec.Text == "":
		at.X = n.Bounds.Min.X + (n.Bounds.Dx()-size)/2
	case n.Spec.Glyph == "":
		size = (n.Bounds.Dx()-width)/2 - 16
	}
	glyph(dst, at, n.Spec.Glyph, n.Spec.Zoom)
	write(dst, image.Pt(at.X+size+8, n.Bounds.Min.Y+(n.Bounds.Dy()-lineHeight)/2), n.Spec.Text, against(n.Spec.Colour))
}

func textArea(dst *image.RGBA, n virtualdesktop.Node) {
	fill(dst, n.Bounds, white)
	inner := n.Bounds.Inset(6)
	if n.Spec.Text != "" {
		bar := image.Rectangle{n.Bounds.Min, image.Pt(n.Bounds.Max.X, n.Bounds.Min.Y+heading)}
		fill(dst, bar, marked)
		glyph(dst, bar.Min.Add(image.Pt(8, 8)), n.Spec.Glyph, n.Spec.Zoom)
		write(dst, bar.Min.Add(image.Pt(32, 7)), n.Spec.Text, ink)
		inner.Min.Y += heading
	}
	if n.Runs > 0 {
		inner.Max.Y -= 2 * lineHeight
		write(dst, image.Pt(inner.Min.X, inner.Max.Y+lineHeight/2), "Statements executed: "+strconv.Itoa(n.Runs), accent)
	}
	paragraph(cut(dst, inner), inner, n)
	if n.Focused {
		frame(dst, n.Bounds, accent, 3)
	} else {
		frame(dst, n.Bounds, idle, 1)
	}
}

// paragraph writes text, wrapped at the area's width, the lines round the caret.
func paragraph(dst *image.RGBA, area image.Rectangle, n virtualdesktop.Node) {
	lines, row, column := wrap(n.Text, n.Caret, max(area.Dx()/charWidth, 1))
	rows := max(area.Dy()/lineHeight, 1)
	first := max(row-rows+1, 0)
	for i, line := range lines[first:min(first+rows, len(lines))] {
		at := area.Min.Add(image.Pt(0, i*lineHeight))
		if n.All {
			fill(dst, image.Rectangle{at, at.Add(image.Pt(charWidth*len([]rune(line)), lineHeight))}, marked)
		}
		write(dst, at, line, ink)
	}
	if n.Focused {
		at := area.Min.Add(image.Pt(column*charWidth, (row-first)*lineHeight))
		fill(dst, image.Rectangle{at, at.Add(image.Pt(2, lineHeight))}, black)
	}
}

// wrap breaks text into lines of at most width characters and says where the
// caret is. A tab is as wide as two blanks.
func wrap(text string, caret, width int) (lines []string, row, column int) {
	var line []rune
	i := 0
	for _, r := range text {
		if len(line) >= width {
			lines, line = append(lines, string(line)), nil
		}
		if i == caret {
			row, column = len(lines), len(line)
		}
		i++
		switch r {
		case '\n':
			lines, line = append(lines, string(line)), nil
		case '\t':
			line = append(line, ' ', ' ')
		default:
			line = append(line, r)
		}
	}
	if i == caret {
		row, column = len(lines), len(line)
	}
	return append(lines, string(line)), row, column
}

func write(dst *image.RGBA, at image.Point, text string, c color.RGBA) {
	d := font.Drawer{Dst: dst, Src: image.NewUniform(c), Face: inconsolata.Bold8x16, Dot: fixed.P(at.X, at.Y+ascent)}
	d.DrawString(strings.Map(drawable, text))
}

// drawable is r, or a sign in its place that is as wide as any other: a
// character that the font lacks must still be seen.
func drawable(r rune) rune {
	if _, ok := inconsolata.Bold8x16.GlyphAdvance(r); ok {
		return r
	}
	return '¤'
}

func fill(dst *image.RGBA, r image.Rectangle, c color.RGBA) {
	draw.Draw(dst, r, image.NewUniform(c), image.Point{}, draw.Src)
}

func frame(dst *image.RGBA, r image.Rectangle, c color.RGBA, width int) {
	in := r.Inset(width)
	fill(dst, image.Rect(r.Min.X, r.Min.Y, r.Max.X, in.Min.Y), c)
	fill(dst, image.Rect(r.Min.X, in.Max.Y, r.Max.X, r.Max.Y), c)
	fill(dst, image.Rect(r.Min.X, r.Min.Y, in.Min.X, r.Max.Y), c)
	fill(dst, image.Rect(in.Max.X, r.Min.Y, r.Max.X, r.Max.Y), c)
}

// cut is the part of a picture that drawing may touch.
func cut(dst *image.RGBA, r image.Rectangle) *image.RGBA {
	return dst.SubImage(r).(*image.RGBA)
}

// against is the colour that is read well on c.
func against(c color.RGBA) color.RGBA {
	if int(c.R)+int(c.G)+int(c.B) < 384 {
		return white
	}
	return ink
}
