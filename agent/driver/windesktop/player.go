package windesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// player plays the plan of one gesture and remembers what it holds.
type player struct {
	system  handsSystem
	title   func(winapi.HWND) string // for people
	gesture string                   // its kind, for the fault points
	plan    plan

	sent int            // input events that Windows took
	left []winapi.Event // what would bring to rest what could not be let go of
	held []winapi.Event // what lets go of what is down, the last pressed last
	end  []winapi.Event // what brings a lock key back to where it was
}

// play plays the plan. Whatever happens, a panic too, when it is left nothing is
// down that it pressed.
func (p *player) play(ctx context.Context) (err error) {
	defer func() {
		if left := p.letGo(context.WithoutCancel(ctx)); left != nil {
			err = errors.Join(err, fmt.Errorf("letting go: %w", left))
		}
	}()
	for _, s := range p.plan.steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.do(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) do(ctx context.Context, s step) error {
	switch s := s.(type) {
	case moveStep:
		return p.move(ctx, s.at)
	case sendStep:
		if s.front != 0 {
			if err := p.inFront(ctx, s.front); err != nil {
				return err
			}
		}
		return p.send(s.events...)
	case aimStep:
		return p.send(append([]winapi.Event{onGrid(s.at, p.system.VirtualScreen())}, s.events...)...)
	case toggleStep:
		return p.toggle(s.events)
	case waitStep:
		return wait.For(ctx, s.d)
	}
	return nil
}

// What Windows has taken it handles a moment later: the pointer, the window in
// front and the keys are looked at again before they are believed.
const (
	looks     = 10
	lookPause = 5 * time.Millisecond
)

// until looks again and again until it is so, and says whether it was.
func until(ctx context.Context, so func() bool) (bool, error) {
	for look := range looks {
		if look > 0 {
			if err := wait.For(ctx, lookPause); err != nil {
				return false, err
			}
		}
		if so() {
			return true, nil
		}
	}
	return false, nil
}

// moveTries is how often the pointer is sent to a place. A person who moves the mouse
// once is no reason to give a gesture up, and what keeps the pointer away does so again.
const moveTries = 3

func (p *player) move(ctx context.Context, at image.Point) error {
	screen := p.system.VirtualScreen()
	if !at.In(screen) {
		return fmt.Errorf("%v: %w", at, driver.ErrOffScreen)
	}
	var there image.Point
	var err error
	seen := map[image.Point]bool{}
	look := func() bool {
		if there, err = p.system.Pointer(); err == nil {
			seen[there] = true
		}
		return err == nil && there == at
	}
	look() // it may be looked at again before a move counts
	for range moveTries {
		if err := p.send(onGrid(at, screen)); err != nil {
			return err
		}
		if came, ended := until(ctx, look); came || ended != nil {
			return ended
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("the pointer cannot be seen: %w: %w", driver.ErrBlocked, err)
	case len(seen) > 2: // Windows may keep it from a place, but does not move it about
		return fmt.Errorf("the pointer stands at %v, not at %v: %w", there, at, driver.ErrPerson)
	}
	return fmt.Errorf("the pointer stands at %v, not at %v: %w", there, at, driver.ErrBlocked)
}

// inFront refuses to go on when another window has come to the front. For a moment
// there may be none.
func (p *player) inFront(ctx context.Context, wanted winapi.HWND) error {
	var front winapi.HWND
	if _, err := until(ctx, func() bool { front = p.system.Foreground(); return front != 0 }); err != nil {
		return err
	}
	if front == wanted {
		return nil
	}
	return driver.Tellable(fmt.Errorf("%s came to the front, nothing more was sent: %w", p.title(front), driver.ErrNotInFront))
}

// toggle presses a lock key, and sees to it that it is pressed again at the end if
// the first press counted.
func (p *player) toggle(events []winapi.Event) error {
	before := p.sent
	p.end = slices.Clone(events)
	err := p.send(events...)
	if p.sent == before {
		p.end = nil
	}
	return err
}

// send sends events as one call; with fault points one by one, so that a test may
// stop the process between any two.
func (p *player) send(events ...winapi.Event) error {
	if !faultpoint.Enabled {
		return p.call(events)
	}
	for _, e := range events {
		if err := p.call([]winapi.Event{e}); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.AgentInputEvent, fmt.Sprintf("%s %d/%d %T", p.gesture, p.sent, p.plan.count(), e))
		if p.sent == p.plan.middle+1 {
			faultpoint.Hit(faultpoint.AgentMidInput, p.gesture)
		}
	}
	return nil
}

// call is one call. What Windows did not take of it was not pressed.
func (p *player) call(events []winapi.Event) error {
	before := p.held
	for _, e := range events { // should the call not come back, all of it may be down
		if up, presses := letsGo(e); presses {
			p.held = append(p.held, up)
		}
	}
	n, err := p.system.SendInput(events)
	n = min(max(n, 0), len(events))
	p.held = slices.Clone(before)
	for _, e := range events[:n] {
		p.held = holding(p.held, e)
	}
	p.sent += n
	if n < len(events) {
		return short(n, len(events), err)
	}
	return nil
}

func short(n, of int, err error) error {
	if err == nil {
		err = errors.New("no reason was given")
	}
	return driver.Tellable(fmt.Errorf("%d of %d input events were taken: %w: %w", n, of, driver.ErrBlocked, err))
}

// holding is what must be let go of after e.
func holding(held []winapi.Event, e winapi.Event) []winapi.Event {
	if up, presses := letsGo(e); presses {
		return append(held, up)
	}
	for i, up := range slices.Backward(held) {
		if up == e {
			return slices.Delete(held, i, i+1)
		}
	}
	return held
}

// letsGo is the event that lets go of what e presses; false: e presses nothing.
func letsGo(e winapi.Event) (winapi.Event, bool) {
	switch e := e.(type) {
	case winapi.KeyEvent:
		pressed := e.Flags&winapi.KeyUp == 0
		e.Flags |= winapi.KeyUp
		return e, pressed
	case winapi.MouseEvent:
		for _, b := range [...]button{
			{winapi.MouseEvent{Flags: winapi.MouseLeftDown}, winapi.MouseEvent{Flags: winapi.MouseLeftUp}},
			{winapi.MouseEvent{Flags: winapi.MouseRightDown}, winapi.MouseEvent{Flags: winapi.MouseRightUp}},
			{winapi.MouseEvent{Flags: winapi.MouseMiddleDown}, winapi.MouseEvent{Flags: winapi.MouseMiddleUp}},
		} {
			if e == b.down {
				return b.up, true
			}
		}
	}
	return nil, false
}

// letGoTries is how often Windows is asked to take a release that it refused.
const letGoTries = 3

// letGo releases what is held, in reverse, and brings lock keys back. What Windows does
// not take of it is left.
func (p *player) letGo(ctx context.Context) error {
	events := p.held
	slices.Reverse(events)
	events = append(events, p.end...)
	p.held, p.end = nil, nil
	for try := 1; len(events) > 0; try++ {
		n, err := p.system.SendInput(events)
		n = min(max(n, 0), len(events))
		if events = events[n:]; len(events) == 0 {
			break
		}
		if try == letGoTries {
			p.left = events
			return short(0, len(events), err)
		}
		if err := wait.For(ctx, lookPause); err != nil {
			p.left = events
			return err
		}
	}
	return nil
}
