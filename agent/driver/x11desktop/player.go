package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// player plays the steps of one gesture and remembers what it holds.
type player struct {
	link    *link
	gesture string        // its kind, for the fault point
	settled time.Duration // what applications get to read a changed layout
	settle  func(context.Context, time.Duration) error
	width   int // symbols of one key in the display's layout

	sent    int // input events that the display took
	keys    []xproto.Keycode
	buttons []byte
	bound   []xproto.Keycode
	caps    xproto.Keycode // the key that switches caps lock on again; 0 for none
}

// syncEvery is after how many events the display is asked whether it is there.
const syncEvery = 64

// play plays the steps. Whatever happens, when it returns everything that it
// pressed is released and every key that it bound means nothing again.
func (p *player) play(ctx context.Context, steps []step) error {
	halt := middle(steps)
	err := p.run(ctx, steps, halt)
	if end := p.letGo(context.WithoutCancel(ctx)); end != nil {
		err = errors.Join(err, fmt.Errorf("letting go: %w", end))
	}
	return err
}

func (p *player) run(ctx context.Context, steps []step, halt int) error {
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := p.do(ctx, s); err != nil {
			return err
		}
		if p.sent > 0 && p.sent%syncEvery == 0 {
			if err := p.link.sync(); err != nil {
				return err
			}
		}
		if faultpoint.Enabled && i == halt {
			if err := p.link.sync(); err != nil {
				return err
			}
			faultpoint.Hit(faultpoint.AgentMidInput, p.gesture)
		}
	}
	return p.link.sync()
}

// middle is the press that is nearest to the middle of a gesture: there
// something is down and something is still to come. -1 if nothing is pressed.
func middle(steps []step) int {
	best := -1
	for i, s := range steps {
		key, isKey := s.(keyStep)
		button, isButton := s.(buttonStep)
		if isKey && key.down || isButton && button.down {
			if best < 0 || distance(i, len(steps)/2) < distance(best, len(steps)/2) {
				best = i
			}
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

func (p *player) do(ctx context.Context, s step) error {
	switch s := s.(type) {
	case moveStep:
		return p.move(ctx, s.at)
	case buttonStep:
		p.button(s.button, s.down)
	case keyStep:
		p.key(s.code, s.down)
	case capsStep:
		p.tap(s.code)
		p.caps = s.code
	case bindStep:
		p.bound = append(p.bound, s.codes...)
		return p.link.bind(s.codes, s.syms, p.width)
	case unbindStep:
		return p.unbind(ctx)
	case frontStep:
		return p.link.inFront(s.window)
	case waitStep:
		if err := p.link.sync(); err != nil {
			return err
		}
		return p.settle(ctx, s.d)
	}
	return nil
}

// fake sends one input event.
func (p *player) fake(kind, detail byte, at image.Point) {
	p.link.fake(kind, detail, at)
	p.sent++
}

func (p *player) key(code xproto.Keycode, down bool) {
	if down {
		p.keys = append(p.keys, code)
		p.fake(xproto.KeyPress, byte(code), image.Point{})
		return
	}
	p.keys = slices.DeleteFunc(p.keys, func(k xproto.Keycode) bool { return k == code })
	p.fake(xproto.KeyRelease, byte(code), image.Point{})
}

func (p *player) tap(code xproto.Keycode) {
	p.key(code, true)
	p.key(code, false)
}

func (p *player) button(button byte, down bool) {
	if down {
		p.buttons = append(p.buttons, button)
		p.fake(xproto.ButtonPress, button, image.Point{})
		return
	}
	p.buttons = slices.DeleteFunc(p.buttons, func(b byte) bool { return b == button })
	p.fake(xproto.ButtonRelease, button, image.Point{})
}

// A pointer that has not come is looked at again: a display may handle the event
// a moment after it has taken it.
const (
	pointerLooks = 5
	pointerPause = 4 * time.Millisecond
)

func (p *player) move(ctx context.Context, at image.Point) error {
	p.fake(xproto.MotionNotify, 0, at)
	var there image.Point
	for look := range pointerLooks {
		if look > 0 {
			if err := pause(ctx, pointerPause); err != nil {
				return err
			}
		}
		var err error
		if there, err = p.link.pointer(); err != nil {
			return err
		}
		if there == at {
			return nil
		}
	}
	return fmt.Errorf("the pointer stands at %v, not at %v: %w", there, at, driver.ErrBlocked)
}

func (l *link) pointer() (image.Point, error) {
	defer l.guard()()
	reply, err := xproto.QueryPointer(l.conn, l.root).Reply()
	if err != nil {
		return image.Point{}, err
	}
	return image.Pt(int(reply.RootX), int(reply.RootY)), nil
}

// unbind takes the symbols off the spare keys, after a while: applications look
// up a key's meaning when they come to it, not when it was pressed.
func (p *player) unbind(ctx context.Context) error {
	if len(p.bound) == 0 {
		return nil
	}
	if err := p.link.sync(); err != nil {
		return err
	}
	if err := p.settle(ctx, p.settled); err != nil {
		return err
	}
	bound := p.bound
	p.bound = nil
	return p.link.bind(bound, make([]xproto.Keysym, len(bound)), p.width)
}

// letGo releases what is held, in reverse, even when the gesture was cancelled:
// it takes one settling time at most.
func (p *player) letGo(ctx context.Context) error {
	for _, b := range slices.Backward(p.buttons) {
		p.button(b, false)
	}
	for _, k := range slices.Backward(p.keys) {
		p.key(k, false)
	}
	if p.caps != 0 {
		p.tap(p.caps)
		p.caps = 0
	}
	return errors.Join(p.unbind(ctx), p.link.sync())
}

// bind puts one symbol on each key, on all levels, and none for the symbol 0.
func (l *link) bind(codes []xproto.Keycode, syms []xproto.Keysym, width int) error {
	defer l.guard()()
	for i, code := range codes {
		all := make([]xproto.Keysym, width)
		for level := range min(width, boundLevels) {
			all[level] = syms[i]
		}
		if err := xproto.ChangeKeyboardMappingChecked(l.conn, 1, code, byte(width), all).Check(); err != nil {
			return fmt.Errorf("binding a key: %w", err)
		}
	}
	return nil
}
