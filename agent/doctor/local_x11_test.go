//go:build x11

package doctor

import (
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
)

func TestADisplayIsLookedAtAsTheDriverSeesIt(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "800x600x24")
	l := onDisplay(t, display)
	if d, err := l.Desktop(t.Context()); err != nil || !d.State.Usable() || d.Input != display {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := l.Display(t.Context()); err != nil || len(d.Monitors) != 1 || d.Monitors[0].Bounds != image.Rect(0, 0, 800, 600) {
		t.Errorf("%+v, %v", d, err)
	}
}
