package x11desktop

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// step is one thing to do of a gesture.
type step interface{ step() }

type (
	// moveStep puts the pointer somewhere and checks that it came.
	moveStep struct{ at image.Point }
	// buttonStep presses or releases a button of the mouse.
	buttonStep struct {
		button byte
		down   bool
	}
	// keyStep presses or releases a key.
	keyStep struct {
		code xproto.Keycode
		down bool
	}
	// capsStep switches caps lock off; the end of the gesture switches it on.
	capsStep struct{ code xproto.Keycode }
	// bindStep puts symbols on spare keys.
	bindStep struct {
		codes []xproto.Keycode
		syms  []xproto.Keysym
	}
	// unbindStep takes all symbols off again, once applications had the time to
	// read what was typed.
	unbindStep struct{}
	// waitStep waits.
	waitStep struct{ d time.Duration }
	// frontStep goes on only if a window has the keyboard.
	frontStep struct{ window string }
)

func (moveStep) step()   {}
func (buttonStep) step() {}
func (keyStep) step()    {}
func (capsStep) step()   {}
func (bindStep) step()   {}
func (unbindStep) step() {}
func (waitStep) step()   {}
func (frontStep) step()  {}

// A drag stops over its places, since applications begin and end one by time,
// and goes in steps, since they look at the way.
const (
	dragDwell = 60 * time.Millisecond
	dragPause = 8 * time.Millisecond
	dragSteps = 12
)

// The wheel's four directions are buttons.
const (
	wheelUp, wheelDown    = 4, 5
	wheelLeft, wheelRight = 6, 7
)

func buttonOf(b driver.Button) (byte, error) {
	switch b {
	case driver.Left:
		return 1, nil
	case driver.Middle:
		return 2, nil
	case driver.Right:
		return 3, nil
	}
	return 0, fmt.Errorf("button %d: %w", b, driver.ErrUnsupported)
}

func planClick(l *layout, in driver.Click) ([]step, error) {
	button, err := buttonOf(in.Button)
	if err != nil {
		return nil, err
	}
	if in.Count < 1 || in.Count > 3 {
		return nil, fmt.Errorf("%d clicks: %w", in.Count, driver.ErrUnsupported)
	}
	keys, err := keyname.ParseAll(in.Modifiers)
	if err != nil {
		return nil, unsupported(err)
	}
	var before, after []step
	for _, k := range keys {
		s, ok := l.find(keysym(k))
		if !k.Modifier() || !ok {
			return nil, fmt.Errorf("%q as a modifier: %w", k, driver.ErrUnsupported)
		}
		before = append(before, keyStep{s.code, true})
		after = append([]step{keyStep{s.code, false}}, after...)
	}
	steps := append([]step{moveStep{in.At}}, before...)
	for range in.Count {
		steps = append(steps, buttonStep{button, true}, buttonStep{button, false})
	}
	return append(steps, after...), nil
}

func planDrag(in driver.Drag) ([]step, error) {
	button, err := buttonOf(in.Button)
	if err != nil {
		return nil, err
	}
	steps := []step{moveStep{in.From}, buttonStep{button, true}, waitStep{dragDwell}}
	way := in.To.Sub(in.From)
	for i := 1; i <= dragSteps; i++ {
		steps = append(steps, moveStep{in.From.Add(way.Mul(i).Div(dragSteps))}, waitStep{dragPause})
	}
	return append(steps, waitStep{dragDwell}, buttonStep{button, false}), nil
}

func planScroll(in driver.Scroll) []step {
	steps := []step{moveStep{in.At}}
	turn := func(notches int, forward, back byte) {
		button := forward
		if notches < 0 {
			button, notches = back, -notches
		}
		for range notches {
			steps = append(steps, buttonStep{button, true}, buttonStep{button, false})
		}
	}
	turn(in.Vertical, wheelUp, wheelDown)
	turn(in.Horizontal, wheelRight, wheelLeft)
	return steps
}

