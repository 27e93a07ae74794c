//go:build !unix

package main

import (
	"errors"
	"log/slog"
)

// defaultDriver is what there is to drive on this system.
const defaultDriver = driverWindows

// errNoX11 says that there is no X display to drive.
var errNoX11 = errors.New("driver x11 is for Unix; this build drives windows and the virtual desktop (--driver windows, --driver virtual)")

func checkDisplay(s settings) error {
	if s.Driver == driverX11 {
		return errNoX11
	}
	return nil
}

// checkDriver has nothing to refuse that checkDisplay does not.
func checkDriver(settings) error { return nil }

func openX11(settings, *slog.Logger) (openedDesktop, error) { return nil, errNoX11 }
