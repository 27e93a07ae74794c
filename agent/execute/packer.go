package execute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"sync"

	"github.com/reprise-rpa/reprise/agent/vision"
)

// packed is a screenshot as it travels.
type packed struct {
	sha256 string
	png    []byte
	note   string // what is odd about it, for people
}

// packer makes PNGs. It remembers the last one: the screen before an action is
// mostly the screen after the one before it, and packing a large screen costs
// more than all the rest of a click.
type packer struct {
	mu    sync.Mutex
	frame *image.RGBA
	last  packed
}

// ahead packs a frame that pack is probably asked for next: the report does not
// wait for the packing when the screen stands still. A fault shows in pack.
func (p *packer) ahead(frame *image.RGBA) { _, _ = p.pack(frame) }

func (p *packer) pack(frame *image.RGBA) (packed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frame != nil && p.frame.Rect == frame.Rect && bytes.Equal(p.frame.Pix, frame.Pix) {
		return p.last, nil
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, frame); err != nil {
		return packed{}, err
	}
	sum := sha256.Sum256(out.Bytes())
	fresh := packed{sha256: hex.EncodeToString(sum[:]), png: out.Bytes()}
	if vision.Uniform(frame) {
		fresh.note = "the picture is of one colour: the desktop may not have been drawn"
	}
	p.frame, p.last = frame, fresh
	return fresh, nil
}
