package windesktop

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// leftDown is what a gesture pressed and could not let go of, because something such as
// a consent prompt took the desktop meanwhile. No next gesture may come for hours, and a
// person at the machine would work with the button down: it is let go of as soon as the
// desktop is back.
type leftDown struct {
	events []winapi.Event // what brings it to rest, in order
	tried  bool           // it is being tried again
}

// How long is waited before letting go is tried again: twice as long each time.
const (
	firstLetGo = 100 * time.Millisecond
	mostLetGo  = 5 * time.Second
)

// played is told of a gesture that was played.
func (d *Driver) played(ctx context.Context, p *player) {
	if len(p.left) == 0 {
		return
	}
	d.config.Log.WarnContext(ctx, "keys or buttons could not be let go of; it is tried until they are", logkeys.Count, len(p.left))
	d.left.events, d.rested = p.left, false
	if d.left.tried {
		return
	}
	d.left.tried = true
	ctx = context.WithoutCancel(ctx) // the gesture is over, and this is not
	d.letting.Go(func() {
		for wait := firstLetGo; d.rest(wait) && !d.letGoAgain(ctx); {
			wait = min(2*wait, mostLetGo)
		}
	})
}

// rest waits; false: the driver is closed.
func (d *Driver) rest(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.closed:
		return false
	}
}

// letGoAgain says whether nothing is left to let go of, or nobody who could.
func (d *Driver) letGoAgain(ctx context.Context) bool {
	give, err := d.take(ctx)
	if err != nil {
		return true
	}
	defer give()
	events := d.left.events
	if d.reachable(ctx) != nil || d.letGoOfLeft() != nil {
		return false
	}
	if len(d.unsettled(events)) > 0 || d.reachable(ctx) != nil { // behind a lock nothing looks pressed
		d.left.events = events
		return false
	}
	d.left.tried, d.rested = false, true
	d.config.Log.InfoContext(ctx, "they are let go of")
	return true
}

// reachable says why keys and buttons cannot be let go of, nor be seen; nil: they can.
func (d *Driver) reachable(ctx context.Context) error {
	state, err := d.State(ctx)
	if err != nil || state.Usable() || state.Kind == desktop.DisplayTooSmall {
		return err
	}
	return fmt.Errorf("%w: %v: %s", driver.ErrUnavailable, state.Kind, state.Detail)
}

// letGoOfLeft brings to rest what a gesture left down.
func (d *Driver) letGoOfLeft() error {
	events := d.unsettled(d.left.events)
	if len(events) > 0 {
		if n, err := d.system.SendInput(events); n < len(events) {
			return short(n, len(events), err)
		}
	}
	d.left.events = nil
	return nil
}

// unsettled are those of events that still are of use: a person may have pressed and let
// go of the same key since.
func (d *Driver) unsettled(events []winapi.Event) []winapi.Event {
	var still []winapi.Event
	var pressed winapi.Event // what lets go of a key that is pressed here
	for _, e := range events {
		up, presses := letsGo(e)
		switch {
		case presses && !d.system.Toggled(vkCapital): // the only key that is pressed to come to rest
			still, pressed = append(still, e), up
		case !presses && (e == pressed || d.system.Pressed(codeOf(e))):
			still = append(still, e)
		}
	}
	return still
}

// codeOf is the code of the key or button that an event lets go of.
func codeOf(e winapi.Event) uint16 {
	key, ok := e.(winapi.KeyEvent)
	switch {
	case ok && key.Flags&winapi.KeyUnicode != 0:
		return vkPacket
	case ok:
		return key.Key
	}
	for vk, up := range buttonUp {
		if e == winapi.Event(up) {
			return vk
		}
	}
	return 0
}
