package winetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
)

// ParseMonitor reads a monitor written as WxH+X+Y.
func ParseMonitor(s string) (image.Rectangle, error) {
	var w, h, x, y uint16
	_, err := fmt.Sscanf(s, "%dx%d+%d+%d", &w, &h, &x, &y)
	if err != nil || w == 0 || h == 0 || s != fmt.Sprintf("%dx%d+%d+%d", w, h, x, y) {
		return image.Rectangle{}, fmt.Errorf("monitor %q is not WxH+X+Y", s)
	}
	return image.Rect(int(x), int(y), int(x)+int(w), int(y)+int(h)), nil
}

// Encodings of RFB: the raw one, and the pseudo one that tells the layout of screens.
const (
	encodingRaw    = 0
	encodingLayout = -308
)

// SetMonitors asks a server of RFB 3.8 without passwords, such as Xvnc, to have these
// monitors, and returns when it says that it has. The message is SetDesktopSize of the
// RFB protocol's extension ExtendedDesktopSize.
func SetMonitors(rw io.ReadWriter, monitors []image.Rectangle) error {
	whole := image.Rectangle{}
	for _, m := range monitors {
		whole = whole.Union(m.Union(image.Rectangle{Max: m.Max}))
	}
	if whole.Empty() || whole.Max.X > math.MaxUint16 || whole.Max.Y > math.MaxUint16 || len(monitors) > math.MaxUint8 {
		return fmt.Errorf("%d monitors within %v cannot be", len(monitors), whole)
	}
	c := conn{rw: rw}
	pixel := c.greet()
	c.write(uint8(2), uint8(0), uint16(2), int32(encodingRaw), int32(encodingLayout)) // SetEncodings
	wish := []any{uint8(251), uint8(0), uint16(whole.Dx()), uint16(whole.Dy()), uint8(len(monitors)), uint8(0)}
	for i, m := range monitors {
		wish = append(wish, uint32(i+1), uint16(m.Min.X), uint16(m.Min.Y), uint16(m.Dx()), uint16(m.Dy()), uint32(0))
	}
	c.write(wish...)
	for answered := false; !answered && c.err == nil; {
		c.write(uint8(3), uint8(1), uint16(0), uint16(0), uint16(1), uint16(1)) // FramebufferUpdateRequest
		answered = c.answer(pixel)
	}
	if c.err != nil {
		return fmt.Errorf("set %d monitors: %w", len(monitors), c.err)
	}
	return nil
}

// conn is a connection that remembers its first fault.
type conn struct {
	rw  io.ReadWriter
	err error
}

// write sends one message in one piece: Xvnc 1.12 misreads some that arrive in several.
func (c *conn) write(values ...any) {
	var message []byte
	for _, v := range values {
		if c.err == nil {
			message, c.err = binary.Append(message, binary.BigEndian, v)
		}
	}
	if c.err == nil {
		_, c.err = c.rw.Write(message)
	}
}

func (c *conn) read(values ...any) {
	for _, v := range values {
		if c.err == nil {
			c.err = binary.Read(c.rw, binary.BigEndian, v)
		}
	}
}

func (c *conn) skip(n int64) {
	if c.err == nil {
		_, c.err = io.CopyN(io.Discard, c.rw, n)
	}
}

func (c *conn) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// greet opens the conversation, and returns how many bytes a pixel has.
func (c *conn) greet() int64 {
	var version [12]byte
	var n uint8
	c.read(&version)
	c.write([]byte("RFB 003.008\n"))
	c.read(&n)
	kinds := make([]byte, n)
	c.read(kinds)
	const none = 1
	if c.err == nil && !contains(kinds, none) {
		c.fail("%q asks for a password", version[:11])
	}
	var result uint32
	c.write(uint8(none))
	c.read(&result)
	if c.err == nil && result != 0 {
		c.fail("refused with %d", result)
	}
	var width, height uint16
	var format [16]byte
	var name uint32
	c.write(uint8(1)) // shared with others
	c.read(&width, &height, &format, &name)
	c.skip(int64(name))
	return int64(format[0] / 8)
}

func contains(list []byte, b byte) bool {
	for _, v := range list {
		if v == b {
			return true
		}
	}
	return false
}

// answer reads one message, and says whether it answers our wish.
func (c *conn) answer(pixel int64) (answered bool) {
	var kind uint8
	if c.read(&kind); c.err != nil {
		return false
	}
	switch kind {
	case 0: // FramebufferUpdate
		var pad uint8
		var rects uint16
		c.read(&pad, &rects)
		for range rects {
			answered = c.rect(pixel) || answered
			if c.err != nil {
				return false
			}
		}
	case 1: // SetColourMapEntries
		var head struct {
			Pad           uint8
			First, Number uint16
		}
		c.read(&head)
		c.skip(int64(head.Number) * 6)
	case 2: // Bell
	case 3: // ServerCutText
		var head struct {
			Pad  [3]byte
			Size uint32
		}
		c.read(&head)
		c.skip(int64(head.Size))
	default:
		c.fail("message %d is unknown", kind)
	}
	return answered
}

var refusals = map[uint16]error{
	1: errors.New("it is prohibited"), 2: errors.New("no room for it"), 3: errors.New("the layout is invalid"),
}

func (c *conn) rect(pixel int64) (answered bool) {
	var head struct {
		X, Y, W, H uint16
		Encoding   int32
	}
	c.read(&head)
	switch head.Encoding {
	case encodingRaw:
		c.skip(int64(head.W) * int64(head.H) * pixel)
	case encodingLayout:
		var screens struct {
			N   uint8
			Pad [3]byte
		}
		c.read(&screens)
		c.skip(int64(screens.N) * 16)
		const ourWish = 1 // X is whose change it is, and Y what became of it
		if head.X == ourWish && head.Y != 0 {
			if err, known := refusals[head.Y]; known {
				c.fail("refused: %w", err)
			}
			c.fail("refused with %d", head.Y)
		}
		return head.X == ourWish
	default:
		c.fail("encoding %d is unknown", head.Encoding)
	}
	return false
}
