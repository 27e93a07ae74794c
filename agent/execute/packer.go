package execute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"sync"
)

// packed is a screenshot as it travels.
type packed struct {
	sha256 string
	png    []byte
}

// pack makes a PNG of a picture that is masked already.
func pack(picture *image.RGBA) (packed, error) {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, picture); err != nil {
		return packed{}, err
	}
	sum := sha256.Sum256(out.Bytes())
	return packed{sha256: hex.EncodeToString(sum[:]), png: out.Bytes()}, nil
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
