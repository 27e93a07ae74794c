//go:build unix

package main

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"

	"github.com/reprise-rpa/reprise/agent/driver/x11desktop"
)

// checkDisplay refuses what no display is. Without one the environment decides, once the
// display is opened.
func checkDisplay(s settings) error {
	if s.Driver != driverX11 || s.Display == "" {
		return nil
	}
	if err := x11desktop.CheckDisplay(s.Display); err != nil {
		return fmt.Errorf("display: %w", err)
	}
	return nil
}

// checkDriver refuses what this build can't drive.
func checkDriver(s settings) error {
	if s.Driver == driverWindows || s.Driver == driverSession {
		return fmt.Errorf("%w: driver %s is for Windows; this build drives X displays and the virtual desktop (--driver x11, --driver virtual)", errSettings, s.Driver)
	}
	return nil
}

// errNoDisplay says that nobody names a display.
var errNoDisplay = errors.New("there is no display to drive: --display or DISPLAY of the environment is needed")

func openX11(s settings, log *slog.Logger) (openedDesktop, error) {
	if s.Display == "" && os.Getenv("DISPLAY") == "" {
		return nil, errNoDisplay
	}
	return x11desktop.New(x11desktop.Config{
		Display: s.Display, MinSize: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height), Log: log,
	})
}

// defaultDriver is what there is to drive on this system.
const defaultDriver = driverX11
