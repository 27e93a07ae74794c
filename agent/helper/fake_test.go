package helper_test

import (
	"context"
	"fmt"
	"image"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

// bare is a driver that does what its fields say, and notes what it was asked. A field
// that is nil is a call that succeeds. Its fields are set before it is served.
type bare struct {
	do      func(ctx context.Context, in driver.Input) error
	release func(ctx context.Context) error
	looks   func(ctx context.Context) error // of State, Monitors, Windows and pictures
	state   desktop.State
	all     []driver.Monitor
	windows []driver.Window
	picture driver.Picture

	mu     sync.Mutex
	called []string
	closed bool
}

func (b *bare) note(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.called = append(b.called, call)
}

// calls are those so far.
func (b *bare) calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.called...)
}

func (b *bare) Do(ctx context.Context, in driver.Input) error {
	b.note("do")
	if b.do == nil {
		return nil
	}
	return b.do(ctx, in)
}

func (b *bare) Release(ctx context.Context) error {
	b.note("release")
	if b.release == nil {
		return nil
	}
	return b.release(ctx)
}

func (b *bare) look(ctx context.Context) error {
	if b.looks == nil {
		return nil
	}
	return b.looks(ctx)
}

func (b *bare) State(ctx context.Context) (desktop.State, error) { return b.state, b.look(ctx) }
func (b *bare) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	return b.all, b.look(ctx)
}

func (b *bare) Windows(ctx context.Context) ([]driver.Window, error) {
	return b.windows, b.look(ctx)
}

func (b *bare) Capture(ctx context.Context) (driver.Picture, error) { return b.picture, b.look(ctx) }

func (b *bare) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	b.note("window " + id)
	return b.picture, b.look(ctx)
}

func (b *bare) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// full is a driver with a tree of elements, at which a person sits.
type full struct {
	bare
	elements func(window string, e driver.Element) ([]driver.Found, error)
	attend   func(ctx context.Context, told func(driver.Act)) error
	hold     func()
	goOn     func() error
	announce func(around image.Rectangle, d time.Duration) error
	shown    chan driver.Notice // nil: not looked at
}

func (f *full) Elements(_ context.Context, window string, e driver.Element) ([]driver.Found, error) {
	return f.elements(window, e)
}

func (f *full) Attend(ctx context.Context, told func(driver.Act)) error {
	f.note("attend")
	if f.attend == nil {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return f.attend(ctx, told)
}

func (f *full) Hold(_ context.Context, stop driver.Act) error {
	if f.hold != nil {
		f.hold()
	}
	f.note("hold " + stop.By)
	return nil
}

func (f *full) GoOn(context.Context) error {
	f.note("go on")
	if f.goOn == nil {
		return nil
	}
	return f.goOn()
}

func (f *full) ShowPause(_ context.Context, n driver.Notice) error {
	f.note("show " + n.PauseID)
	if f.shown != nil {
		f.shown <- n
	}
	return nil
}

func (f *full) ShowServer(_ context.Context, connected bool) error {
	f.note(fmt.Sprintf("server %v", connected))
	return nil
}

func (f *full) HidePause(_ context.Context, id string) error {
	f.note("hide " + id)
	return nil
}

func (f *full) Announce(_ context.Context, around image.Rectangle, d time.Duration) error {
	return f.announce(around, d)
}
