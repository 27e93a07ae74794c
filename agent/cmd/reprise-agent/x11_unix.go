//go:build unix

package main

import (
	"image"
	"log/slog"

	"github.com/reprise-rpa/reprise/agent/driver/x11desktop"
)

func openX11(s settings, log *slog.Logger) (openedDesktop, error) {
	return x11desktop.New(x11desktop.Config{
		Display: s.Display, MinSize: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height), Log: log,
	})
}

// defaultDriver is what there is to drive on this system.
const defaultDriver = driverX11
