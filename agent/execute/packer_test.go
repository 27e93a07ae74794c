package execute

import (
	"image"
	"image/color"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestAScreenThatHasNotChangedIsNotPackedAgain(t *testing.T) {
	var p packer
	screen := image.NewRGBA(image.Rect(-2, 0, 2, 3))
	first, err := p.pack(screen)
	if err != nil {
		t.Fatal(err)
	}
	same := image.NewRGBA(screen.Rect)
	if again, _ := p.pack(same); &again.png[0] != &first.png[0] {
		t.Error("an equal screen was packed anew")
	}
	same.SetRGBA(0, 0, color.RGBA{255, 0, 0, 255})
	changed, err := p.pack(same)
	if err != nil || changed.sha256 == first.sha256 {
		t.Errorf("a changed screen: %v", err)
	}
	moved := image.NewRGBA(image.Rect(0, 0, 3, 4)) // as many pixels
	if other, _ := p.pack(moved); other.sha256 == changed.sha256 {
		t.Error("a screen of another size has the same picture")
	}
}

func TestAScreenThatStandsStillIsPackedAheadAndOnce(t *testing.T) {
	var p packer
	screen := image.NewRGBA(image.Rect(0, 0, 4, 3))
	p.ahead(screen)
	ready := p.last
	same := image.NewRGBA(screen.Rect)
	if named, err := p.pack(same); err != nil || len(ready.png) == 0 || &named.png[0] != &ready.png[0] {
		t.Errorf("what was packed ahead was packed again: %v, %d bytes were ready", err, len(ready.png))
	}
}

// It is packed in a goroutine of its own, where a panic would end the process.
func TestAPictureThatCannotBePackedAheadCostsNoAction(t *testing.T) {
	r := &run{Executor: New(Config{})}
	broken := image.NewRGBA(image.Rect(0, 0, 4, 3))
	broken.Pix = make([]byte, 8)
	r.ahead(shot{Picture: driver.Picture{Image: broken, Method: driver.MethodScreen}})
	if r.packer.picture != nil {
		t.Error("a picture that could not be packed counts as packed")
	}
}
