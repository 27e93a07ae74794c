package winetest

import (
	"fmt"
	"image"
	"io"
	"log"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// SetPrimary makes the monitor with these bounds the primary one of an X display.
func SetPrimary(display string, bounds image.Rectangle) error {
	xgb.Logger = log.New(io.Discard, "", 0) // it warns of a missing Xauthority, which nobody needs here
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		return fmt.Errorf("open display %q: %w", display, err)
	}
	defer c.Close()
	if err = randr.Init(c); err != nil {
		return fmt.Errorf("display %s: %w", display, err)
	}
	root := xproto.Setup(c).DefaultScreen(c).Root
	resources, err := randr.GetScreenResources(c, root).Reply()
	if err != nil {
		return fmt.Errorf("read the monitors of %s: %w", display, err)
	}
	for _, output := range resources.Outputs {
		info, err := randr.GetOutputInfo(c, output, resources.ConfigTimestamp).Reply()
		if err != nil || info.Crtc == 0 {
			continue
		}
		crtc, err := randr.GetCrtcInfo(c, info.Crtc, resources.ConfigTimestamp).Reply()
		if err != nil {
			continue
		}
		at := image.Pt(int(crtc.X), int(crtc.Y))
		if (image.Rectangle{Min: at, Max: at.Add(image.Pt(int(crtc.Width), int(crtc.Height)))}) != bounds {
			continue
		}
		if err = randr.SetOutputPrimaryChecked(c, root, output).Check(); err != nil {
			return fmt.Errorf("make %s primary: %w", info.Name, err)
		}
		return nil
	}
	return fmt.Errorf("display %s has no monitor at %v", display, bounds)
}
