package helper

import (
	"errors"
	"fmt"
	"image"
	"io"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

const (
	// maxSide is the longest side of a picture in pixels, and maxPicture its greatest
	// size in bytes: more than any desktop has, and what memory is there for.
	maxSide    = 1 << 16
	maxPicture = 1 << 30
	pixelSize  = 4 // bytes of a pixel of image.RGBA
)

// checkBounds says whether a picture can be of that size.
func checkBounds(b image.Rectangle) error {
	w, h := b.Dx(), b.Dy()
	switch {
	case w <= 0 || h <= 0:
		return fmt.Errorf("a picture of %v has no pixels", b)
	case w > maxSide || h > maxSide || int64(w)*int64(h) > maxPicture/pixelSize:
		return fmt.Errorf("a picture of %d×%d pixels is too large", w, h)
	}
	return nil
}

// sendPicture sends a picture in parts: a CaptureResponse, and then pixels.
func sendPicture(p driver.Picture, send func(any) error) error {
	err := errors.New("the driver brought no picture")
	if p.Image != nil {
		err = checkBounds(p.Image.Bounds())
	}
	if err != nil {
		return send(&helperv1.CaptureResponse{Response: &helperv1.CaptureResponse_Fault{Fault: encodeFault(err)}})
	}
	b := p.Image.Bounds()
	about := &helperv1.Picture{
		Bounds: encodeRectangle(b), Taken: timestamppb.New(p.Taken), Method: valid(p.Method), Note: []byte(p.Note),
	}
	if err := send(&helperv1.CaptureResponse{Response: &helperv1.CaptureResponse_Picture{Picture: about}}); err != nil {
		return err
	}
	for rest := packed(p.Image); len(rest) > 0; {
		n := min(partSize, len(rest))
		if err := send(pixels(rest[:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// packed is the picture's pixels, row after row without gaps. They are the picture's
// own if it has no gaps.
func packed(m *image.RGBA) []byte {
	b := m.Bounds()
	row := b.Dx() * pixelSize
	first := m.PixOffset(b.Min.X, b.Min.Y)
	if m.Stride == row {
		return m.Pix[first : first+row*b.Dy()]
	}
	out := make([]byte, 0, row*b.Dy())
	for y := range b.Dy() {
		at := first + y*m.Stride
		out = append(out, m.Pix[at:at+row]...)
	}
	return out
}

// gathering is a picture whose parts arrive.
type gathering struct {
	picture driver.Picture
	filled  int // bytes of its pixels
}

// begin takes what the picture is.
func (g *gathering) begin(p *helperv1.Picture) error {
	if p == nil {
		return errors.New("the picture does not begin with what it is")
	}
	b := decodeRectangle(p.GetBounds())
	if err := checkBounds(b); err != nil {
		return err
	}
	g.picture = driver.Picture{
		Image: image.NewRGBA(b), Taken: p.GetTaken().AsTime().Local(), Method: p.GetMethod(), Note: string(p.GetNote()),
	}
	return nil
}

// add takes the next n bytes.
func (g *gathering) add(from io.Reader, n int) error {
	rest := g.picture.Image.Pix[g.filled:]
	if n <= 0 || n > len(rest) {
		return fmt.Errorf("a part of %d bytes of a picture that lacks %d", n, len(rest))
	}
	read, err := io.ReadFull(from, rest[:n])
	g.filled += read
	return err
}

// end returns the picture if it is whole.
func (g *gathering) end() (driver.Picture, error) {
	if lacks := len(g.picture.Image.Pix) - g.filled; lacks > 0 {
		return driver.Picture{}, fmt.Errorf("the picture is short of %d bytes", lacks)
	}
	return g.picture, nil
}
