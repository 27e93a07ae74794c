package main

import (
	"image"
	"log/slog"

	"github.com/reprise-rpa/reprise/agent/driver/windesktop"
)

var typeModes = map[string]windesktop.TypeMode{
	typeCharacters: windesktop.Unicode, typeScanCodes: windesktop.ScanCodes, typeClipboard: windesktop.Clipboard,
}

func openWindows(s settings, log *slog.Logger) (openedDesktop, error) {
	return windesktop.New(windowsConfig(s, log))
}

func windowsConfig(s settings, log *slog.Logger) windesktop.Config {
	restore := s.RestoreClipboard
	if restore == 0 {
		restore = windesktop.Never
	}
	return windesktop.Config{
		TypeMode: typeModes[s.TypeMode], TypePace: s.TypePace, RestoreClipboard: restore,
		MinSize: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height), Log: log,
	}
}
