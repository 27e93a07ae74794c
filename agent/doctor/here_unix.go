//go:build unix

package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver/x11desktop"
	"github.com/reprise-rpa/reprise/agent/service"
)

// here is a system without a desktop of Windows, with an X display where that is driven.
type here struct {
	disk
	name string             // of the display
	desk *x11desktop.Driver // nil: none is driven
	lost error              // why there is none, though it is to be driven
}

// errNoDisplay says that nobody names an X display.
var errNoDisplay = errors.New("no display is named")

// NewLocal returns this machine, for Close.
func NewLocal(s Settings) (*Local, error) {
	if s.Driver != driverX11 {
		return &Local{}, nil
	}
	h := here{name: cmp.Or(s.Display, os.Getenv("DISPLAY"))}
	if h.name == "" {
		h.lost = errNoDisplay
		return &Local{here: h}, nil
	}
	h.desk, h.lost = x11desktop.New(x11desktop.Config{Display: h.name, MinSize: s.MinDisplay})
	return &Local{here: h}, nil
}

// Close gives up what was opened.
func (l *Local) Close() error {
	if l.desk == nil {
		return nil
	}
	return l.desk.Close()
}

// Desktop implements ScreenFacts. A display that can't be reached is a disconnected
// desktop, as the driver has it.
func (h here) Desktop(ctx context.Context) (Desktop, error) {
	switch {
	case h.lost != nil:
		return Desktop{State: desktop.State{Kind: desktop.Disconnected, Detail: h.lost.Error()}}, nil //nolint:nilerr // that is the state
	case h.desk == nil:
		return Desktop{}, ErrNotHere
	}
	state, err := h.desk.State(ctx)
	return Desktop{Input: h.name, State: state}, err
}

// Display implements ScreenFacts.
func (h here) Display(ctx context.Context) (Display, error) {
	switch {
	case h.lost != nil:
		return Display{}, h.lost
	case h.desk == nil:
		return Display{}, ErrNotHere
	}
	monitors, err := h.desk.Monitors(ctx)
	return Display{Monitors: monitors}, err
}

// Service implements MachineFacts.
func (here) Service() (service.Info, error) { return service.Info{}, ErrNotHere }

// Sessions implements MachineFacts.
func (here) Sessions(context.Context, string) (Sessions, error) { return Sessions{}, ErrNotHere }

// LockPolicy implements MachineFacts.
func (here) LockPolicy() (LockPolicy, error) { return LockPolicy{}, ErrNotHere }

// Power implements MachineFacts.
func (here) Power() (Power, error) { return Power{}, ErrNotHere }

// Windows implements ScreenFacts.
func (here) Windows(context.Context) (Windows, error) { return Windows{}, ErrNotHere }

// Automation implements ScreenFacts.
func (here) Automation(context.Context) error { return ErrNotHere }

// Signs implements ScreenFacts.
func (here) Signs() (Signs, error) { return Signs{}, ErrNotHere }

// TryInput implements ScreenFacts.
func (here) TryInput(context.Context) (Tried, error) { return Tried{}, ErrNotHere }
