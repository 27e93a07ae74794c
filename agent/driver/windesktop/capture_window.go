package windesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// paintBound is how long a window has to draw itself.
const paintBound = 2 * time.Second

// Why a window is cut from the screen instead; each is a note for people.
var (
	errBlank   = errors.New("the window did not draw itself")
	errRefused = errors.New("the system could not have the window draw itself")
	errSlow    = errors.New("the window did not draw itself in time")
)

// CaptureWindow implements driver.WindowEyes. It waits for no program for long: a
// window that does not draw itself within 2 s is cut from the screen.
func (e *eyes) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	if err := stopped(ctx); err != nil {
		return driver.Picture{}, err
	}
	w, _, err := e.onScreen(id)
	if err != nil {
		return driver.Picture{}, err
	}
	p, why := e.paint(ctx, w)
	switch err = stopped(ctx); {
	case err != nil:
		return driver.Picture{}, err
	case why == nil:
		return p, nil
	}
	return e.crop(ctx, id, why)
}

// crop cuts a window from the screen: where it is now, since it may have moved.
func (e *eyes) crop(ctx context.Context, id string, why error) (driver.Picture, error) {
	_, parts, err := e.onScreen(id)
	if err != nil {
		return driver.Picture{}, err
	}
	p, err := e.screen(ctx, parts)
	if err != nil {
		return driver.Picture{}, err
	}
	p.Method = driver.MethodScreenCrop
	p.Note = strings.TrimSuffix(why.Error()+"; "+p.Note, "; ")
	return p, nil
}

// onScreen returns a window and what of it monitors show.
func (e *eyes) onScreen(id string) (winapi.Window, []image.Rectangle, error) {
	w, err := e.find(id)
	if err != nil {
		return winapi.Window{}, nil, err
	}
	monitors, err := e.monitors()
	if err != nil {
		return winapi.Window{}, nil, err
	}
	parts := clip(areas(monitors), w.Bounds)
	if len(parts) == 0 {
		return winapi.Window{}, nil, fmt.Errorf("window %q at %v: %w", id, w.Bounds, driver.ErrOffScreen)
	}
	return w, parts, nil
}

// painted is how a window drew itself.
type painted struct {
	img   *image.RGBA
	taken time.Time
	err   error
}

// paint has a window draw itself. The window's own program does that, and Windows
// waits for it without end: one call at a time waits apart, and is left behind when
// it takes too long. It ends when the program answers or dies.
func (e *eyes) paint(ctx context.Context, w winapi.Window) (driver.Picture, error) {
	if e.system.Hung(w.HWND) {
		return driver.Picture{}, winapi.ErrHung
	}
	bound := time.NewTimer(paintBound)
	defer bound.Stop()
	select {
	case e.painting <- struct{}{}:
	case <-bound.C:
		return driver.Picture{}, errSlow
	case <-ctx.Done():
		return driver.Picture{}, context.Cause(ctx)
	}
	done := make(chan painted, 1)
	go func() {
		img, err := safely(func() (*image.RGBA, error) { return e.system.CaptureWindow(w.HWND) })
		done <- painted{img, time.Now(), err}
		<-e.painting
	}()
	select {
	case p := <-done:
		return p.picture()
	case <-bound.C:
		return driver.Picture{}, errSlow
	case <-ctx.Done():
		return driver.Picture{}, context.Cause(ctx)
	}
}

// picture is the drawing, if it is one. It lies where Windows says that the window
// is, wherever it was before.
func (p painted) picture() (driver.Picture, error) {
	switch {
	case errors.Is(p.err, winapi.ErrHung):
		return driver.Picture{}, winapi.ErrHung
	case p.err != nil:
		return driver.Picture{}, errRefused
	case vision.Uniform(p.img):
		return driver.Picture{}, errBlank
	}
	return driver.Picture{Image: p.img, Taken: p.taken, Method: driver.MethodWindow}, nil
}
