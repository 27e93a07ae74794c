package windesktop

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// blankPause is the pause before a picture of one colour is taken again: some
// frames, since a screen that switches its mode is black for that long.
const blankPause = 50 * time.Millisecond

// Capture implements driver.Eyes. Layered windows show. What no monitor shows is
// black.
func (e *eyes) Capture(ctx context.Context) (driver.Picture, error) {
	if err := stopped(ctx); err != nil {
		return driver.Picture{}, err
	}
	monitors, err := e.monitors()
	if err != nil {
		return driver.Picture{}, err
	}
	p, err := e.screen(ctx, areas(monitors))
	p.Method = driver.MethodScreen
	return p, err
}

// screen takes a picture that spans some parts of the virtual desktop, which are all
// of it that monitors show. One of one colour is taken again once, and then says so.
func (e *eyes) screen(ctx context.Context, parts []image.Rectangle) (driver.Picture, error) {
	if len(parts) == 0 {
		return driver.Picture{}, fmt.Errorf("capture: the desktop has no monitor: %w", driver.ErrUnavailable)
	}
	p, err := e.frame(ctx, parts)
	if err != nil || !oneColour(p.Image, parts) {
		return p, err
	}
	if err = wait.For(ctx, blankPause); err != nil {
		return driver.Picture{}, err
	}
	p, err = e.frame(ctx, parts)
	if err == nil && oneColour(p.Image, parts) {
		p.Note = driver.NoteOneColour
	}
	return p, err
}

func (e *eyes) frame(ctx context.Context, parts []image.Rectangle) (driver.Picture, error) {
	area := span(parts)
	img, err := e.system.CaptureScreen(area)
	taken := time.Now()
	if why := stopped(ctx); why != nil {
		return driver.Picture{}, why
	}
	if err != nil {
		return driver.Picture{}, e.refused(ctx, err)
	}
	for _, hole := range holes(area, parts) {
		draw.Draw(img, hole, image.Black, image.Point{}, draw.Src)
	}
	return driver.Picture{Image: img, Taken: taken}, nil
}

// refused is the error of a screen that can't be had, with the desktop's state if
// that explains it.
func (e *eyes) refused(ctx context.Context, err error) error {
	state, unknown := e.State(ctx)
	if unknown != nil || state.Usable() {
		return fmt.Errorf("capture: %w", err)
	}
	return fmt.Errorf("capture: %w (%s: %s): %w", driver.ErrUnavailable, state.Kind, state.Detail, err)
}

// oneColour says whether all parts of a picture have one and the same colour.
func oneColour(img *image.RGBA, parts []image.Rectangle) bool {
	first := img.RGBAAt(parts[0].Min.X, parts[0].Min.Y)
	for _, part := range parts {
		if img.RGBAAt(part.Min.X, part.Min.Y) != first || !vision.Uniform(img.SubImage(part).(*image.RGBA)) {
			return false
		}
	}
	return true
}
