package doctor

import (
	"context"
	"errors"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/windesktop"
	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/supervise"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// here is a Windows.
type here struct {
	disk
	system winapi.System
	aware  string // of DPI
	desk   *windesktop.Driver
}

var (
	_ registry      = winapi.System{}
	_ powerSettings = winapi.System{}
)

// NewLocal returns this machine, for Close. It becomes aware of DPI, so no window may
// have been made before.
func NewLocal(s Settings) (*Local, error) {
	desk, err := windesktop.New(windesktop.Config{MinSize: s.MinDisplay})
	if err != nil {
		return nil, err
	}
	return &Local{here: here{aware: winapi.System{}.Awareness(), desk: desk}}, nil
}

// Close gives up what was opened.
func (l *Local) Close() error { return l.desk.Close() }

// Service implements MachineFacts.
func (here) Service() (service.Info, error) {
	s, err := service.ConnectToLook()
	if err != nil {
		return service.Info{}, err
	}
	info, err := s.Status()
	return info, errors.Join(err, s.Close())
}

// Sessions implements MachineFacts.
func (h here) Sessions(ctx context.Context, user string) (Sessions, error) {
	machine, err := supervise.NewMachine([]string{"doctor"}) // nothing is started with it
	if err != nil {
		return Sessions{}, err
	}
	var all Sessions
	if all.List, err = machine.Sessions(); err != nil {
		return Sessions{}, err
	}
	if all.Own, err = h.system.OwnSession(); err != nil {
		return Sessions{}, err
	}
	all.Chosen, all.Why, err = choose(ctx, all.List, user)
	return all, err
}

// LockPolicy implements MachineFacts.
func (h here) LockPolicy() (LockPolicy, error) { return readLockPolicy(h.system) }

// Power implements MachineFacts.
func (h here) Power() (Power, error) { return readPower(h.system) }

// Desktop implements ScreenFacts.
func (h here) Desktop(ctx context.Context) (Desktop, error) {
	state, err := h.desk.State(ctx)
	if err != nil {
		return Desktop{}, err
	}
	name, err := h.system.InputDesktop()
	if err != nil {
		name = "" // the state says it, with what to do
	}
	return Desktop{Input: name, State: state}, nil
}

// Display implements ScreenFacts.
func (h here) Display(ctx context.Context) (Display, error) {
	monitors, err := h.desk.Monitors(ctx)
	return Display{Awareness: h.aware, Monitors: monitors}, err
}

// Windows implements ScreenFacts.
func (h here) Windows(context.Context) (Windows, error) {
	found, err := h.system.Windows()
	if err != nil {
		return Windows{}, err
	}
	var all Windows
	if all.Own, err = h.system.OwnIntegrity(); err != nil {
		all.Own = 0
	}
	all.Elevated = h.system.SplitElevated()
	front := h.system.Foreground()
	for _, w := range found {
		one := Window{Window: driver.Window{
			Title: w.Title, Class: w.Class, Process: w.Process, Bounds: w.Bounds, Active: w.HWND == front,
		}}
		one.Level, err = h.system.IntegrityOf(w.PID)
		one.Denied = errors.Is(err, winapi.ErrDenied)
		all.List = append(all.List, one)
	}
	return all, nil
}

// Automation implements ScreenFacts.
func (h here) Automation(ctx context.Context) error {
	windows, err := h.desk.Windows(ctx)
	if err != nil {
		return err
	}
	for _, w := range windows {
		if w.Bounds.Empty() {
			continue
		}
		_, err = h.desk.Elements(ctx, w.ID, driver.Element{AutomationID: "reprise-doctor", ControlType: "Window"})
		if err == nil || errors.Is(err, driver.ErrUnsupported) {
			return err
		}
	}
	if err != nil {
		return err
	}
	return errors.New("there is no window to ask")
}
