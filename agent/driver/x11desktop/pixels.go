package x11desktop

import (
	"encoding/binary"
	"fmt"
	"image"
	"math/bits"

	"github.com/jezek/xgb/xproto"
)

// pixelFormat says how the display lays out the pixels of a picture.
type pixelFormat struct {
	bitsPerPixel     int
	padBits          int // rows start at multiples of this
	msbFirst         bool
	red, green, blue uint32 // masks
}

// rootFormat is the format of the screen's root window.
func rootFormat(setup *xproto.SetupInfo, screen *xproto.ScreenInfo) (pixelFormat, error) {
	f := pixelFormat{msbFirst: setup.ImageByteOrder == xproto.ImageOrderMSBFirst}
	for _, p := range setup.PixmapFormats {
		if p.Depth == screen.RootDepth {
			f.bitsPerPixel, f.padBits = int(p.BitsPerPixel), int(p.ScanlinePad)
		}
	}
	for _, depth := range screen.AllowedDepths {
		for _, v := range depth.Visuals {
			if v.VisualId == screen.RootVisual {
				f.red, f.green, f.blue = v.RedMask, v.GreenMask, v.BlueMask
			}
		}
	}
	switch f.bitsPerPixel {
	case 16, 24, 32:
	default:
		return f, fmt.Errorf("a display with %d bits per pixel", f.bitsPerPixel)
	}
	if f.padBits == 0 || f.red == 0 || f.green == 0 || f.blue == 0 {
		return f, fmt.Errorf("a display of depth %d without colour masks", screen.RootDepth)
	}
	return f, nil
}

// decode turns a picture's data into RGBA with the bounds r.
func (f pixelFormat) decode(data []byte, r image.Rectangle) (*image.RGBA, error) {
	stride := (r.Dx()*f.bitsPerPixel + f.padBits - 1) / f.padBits * f.padBits / 8
	if len(data) < stride*r.Dy() {
		return nil, fmt.Errorf("a picture of %d bytes, %v needs %d", len(data), r.Size(), stride*r.Dy())
	}
	img := image.NewRGBA(r)
	for y := range r.Dy() {
		src, dst := data[y*stride:(y+1)*stride], img.Pix[y*img.Stride:(y+1)*img.Stride]
		if f == common {
			decodeCommon(dst, src)
		} else {
			f.decodeRow(dst, src)
		}
	}
	return img, nil
}

// common is what nearly every display has.
var common = pixelFormat{bitsPerPixel: 32, padBits: 32, red: 0xff0000, green: 0xff00, blue: 0xff}

func decodeCommon(dst, src []byte) {
	for len(dst) >= 4 && len(src) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = src[2], src[1], src[0], 255
		dst, src = dst[4:], src[4:]
	}
}

func (f pixelFormat) decodeRow(dst, src []byte) {
	size := f.bitsPerPixel / 8
	for len(dst) >= 4 {
		v := f.pixel(src[:size])
		dst[0], dst[1], dst[2], dst[3] = channel(v, f.red), channel(v, f.green), channel(v, f.blue), 255
		dst, src = dst[4:], src[size:]
	}
}

func (f pixelFormat) pixel(b []byte) uint32 {
	var whole [4]byte
	if f.msbFirst {
		copy(whole[4-len(b):], b)
		return binary.BigEndian.Uint32(whole[:])
	}
	copy(whole[:], b)
	return binary.LittleEndian.Uint32(whole[:])
}

// channel widens the bits under a mask to 8.
func channel(v, mask uint32) uint8 {
	shift := bits.TrailingZeros32(mask)
	most := uint64(mask >> shift)
	return uint8((uint64(v&mask>>shift)*255 + most/2) / most)
}
