package windesktop

import (
	"fmt"
	"time"
	"unicode/utf16"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// planText types a text that keyname.CheckText lets pass into the window that is in front now, character by character:
// before each one it looks whether that window still is in front. Errors name the
// place of a character, never the character.
func (b board) planText(text string, mode TypeMode, pace time.Duration) (plan, error) {
	steps := make([]step, 0, 2*len(text))
	for at, r := range text {
		var events []winapi.Event
		switch {
		case r == '\n':
			events = b.press(vkReturn)
		case r == '\t':
			events = b.press(vkTab)
		case mode == ScanCodes:
			s, ok := b.stroke(r)
			if !ok || s.dead {
				return plan{}, driver.Tellable(fmt.Errorf("the character at byte %d has no key of its own on the layout of the window in front: %w", at, driver.ErrUnsupported))
			}
			events = b.press(s.keys()...)
		default:
			events = unicodeEvents(r)
		}
		if mode == ScanCodes && !scanned(events) {
			return plan{}, driver.Tellable(fmt.Errorf("the key of the character at byte %d has no scan code: %w", at, driver.ErrUnsupported))
		}
		if len(steps) > 0 {
			steps = append(steps, waitStep{pace})
		}
		steps = append(steps, sendStep{front: b.front, events: events})
	}
	// Caps lock changes what keys mean, but not what characters do.
	if mode == ScanCodes && len(steps) > 0 && b.system.Toggled(vkCapital) {
		caps := b.press(vkCapital)
		scanned(caps)
		steps = append([]step{toggleStep{caps}}, steps...)
	}
	return halved(steps), nil
}

// unicodeEvents presses and releases each UTF-16 unit of a character, so that equal
// ones after each other never merge: KEYEVENTF_UNICODE of winuser.h.
func unicodeEvents(r rune) []winapi.Event {
	units := utf16.AppendRune(nil, r)
	events := make([]winapi.Event, 0, 2*len(units))
	for _, unit := range units {
		events = append(events,
			winapi.KeyEvent{Scan: unit, Flags: winapi.KeyUnicode},
			winapi.KeyEvent{Scan: unit, Flags: winapi.KeyUnicode | winapi.KeyUp})
	}
	return events
}

// scanned turns the events of keys into such that go by the scan code alone, in
// place. False: one of them has none.
func scanned(events []winapi.Event) bool {
	for i, e := range events {
		key, ok := e.(winapi.KeyEvent)
		if !ok || key.Scan == 0 {
			return false
		}
		key.Flags |= winapi.KeyScanCode
		events[i] = key
	}
	return true
}
