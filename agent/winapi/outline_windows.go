package winapi

import (
	"image"
	"image/color"

	"github.com/lxn/win"
)

// ShowOutline shows four bars of one colour above all windows. They take no focus and
// no click.
func (l *Loop) ShowOutline(bars [4]image.Rectangle, colour color.RGBA) error {
	return l.run(func() {
		l.colour = colorRef(colour)
		for i, h := range l.bars {
			const opaque = 255
			win.InvalidateRect(h, nil, true)
			show(h, bars[i], opaque)
			win.UpdateWindow(h)
		}
	})
}

// HideOutline takes the bars away, if they are shown.
func (l *Loop) HideOutline() error {
	return l.run(func() {
		for _, h := range l.bars {
			win.ShowWindow(h, win.SW_HIDE)
		}
	})
}
