package helper

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// Do performs one gesture; see Desktop.
func (d *Desktop) Do(ctx context.Context, in driver.Input) error {
	if err := take(ctx, d.hands); err != nil {
		return &driver.InputError{Err: err}
	}
	defer give(d.hands)
	if d.standing() != nil {
		return &driver.InputError{Err: driver.ErrStopped}
	}
	l, err := d.helper()
	if err != nil {
		return &driver.InputError{Err: err}
	}
	return l.do(ctx, in)
}

// Release lets go of everything.
func (d *Desktop) Release(ctx context.Context) error {
	l, err := d.helper()
	if err == nil {
		_, err = ask(ctx, l, helperv1.HelperServiceClient.Release, &helperv1.ReleaseRequest{})
	}
	return err
}

// State says whether the desktop can take input.
func (d *Desktop) State(ctx context.Context) (desktop.State, error) {
	l, state := d.now()
	if l == nil {
		return state, nil
	}
	got, err := ask(ctx, l, helperv1.HelperServiceClient.State, &helperv1.StateRequest{})
	switch {
	case err == nil:
		return desktop.State{Kind: desktop.Kind(got.GetKind()), Detail: string(got.GetDetail())}, nil
	case errors.Is(err, ErrEnded):
		return desktop.State{Kind: desktop.Disconnected, Detail: err.Error()}, nil
	}
	return desktop.State{}, err
}

// Monitors returns the monitors.
func (d *Desktop) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	l, err := d.helper()
	if err != nil {
		return nil, err
	}
	got, err := ask(ctx, l, helperv1.HelperServiceClient.Monitors, &helperv1.MonitorsRequest{})
	if err != nil {
		return nil, err
	}
	return decodeMonitors(got.GetMonitors()), nil
}

// Windows returns the visible windows.
func (d *Desktop) Windows(ctx context.Context) ([]driver.Window, error) {
	l, err := d.helper()
	if err != nil {
		return nil, err
	}
	got, err := ask(ctx, l, helperv1.HelperServiceClient.Windows, &helperv1.WindowsRequest{})
	if err != nil {
		return nil, err
	}
	return decodeWindows(got.GetWindows()), nil
}

// Capture takes a picture of the whole virtual desktop.
func (d *Desktop) Capture(ctx context.Context) (driver.Picture, error) {
	return d.capture(ctx, &helperv1.CaptureRequest{})
}

// CaptureWindow takes a picture of one window.
func (d *Desktop) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	return d.capture(ctx, &helperv1.CaptureRequest{WindowId: []byte(id)})
}

func (d *Desktop) capture(ctx context.Context, req *helperv1.CaptureRequest) (driver.Picture, error) {
	l, err := d.helper()
	if err != nil {
		return driver.Picture{}, err
	}
	return l.capture(ctx, req)
}

// Elements returns the elements below a window.
func (d *Desktop) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	l, err := d.helper()
	if err != nil {
		return nil, err
	}
	if !l.elements {
		return nil, fmt.Errorf("no tree of elements: %w", driver.ErrUnsupported)
	}
	got, err := ask(ctx, l, helperv1.HelperServiceClient.Elements, &helperv1.ElementsRequest{
		WindowId: []byte(windowID), Element: encodeElement(e),
	})
	if err != nil {
		return nil, err
	}
	return decodeFound(got.GetFound()), nil
}
