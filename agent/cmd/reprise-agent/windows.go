package main

import (
	"errors"
	"log/slog"

	"github.com/reprise-rpa/reprise/agent/driver/windesktop"
	"github.com/reprise-rpa/reprise/agent/helper"
	"github.com/reprise-rpa/reprise/agent/person"
)

var typeModes = map[string]windesktop.TypeMode{
	typeCharacters: windesktop.Unicode, typeScanCodes: windesktop.ScanCodes, typeClipboard: windesktop.Clipboard,
}

// guarded is a desktop and the guard around it.
type guarded struct {
	*person.Guard
	desktop *windesktop.Driver
}

// Close ends what watches, and then the desktop.
func (g guarded) Close() error { return errors.Join(g.Guard.Close(), g.desktop.Close()) }

// openInSession opens the desktop of the user that this process runs as, with the
// person at it.
func openInSession(s helper.Settings, log *slog.Logger) (openedDesktop, error) {
	desktop, err := windesktop.New(windowsConfig(s, log))
	if err != nil {
		return nil, err
	}
	guard, err := person.New(person.Config{Driver: desktop, Settings: personSettings(s), Log: log})
	if err != nil {
		return nil, errors.Join(err, desktop.Close())
	}
	return guarded{guard, desktop}, nil
}

func windowsConfig(s helper.Settings, log *slog.Logger) windesktop.Config {
	restore := s.RestoreClipboard
	if restore == 0 {
		restore = windesktop.Never
	}
	return windesktop.Config{
		TypeMode: typeModes[s.TypeMode], TypePace: s.TypePace, RestoreClipboard: restore, PasteKeys: s.PasteKeys,
		MinSize: s.MinDisplay, Log: log,
	}
}

func personSettings(s helper.Settings) person.Settings {
	return person.Settings{StopKey: s.StopKey, OwnInput: s.OwnInput, Language: s.Language}
}
