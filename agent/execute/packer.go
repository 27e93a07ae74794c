package execute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"sync"

	"golang.org/x/image/draw"
)

// packed is a screenshot as it travels.
type packed struct {
	sha256 string
	png    []byte
	size   image.Point // in its own pixels
}

// mostShrunk is how many pixels of the screen one of a picture may stand for: a text is
// not read on one that is smaller yet.
const mostShrunk = 4

// fit packs a picture, shrunk as far as it must be for the server to take it. The scale is
// how many pixels of the screen one of its own stands for.
func fit(picture *image.RGBA, d delivery) (p packed, scale int, err error) {
	p, err = d.pack(picture)
	for scale = 1; err == nil && d.most > 0 && int64(len(p.png)) > d.most && scale < mostShrunk; scale *= 2 {
		picture = half(picture)
		p, err = pack(picture)
	}
	return p, scale, err
}

// half returns a picture of half the size. A row or column that is left over at the lower
// or right edge is dropped, so that each pixel stands for two by two.
func half(from *image.RGBA) *image.RGBA {
	size := from.Rect.Size().Div(2)
	to := image.NewRGBA(image.Rectangle{Max: image.Pt(max(size.X, 1), max(size.Y, 1))})
	draw.BiLinear.Scale(to, to.Rect, from, image.Rectangle{Min: from.Rect.Min, Max: from.Rect.Min.Add(to.Rect.Max.Mul(2))}, draw.Src, nil)
	return to
}

// pack makes a PNG of a picture that is masked already.
func pack(picture *image.RGBA) (packed, error) {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, picture); err != nil {
		return packed{}, err
	}
	sum := sha256.Sum256(out.Bytes())
	return packed{hex.EncodeToString(sum[:]), out.Bytes(), picture.Rect.Size()}, nil
}

// packer makes PNGs. It remembers the last one: the screen before an action is
// mostly the screen after the one before it, and packing a large screen costs
// more than all the rest of a click. What it remembers is masked, so that a
// picture with other masks is another one.
type packer struct {
	mu      sync.Mutex
	picture *image.RGBA
	last    packed
}

// ahead packs a picture that pack is probably asked for next: the report does not
// wait for the packing when the screen stands still. A fault shows in pack.
func (p *packer) ahead(picture *image.RGBA) { _, _ = p.pack(picture) }

func (p *packer) pack(picture *image.RGBA) (packed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.picture != nil && p.picture.Rect == picture.Rect && bytes.Equal(p.picture.Pix, picture.Pix) {
		return p.last, nil
	}
	fresh, err := pack(picture)
	if err != nil {
		return packed{}, err
	}
	p.picture, p.last = picture, fresh
	return fresh, nil
}
