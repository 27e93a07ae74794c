package helper

import (
	"bytes"
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

func TestAPictureArrivesPixelByPixel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		corner := image.Pt(rapid.IntRange(-5000, 5000).Draw(t, "x"), rapid.IntRange(-5000, 5000).Draw(t, "y"))
		whole := image.NewRGBA(image.Rect(0, 0, rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 90).Draw(t, "h")).Add(corner))
		for i := range whole.Pix {
			whole.Pix[i] = byte(i*31 ^ i>>8)
		}
		cut := whole.SubImage(image.Rectangle{
			Min: corner.Add(image.Pt(rapid.IntRange(0, whole.Rect.Dx()-1).Draw(t, "left"), rapid.IntRange(0, whole.Rect.Dy()-1).Draw(t, "top"))),
			Max: whole.Rect.Max,
		}).(*image.RGBA)
		in := driver.Picture{Image: cut, Taken: time.Now().Round(0), Method: driver.MethodWindow, Note: string(rapid.SliceOf(rapid.Byte()).Draw(t, "note"))}
		var g gathering
		c, first := newCodec(), true
		if err := sendPicture(in, func(p any) error {
			data, err := c.Marshal(p)
			if err != nil {
				return err
			}
			to := part{into: &g}
			if first {
				to.into = nil
			}
			if err := c.Unmarshal(data, &to); err != nil || !first {
				return err
			}
			first = false
			return g.begin(to.what.GetPicture())
		}); err != nil {
			t.Fatal(err)
		}
		got, err := g.end()
		if err != nil {
			t.Fatal(err)
		}
		for y := cut.Rect.Min.Y; y < cut.Rect.Max.Y; y++ {
			for x := cut.Rect.Min.X; x < cut.Rect.Max.X; x++ {
				if got.Image.RGBAAt(x, y) != cut.RGBAAt(x, y) {
					t.Fatalf("the pixel at %d,%d is %v, was %v", x, y, got.Image.RGBAAt(x, y), cut.RGBAAt(x, y))
				}
			}
		}
		got.Image, in.Image = nil, nil
		if diff := cmp.Diff(in, got); diff != "" {
			t.Fatalf("(-in +out):\n%s", diff)
		}
	})
}

// What is sent for pixels is the message of the schema, and what is received may be one.
func TestPixelsAreTheMessageOfTheSchema(t *testing.T) {
	c, want := newCodec(), []byte("eight by")
	data, err := c.Marshal(pixels(want))
	if err != nil {
		t.Fatal(err)
	}
	var got helperv1.CaptureResponse
	if err := proto.Unmarshal(data.Materialize(), &got); err != nil || !bytes.Equal(got.GetPixels(), want) {
		t.Errorf("%v, %v", &got, err)
	}
	raw, err := proto.Marshal(&helperv1.CaptureResponse{Response: &helperv1.CaptureResponse_Pixels{Pixels: want}})
	if err != nil {
		t.Fatal(err)
	}
	g := gathering{picture: driver.Picture{Image: image.NewRGBA(image.Rect(0, 0, 2, 1))}}
	if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, &part{into: &g}); err != nil || !bytes.Equal(g.picture.Image.Pix, want) {
		t.Errorf("%q, %v", g.picture.Image.Pix, err)
	}
	for cut := range raw { // a part that is short is no part
		g := gathering{picture: driver.Picture{Image: image.NewRGBA(image.Rect(0, 0, 2, 1))}}
		p := part{into: &g}
		if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw[:cut])}, &p); err == nil && p.what == nil {
			t.Errorf("%d bytes of %d are taken", cut, len(raw))
		}
	}
}

func TestAPictureThatIsNotWholeIsNone(t *testing.T) {
	about := func(r image.Rectangle) *helperv1.Picture { return &helperv1.Picture{Bounds: encodeRectangle(r)} }
	for name, r := range map[string]image.Rectangle{
		"no picture": {}, "none": image.Rect(5, 5, 5, 9), "inside out": {Min: image.Pt(9, 9), Max: image.Pt(1, 1)},
		"too wide": image.Rect(0, 0, maxSide+1, 1), "too large": image.Rect(0, 0, 1<<15, 1<<15),
	} {
		var g gathering
		if err := g.begin(about(r)); err == nil {
			t.Errorf("%s: a picture of %v is begun", name, r)
		}
	}
	var g gathering
	if err := g.begin(nil); err == nil {
		t.Error("a picture that does not say what it is is begun")
	}
	if err := g.begin(about(image.Rect(-2, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []int{0, 33} {
		if err := g.add(bytes.NewReader(make([]byte, wrong)), wrong); err == nil {
			t.Errorf("%d bytes fit into 32", wrong)
		}
	}
	if err := g.add(bytes.NewReader(make([]byte, 31)), 31); err != nil {
		t.Fatal(err)
	}
	if _, err := g.end(); err == nil {
		t.Error("31 bytes of 32 are whole")
	}
	for _, wrong := range []driver.Picture{{}, {Image: &image.RGBA{}}} {
		err := sendPicture(wrong, func(p any) error {
			if r, ok := p.(*helperv1.CaptureResponse); !ok || r.GetFault() == nil {
				t.Errorf("%v is sent as %v", wrong, p)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