// planCombo presses the keys in order and releases them in reverse. A character
// is meant to the letter: one that needs shift gets it. The window that it is meant for,
// if it names one, is looked at right before the first key.
func planCombo(l *layout, in driver.Combo, settle time.Duration) ([]step, error) {
	keys, err := keyname.ParseAll(in.Keys)
	if err != nil {
		return nil, unsupported(err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("a combo without keys: %w", driver.ErrUnsupported)
	}
	spare := l.spare()
	shift, shifted := l.find(symShift)
	var bind bindStep
	var down, up []step
	for _, k := range keys {
		if k.Code == keyname.Shift {
			shifted = false // it is down already
		}
	}
	for _, k := range keys {
		s, ok := l.find(keysym(k))
		if !ok {
			if len(bind.codes) == len(spare) {
				return nil, fmt.Errorf("key %q: %w", k, driver.ErrUnsupported)
			}
			s.code = spare[len(bind.codes)]
			bind.codes, bind.syms = append(bind.codes, s.code), append(bind.syms, keysym(k))
		}
		if s.shift && shifted {
			shifted = false
			down, up = append(down, keyStep{shift.code, true}), append([]step{keyStep{shift.code, false}}, up...)
		}
		down, up = append(down, keyStep{s.code, true}), append([]step{keyStep{s.code, false}}, up...)
	}
	if in.Front != "" {
		down = slices.Insert(down, 0, step(frontStep{in.Front}))
	}
	return withBinding(bind, append(down, up...), settle), nil
}

// withBinding puts steps between the binding of spare keys and its end.
func withBinding(bind bindStep, steps []step, settle time.Duration) []step {
	if len(bind.codes) == 0 {
		return steps
	}
	return append(append([]step{bind, waitStep{settle}}, steps...), unbindStep{})
}

// planText types text in pieces, each of which has no more characters foreign to
// the layout than there are spare keys. In a piece all of them are bound first:
// an application that is told of a changed key asks for all of them when it
// comes to it, so a key that means one thing now and another 5 ms later types
// the later one twice.
func planText(l *layout, text string, settle time.Duration) ([]step, error) {
	if err := keyname.CheckText(text); err != nil {
		return nil, driver.Tellable(unsupported(err))
	}
	spare := l.spare()
	shift, hasShift := l.find(symShift)
	var steps []step
	var bind bindStep
	var typed []step
	at := map[xproto.Keysym]stroke{}
	for _, r := range text {
		sym := textSym(r)
		s, ok := l.find(sym)
		if ok && s.shift && !hasShift {
			ok = false
		}
		if !ok {
			s, ok = at[sym]
		}
		if !ok {
			if len(spare) == 0 {
				return nil, driver.Tellable(fmt.Errorf("the layout lacks a character and has no spare key: %w", driver.ErrUnsupported))
			}
			if len(bind.codes) == len(spare) {
				steps = append(steps, withBinding(bind, typed, settle)...)
				bind, typed = bindStep{}, nil
				clear(at)
			}
			s = stroke{code: spare[len(bind.codes)]}
			at[sym] = s
			bind.codes, bind.syms = append(bind.codes, s.code), append(bind.syms, sym)
		}
		typed = append(typed, s.steps(shift.code)...)
	}
	return append(steps, withBinding(bind, typed, settle)...), nil
}

func (s stroke) steps(shift xproto.Keycode) []step {
	press := []step{keyStep{s.code, true}, keyStep{s.code, false}}
	if !s.shift {
		return press
	}
	return []step{keyStep{shift, true}, press[0], press[1], keyStep{shift, false}}
}

func textSym(r rune) xproto.Keysym {
	switch r {
	case '\n':
		return symReturn
	case '\t':
		return symTab
	}
	return runeSym(r)
}

func unsupported(err error) error { return errors.Join(driver.ErrUnsupported, err) }
