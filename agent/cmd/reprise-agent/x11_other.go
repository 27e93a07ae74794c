//go:build !unix

package main

import (
	"errors"
	"log/slog"
)

// errNoX11 says that there is no X display to drive.
var errNoX11 = errors.New("driver x11 is for Unix; this build drives the virtual desktop alone (--driver virtual)")

func openX11(settings, *slog.Logger) (openedDesktop, error) { return nil, errNoX11 }
