package windesktop

import (
	"context"
	"image"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// eyes look at the desktop of a Windows user. They decide what is there from what
// Windows says. Their methods may be called concurrently.
type eyes struct {
	system   eyesSystem
	least    image.Point   // smallest usable primary monitor; zero: any
	painting chan struct{} // holds something while a window is asked to draw itself
}

var (
	_ driver.Eyes       = (*eyes)(nil)
	_ driver.WindowEyes = (*eyes)(nil)
)

func newEyes(system eyesSystem, least image.Point) *eyes {
	return &eyes{system: system, least: least, painting: make(chan struct{}, 1)}
}

// stopped is why a look must not begin, or its result not be used.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
