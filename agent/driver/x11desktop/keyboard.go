package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// keyboard is the display's keyboard and mouse at one moment.
type keyboard struct {
	layout  layout
	caps    xproto.Keycode // the key of caps lock if that is on, else 0
	down    []xproto.Keycode
	buttons []byte
}

func (l *link) keyboard() (keyboard, error) {
	defer l.guard()()
	first, last := l.setup.MinKeycode, l.setup.MaxKeycode
	asked := xproto.GetKeyboardMapping(l.conn, first, byte(last-first)+1)
	askedModifiers := xproto.GetModifierMapping(l.conn)
	askedDown := xproto.QueryKeymap(l.conn)
	askedPointer := xproto.QueryPointer(l.conn, l.root)
	mapping, err := asked.Reply()
	if err != nil {
		return keyboard{}, err
	}
	modifiers, err := askedModifiers.Reply()
	if err != nil {
		return keyboard{}, err
	}
	down, err := askedDown.Reply()
	if err != nil {
		return keyboard{}, err
	}
	pointer, err := askedPointer.Reply()
	if err != nil {
		return keyboard{}, err
	}
	if mapping.KeysymsPerKeycode == 0 {
		return keyboard{}, errors.New("the display has no keys")
	}
	k := keyboard{
		layout: layout{
			first: first, width: int(mapping.KeysymsPerKeycode), syms: mapping.Keysyms,
			group: int(pointer.Mask >> 13 & 3),
		},
		down: pressed(down.Keys), buttons: pressedButtons(pointer.Mask),
	}
	for _, code := range modifiers.Keycodes {
		if code != 0 {
			k.layout.modifiers = append(k.layout.modifiers, code)
		}
	}
	if lock, ok := k.layout.find(symCapsLock); ok && pointer.Mask&xproto.ModMaskLock != 0 {
		k.caps = lock.code
	}
	return k, nil
}

// pressed reads the bit map of keys that are down.
func pressed(bitmap []byte) []xproto.Keycode {
	var codes []xproto.Keycode
	for i, b := range bitmap {
		for bit := range 8 {
			if b>>bit&1 != 0 {
				codes = append(codes, xproto.Keycode(8*i+bit))
			}
		}
	}
	return codes
}

func pressedButtons(mask uint16) []byte {
	var buttons []byte
	for b := byte(1); b <= 5; b++ {
		if mask>>(7+b)&1 != 0 {
			buttons = append(buttons, b)
		}
	}
	return buttons
}

// withoutCaps types with caps lock off, where it is on.
func (k keyboard) withoutCaps(steps []step) []step {
	if k.caps == 0 {
		return steps
	}
	return append([]step{capsStep{k.caps}}, steps...)
}

// Release implements driver.Hands. It also lets go of other keys, since a letter
// that a dead process left down repeats for ever, and takes characters off the
// spare keys that it left bound.
func (d *Driver) Release(ctx context.Context) error {
	select {
	case d.hands <- struct{}{}:
		defer func() { <-d.hands }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l, err := d.connect(ctx)
	if err != nil {
		return err
	}
	if err = d.clear(ctx, l); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// clear brings keys and buttons to rest. What someone left down would change
// what the next input means.
func (d *Driver) clear(ctx context.Context, l *link) error {
	k, err := l.keyboard()
	if err != nil {
		return err
	}
	left := k.layout.left()
	count := len(k.down) + len(k.buttons) + len(left)
	if count == 0 {
		return nil
	}
	d.config.Log.WarnContext(ctx, "letting go of keys and buttons that were left down or bound", logkeys.Count, count)
	for _, code := range k.down {
		l.fake(xproto.KeyRelease, byte(code), image.Point{})
	}
	for _, b := range k.buttons {
		l.fake(xproto.ButtonRelease, b, image.Point{})
	}
	if err = l.bind(left, make([]xproto.Keysym, len(left)), k.layout.width); err != nil {
		return err
	}
	if k, err = l.keyboard(); err != nil {
		return err
	}
	if len(k.down)+len(k.buttons) > 0 {
		return fmt.Errorf("%d keys and %d buttons stay down: %w", len(k.down), len(k.buttons), driver.ErrBlocked)
	}
	return nil
}

// fake sends one input event.
func (l *link) fake(kind, detail byte, at image.Point) {
	xtest.FakeInput(l.conn, kind, detail, 0, l.root, int16(at.X), int16(at.Y), 0)
}
