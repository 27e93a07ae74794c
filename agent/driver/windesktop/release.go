package windesktop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Of the buttons beside the wheel the driver presses none, but a person may:
// MOUSEEVENTF_XUP and the data that tells them apart, of winuser.h.
const mouseXUp = 0x0100

var buttonUp = map[uint16]winapi.MouseEvent{
	vkLeftButton:   {Flags: winapi.MouseLeftUp},
	vkRightButton:  {Flags: winapi.MouseRightUp},
	vkMiddleButton: {Flags: winapi.MouseMiddleUp},
	vkXButton1:     {Flags: mouseXUp, Data: 1},
	vkXButton2:     {Flags: mouseXUp, Data: 2},
}

// modifiers in the order in which they are let go of. The codes that mean either
// side come last: they are down as long as one side is.
var modifiers = []uint16{
	vkLWin, vkRWin, vkLMenu, vkRMenu, vkLControl, vkRControl, vkLShift, vkRShift, vkMenu, vkControl, vkShift,
}

// either are the codes that mean a left and a right key, of modifiers.
var either = map[uint16][2]uint16{
	vkShift: {vkLShift, vkRShift}, vkControl: {vkLControl, vkRControl}, vkMenu: {vkLMenu, vkRMenu},
}

// Keys of input methods have a state instead of being down: on a Japanese keyboard
// one of them always reads as pressed.
const (
	vkKana, vkIMEOff        = 0x15, 0x1A
	vkConvert, vkModeChange = 0x1C, 0x1F
	vkLastKey               = 0xE4
)

// keysAndButtons are all that can be let go of: modifiers first, then the other
// keys, then the buttons, so that a button that goes up ends no shortcut.
var keysAndButtons = func() []uint16 {
	all := slices.Clone(modifiers)
	for vk := uint16(vkBack); vk <= vkLastKey; vk++ {
		method := vk >= vkKana && vk <= vkIMEOff || vk >= vkConvert && vk <= vkModeChange
		if !method && !slices.Contains(modifiers, vk) {
			all = append(all, vk)
		}
	}
	return append(all, vkPacket, vkLeftButton, vkRightButton, vkMiddleButton, vkXButton1, vkXButton2)
}()

// Release implements driver.Hands. It also lets go of other keys, since a letter
// that a dead process left down changes what comes next, and the first one takes off
// the clipboard what a dead process had no time to take off. ErrUnavailable: the desktop
// is not in reach, where what is down cannot even be seen, and something may be.
func (d *Driver) Release(ctx context.Context) error {
	give, err := d.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	if !d.swept {
		d.swept = true
		d.clip.sweep(ctx)
	}
	switch err = d.reachable(ctx); {
	case err == nil:
		err = d.clear(ctx)
	case d.rested:
		return nil // nothing was pressed since that is down now
	}
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// clear brings keys and buttons to rest, and looks again whether they are. What
// somebody left down would change what the next input means.
func (d *Driver) clear(ctx context.Context) error {
	if err := d.letGoOfLeft(); err != nil {
		return err
	}
	down := d.down()
	if len(down) == 0 {
		d.rested = true
		return nil
	}
	d.config.Log.WarnContext(ctx, "letting go of keys and buttons that were left down", logkeys.Count, len(down))
	events := newBoard(d.system).releases(down)
	if n, err := d.system.SendInput(events); n < len(events) {
		return fmt.Errorf("%s: %w", names(down), short(n, len(events), err))
	}
	rested, err := until(ctx, func() bool { down = d.down(); return len(down) == 0 })
	if err != nil || rested {
		d.rested = rested
		return err
	}
	return fmt.Errorf("%s stay down: %w", names(down), driver.ErrBlocked)
}

// down are the keys and buttons that are down, each once.
func (d *Driver) down() []uint16 {
	var down []uint16
	for _, vk := range keysAndButtons {
		if !d.system.Pressed(vk) {
			continue
		}
		sides, both := either[vk]
		if both && (slices.Contains(down, sides[0]) || slices.Contains(down, sides[1])) {
			continue
		}
		down = append(down, vk)
	}
	return down
}

// releases let go of keys and buttons in their order. A modifier that went down and
// up with nothing in between opens the start menu or the menu bar, or changes the
// layout: a key that means nothing goes in between (as AutoHotkey's A_MenuMaskKey).
func (b board) releases(down []uint16) []winapi.Event {
	var events []winapi.Event
	if slices.Contains(modifiers, down[0]) {
		events = append(events,
			winapi.KeyEvent{Key: vkUnassigned}, winapi.KeyEvent{Key: vkUnassigned, Flags: winapi.KeyUp})
	}
	for _, vk := range down {
		up, isButton := buttonUp[vk]
		switch {
		case isButton:
			events = append(events, up)
		case vk == vkPacket:
			events = append(events, winapi.KeyEvent{Flags: winapi.KeyUnicode | winapi.KeyUp})
		default:
			events = append(events, b.key(vk, false))
		}
	}
	return events
}

// names says for people which keys and buttons some are. Letters are not named:
// they may be of a password.
func names(vks []uint16) string {
	said := map[uint16]string{
		vkLWin: "win", vkRWin: "win", vkLMenu: "alt", vkRMenu: "alt", vkMenu: "alt",
		vkLControl: "ctrl", vkRControl: "ctrl", vkControl: "ctrl", vkLShift: "shift", vkRShift: "shift", vkShift: "shift",
		vkLeftButton: "a mouse button", vkRightButton: "a mouse button", vkMiddleButton: "a mouse button",
		vkXButton1: "a mouse button", vkXButton2: "a mouse button",
	}
	var list []string
	for _, vk := range vks {
		name, ok := said[vk]
		if !ok {
			name = "a key"
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}
