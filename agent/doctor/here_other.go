//go:build !windows

package doctor

import (
	"context"

	"github.com/reprise-rpa/reprise/agent/service"
)

// here is a system without a desktop of Windows.
type here struct{ disk }

// NewLocal returns this machine, for Close.
func NewLocal(Settings) (*Local, error) { return &Local{}, nil }

// Close gives up what was opened.
func (*Local) Close() error { return nil }

// Service implements MachineFacts.
func (here) Service() (service.Info, error) { return service.Info{}, ErrNotHere }

// Sessions implements MachineFacts.
func (here) Sessions(context.Context, string) (Sessions, error) { return Sessions{}, ErrNotHere }

// LockPolicy implements MachineFacts.
func (here) LockPolicy() (LockPolicy, error) { return LockPolicy{}, ErrNotHere }

// Power implements MachineFacts.
func (here) Power() (Power, error) { return Power{}, ErrNotHere }

// Desktop implements ScreenFacts.
func (here) Desktop(context.Context) (Desktop, error) { return Desktop{}, ErrNotHere }

// Display implements ScreenFacts.
func (here) Display(context.Context) (Display, error) { return Display{}, ErrNotHere }

// Windows implements ScreenFacts.
func (here) Windows(context.Context) (Windows, error) { return Windows{}, ErrNotHere }

// Automation implements ScreenFacts.
func (here) Automation(context.Context) error { return ErrNotHere }

// Signs implements ScreenFacts.
func (here) Signs() (Signs, error) { return Signs{}, ErrNotHere }

// TryInput implements ScreenFacts.
func (here) TryInput(context.Context) (Tried, error) { return Tried{}, ErrNotHere }
