package virtualdesktop

import (
	"fmt"
	"image"
	"slices"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/keyname"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// dragSteps is in how many moves a drag gets from one place to the other.
const dragSteps = 8

var buttons = [...]string{driver.Left: wire.Left, driver.Right: wire.Right, driver.Middle: wire.Middle}

// plan is a gesture taken apart.
type plan struct {
	name   string
	events []wire.Event
	middle int // the fault point lies after this event; -1: there is none
}

// lower takes a gesture apart, or says why it cannot be done; then nothing is
// to be sent. Where the fault point lies:
//
//   - click: after the last press, so that an icon is already opened by a double
//     click and a button, which acts on release, is not yet clicked
//   - drag: half way, the button down
//   - type, scroll: after half of the events
//   - paste: after the paste key is up again, so that the text is in, ctrl down
//   - combo: after the last key went down, so that its effect is there
//   - move, focus: nowhere, they are one event
func lower(in driver.Input, monitors []driver.Monitor) (plan, error) {
	switch in := in.(type) {
	case driver.Click:
		return click(in, monitors)
	case driver.Move:
		return plan{"move", []wire.Event{moveTo(in.At)}, -1}, onScreen(monitors, in.At)
	case driver.Drag:
		return drag(in, monitors)
	case driver.Type:
		return typing(in)
	case driver.Paste:
		down, up := keys("ctrl"), keysUp("ctrl")
		events := slices.Concat([]wire.Event{{Kind: wire.Clipboard, Text: in.Text}}, down, keys("v"), keysUp("v"), up)
		return plan{"paste", events, len(events) - 2}, nil
	case driver.Combo:
		names, err := keyNames(in.Keys, false)
		if err != nil {
			return plan{}, err
		}
		return plan{"combo", slices.Concat(keys(names...), keysUp(names...)), len(names) - 1}, nil
	case driver.Scroll:
		return scroll(in, monitors)
	case driver.Focus:
		return plan{"focus", []wire.Event{{Kind: wire.Activate, Window: in.WindowID}}, -1}, nil
	}
	return plan{}, fmt.Errorf("%T: %w", in, driver.ErrUnsupported)
}

func click(in driver.Click, monitors []driver.Monitor) (plan, error) {
	button, err := buttonName(in.Button)
	if err != nil {
		return plan{}, err
	}
	if in.Count < 1 || in.Count > 3 {
		return plan{}, fmt.Errorf("%d clicks: %w", in.Count, driver.ErrUnsupported)
	}
	modifiers := []string{}
	if len(in.Modifiers) > 0 {
		if modifiers, err = keyNames(in.Modifiers, true); err != nil {
			return plan{}, err
		}
	}
	events := append([]wire.Event{moveTo(in.At)}, keys(modifiers...)...)
	for range in.Count {
		events = append(events, wire.Event{Kind: wire.ButtonDown, Button: button}, wire.Event{Kind: wire.ButtonUp, Button: button})
	}
	middle := len(events) - 2
	return plan{"click", append(events, keysUp(modifiers...)...), middle}, onScreen(monitors, in.At)
}

func drag(in driver.Drag, monitors []driver.Monitor) (plan, error) {
	button, err := buttonName(in.Button)
	if err != nil {
		return plan{}, err
	}
	events := []wire.Event{moveTo(in.From), {Kind: wire.ButtonDown, Button: button}}
	for step := 1; step <= dragSteps; step++ {
		at := in.From.Add(in.To.Sub(in.From).Mul(step).Div(dragSteps))
		if onScreen(monitors, at) == nil { // between two monitors there may be nothing
			events = append(events, moveTo(at))
		}
	}
	events = append(events, wire.Event{Kind: wire.ButtonUp, Button: button})
	return plan{"drag", events, len(events) / 2}, onScreen(monitors, in.From, in.To)
}

func typing(in driver.Type) (plan, error) {
	if err := keyname.CheckText(in.Text); err != nil {
		return plan{}, driver.Tellable(fmt.Errorf("%w: %w", driver.ErrUnsupported, err))
	}
	var events []wire.Event
	for _, r := range in.Text {
		switch r {
		case '\n':
			events = append(events, slices.Concat(keys("enter"), keysUp("enter"))...)
		case '\t':
			events = append(events, slices.Concat(keys("tab"), keysUp("tab"))...)
		default:
			events = append(events, wire.Event{Kind: wire.Char, Text: string(r)})
		}
	}
	return plan{"type", events, half(len(events))}, nil
}

func scroll(in driver.Scroll, monitors []driver.Monitor) (plan, error) {
	events := []wire.Event{moveTo(in.At)}
	turn := func(notches int, one wire.Event, back wire.Event) {
		for ; notches > 0; notches-- {
			events = append(events, one)
		}
		for ; notches < 0; notches++ {
			events = append(events, back)
		}
	}
	turn(in.Vertical, wire.Event{Kind: wire.Wheel, Y: 1}, wire.Event{Kind: wire.Wheel, Y: -1})
	turn(in.Horizontal, wire.Event{Kind: wire.Wheel, X: 1}, wire.Event{Kind: wire.Wheel, X: -1})
	return plan{"scroll", events, half(len(events))}, onScreen(monitors, in.At)
}

// half is the event in the middle of n, or none when there is no middle.
func half(n int) int {
	if n < 2 {
		return -1
	}
	return (n - 1) / 2
}

func moveTo(at image.Point) wire.Event { return wire.Event{Kind: wire.Move, X: at.X, Y: at.Y} }

func keys(names ...string) []wire.Event {
	events := make([]wire.Event, len(names))
	for i, name := range names {
		events[i] = wire.Event{Kind: wire.KeyDown, Key: name}
	}
	return events
}

// keysUp lets go of keys in reverse.
func keysUp(names ...string) []wire.Event {
	events := make([]wire.Event, len(names))
	for i, name := range names {
		events[len(names)-1-i] = wire.Event{Kind: wire.KeyUp, Key: name}
	}
	return events
}

// keyNames reads key names; at least one must be given.
func keyNames(names []string, modifiers bool) ([]string, error) {
	parsed, err := keyname.ParseAll(names)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrUnsupported, err)
	}
	if len(parsed) == 0 {
		return nil, fmt.Errorf("a combo of no keys: %w", driver.ErrUnsupported)
	}
	read := make([]string, len(parsed))
	for i, key := range parsed {
		if modifiers && !key.Modifier() {
			return nil, fmt.Errorf("%q is no modifier: %w", key, driver.ErrUnsupported)
		}
		read[i] = key.String()
	}
	return read, nil
}

func buttonName(b driver.Button) (string, error) {
	if b < 0 || int(b) >= len(buttons) {
		return "", fmt.Errorf("button %d: %w", b, driver.ErrUnsupported)
	}
	return buttons[b], nil
}

func onScreen(monitors []driver.Monitor, places ...image.Point) error {
	for _, at := range places {
		if !slices.ContainsFunc(monitors, func(m driver.Monitor) bool { return at.In(m.Bounds) }) {
			return fmt.Errorf("%v: %w", at, driver.ErrOffScreen)
		}
	}
	return nil
}
