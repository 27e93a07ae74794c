package winapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
)

// handle is an object of GDI: a device context or a bitmap.
type handle uintptr

// gdi is what taking a picture needs of Windows, one method for each step that can
// fail. What shoot makes by it, shoot gives back by it.
type gdi interface {
	// screenDC is the screen's device context; releaseDC gives it back.
	screenDC() (handle, error)
	releaseDC(dc handle) error
	// memoryDC makes a device context in memory; deleteDC deletes it.
	memoryDC(like handle) (handle, error)
	deleteDC(dc handle) error
	// bitmap makes a bitmap of 4 bytes a pixel, blue first, the top row first, and
	// returns its pixels, which are gone with it; deleteBitmap deletes it, and fails
	// while it is selected.
	bitmap(dc handle, size image.Point) (handle, []byte, error)
	deleteBitmap(bitmap handle) error
	// selectObject puts a bitmap into a device context, and returns the one before.
	selectObject(dc, bitmap handle) (handle, error)
	// flush waits until all drawing has reached the bitmap.
	flush() error
}

// shoot takes a picture of size pixels by draw, and returns the part of it that begins
// at from and is as large as bounds. The order of giving back is what matters: a
// bitmap that is still in a device context would not be freed, and a process has
// 10,000 objects of GDI and no more.
func shoot(g gdi, size, from image.Point, bounds image.Rectangle, draw func(to, screen handle) error) (*image.RGBA, error) {
	if size.X <= 0 || size.Y <= 0 || bounds.Empty() || !(image.Rectangle{Max: bounds.Size()}).Add(from).In(image.Rectangle{Max: size}) {
		return nil, fmt.Errorf("no picture of %v out of %v", bounds, size)
	}
	img := image.NewRGBA(bounds)
	if err := withScreen(g, size, draw, func(pixels []byte) { convert(img, pixels, size.X, from) }); err != nil {
		return nil, fmt.Errorf("take a picture of %v: %w", bounds, err)
	}
	return img, nil
}

func withScreen(g gdi, size image.Point, draw func(to, screen handle) error, read func([]byte)) (err error) {
	screen, err := g.screenDC()
	if err != nil {
		return fmt.Errorf("open the screen: %w", err)
	}
	defer func() { err = errors.Join(err, g.releaseDC(screen)) }()
	bitmap, pixels, err := g.bitmap(screen, size)
	if err != nil {
		return fmt.Errorf("make a bitmap: %w", err)
	}
	defer func() { err = errors.Join(err, g.deleteBitmap(bitmap)) }()
	if err = drawInto(g, bitmap, screen, draw); err != nil {
		return err
	}
	read(pixels)
	return nil
}

// drawInto lends the bitmap to a device context while draw works. Deleting that one
// takes the bitmap out of it, should putting the former one back fail.
func drawInto(g gdi, bitmap, screen handle, draw func(to, screen handle) error) (err error) {
	memory, err := g.memoryDC(screen)
	if err != nil {
		return fmt.Errorf("make a device context: %w", err)
	}
	defer func() { err = errors.Join(err, g.deleteDC(memory)) }()
	former, err := g.selectObject(memory, bitmap)
	if err != nil {
		return fmt.Errorf("select the bitmap: %w", err)
	}
	defer func() {
		_, back := g.selectObject(memory, former)
		err = errors.Join(err, back)
	}()
	if err = draw(memory, screen); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return g.flush()
}

// convert fills img from pixels, blue first and width to a row, beginning at from.
// Windows leaves the fourth byte undefined; a screen is opaque.
func convert(img *image.RGBA, pixels []byte, width int, from image.Point) {
	size := img.Rect.Size()
	for y := range size.Y {
		begin := ((from.Y+y)*width + from.X) * 4
		src := pixels[begin : begin+size.X*4]
		dst := img.Pix[y*img.Stride : y*img.Stride+size.X*4]
		for len(src) >= 4 && len(dst) >= 4 {
			v := binary.LittleEndian.Uint32(src)
			binary.LittleEndian.PutUint32(dst, 0xff000000|v&0xff00|v>>16&0xff|v&0xff<<16)
			src, dst = src[4:], dst[4:]
		}
	}
}
