package person

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// brake is whether the person has stopped the agent.
type brake struct {
	mu      sync.Mutex
	stop    *driver.Act                       // nil: gestures go on
	gone    error                             // why none is done any more; nil: the guard is open
	running map[*context.CancelCauseFunc]bool // what ends with a stop
	passed  int                               // input events of the gesture under way that the hooks let by
	kept    bool                              // the hooks kept one of it from the desktop
}

func newBrake() *brake { return &brake{running: map[*context.CancelCauseFunc]bool{}} }

// pull stops everything that is under way, and says whether it was not stopped before.
func (b *brake) pull(act driver.Act) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		return false
	}
	b.stop = &act
	b.end(driver.ErrStopped)
	return true
}

func (b *brake) end(cause error) {
	for cancel := range b.running {
		(*cancel)(cause)
	}
}

// loosen takes the stop back and says whether there was one.
func (b *brake) loosen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.stop != nil
	b.stop = nil
	return was
}

// close ends everything for good.
func (b *brake) close(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = why
	b.end(why)
}

// stopped is the stop that nobody has taken back.
func (b *brake) stopped() (driver.Act, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop == nil {
		return driver.Act{}, false
	}
	return *b.stop, true
}

// enter begins what a stop ends: its context ends with driver.ErrStopped then. An
// error: it must not begin.
func (b *brake) enter(ctx context.Context) (context.Context, func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone != nil:
		return nil, nil, b.gone
	case b.stop != nil:
		return nil, nil, driver.ErrStopped
	}
	braked, cancel := context.WithCancelCause(ctx)
	b.running[&cancel] = true
	return braked, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, &cancel)
		cancel(nil)
	}, nil
}

// count begins to count the input events of a gesture.
func (b *brake) count() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.passed, b.kept = 0, false
}

// Keys that change nothing by themselves, or bring a lock back to where it was: the
// driver presses them to let go. VK_… of winuser.h; 0xE8 is unassigned.
var letsGo = map[uint16]bool{0x14: true, 0x90: true, 0x91: true, 0xE8: true}

// gate says whether an input event of the agent is kept from the desktop. A stop may
// come when the driver has just looked and the event is on its way; what lets go of
// keys and buttons always passes.
func (b *brake) gate(s winapi.Seen) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop == nil {
		b.passed++
		return false
	}
	if s.Up || s.Device == winapi.Keyboard && letsGo[s.Key] {
		return false
	}
	b.kept = true
	return true
}

// gateFakeCtrl says whether the ctrl that Windows makes for AltGr is kept from the desktop.
// Nothing says whose AltGr it is: while a stop ends a gesture it is the agent's, whose
// right alt is kept back as well, and else the person's. It is no event of the gesture,
// and is not counted.
func (b *brake) gateFakeCtrl(s winapi.Seen) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stop != nil && len(b.running) > 0 && !s.Up
}

// judge is the error of a gesture that ended with err under the context of enter. It
// tells a stop from what else went wrong, and counts what the hooks kept back as not sent.
func (b *brake) judge(ctx context.Context, gesture string, err error) error {
	b.mu.Lock()
	kept, passed := b.kept, b.passed
	b.mu.Unlock()
	if kept {
		why := fmt.Errorf("%s: %w", gesture, driver.ErrStopped)
		if err != nil && !errors.Is(err, driver.ErrStopped) {
			why = fmt.Errorf("%w: %w", why, err)
		}
		return &driver.InputError{Sent: passed, Err: why}
	}
	if err == nil || errors.Is(err, driver.ErrStopped) || !errors.Is(context.Cause(ctx), driver.ErrStopped) {
		return err
	}
	why := fmt.Errorf("%s: %w: %w", gesture, driver.ErrStopped, err)
	var in *driver.InputError
	if errors.As(err, &in) {
		return &driver.InputError{Sent: in.Sent, Err: why}
	}
	return why
}
