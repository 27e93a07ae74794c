package windesktop

import (
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// plan is a gesture taken apart.
type plan struct {
	steps  []step
	middle int // the fault point lies after this input event, from 0; -1: there is none
}

// step is one thing to do of a gesture.
type step interface {
	// count is how many input events the step is.
	count() int
}

type (
	// moveStep puts the pointer somewhere and checks that it came.
	moveStep struct{ at image.Point }
	// sendStep sends events as one call, if front is in front; 0: whatever is.
	sendStep struct {
		front  winapi.HWND
		events []winapi.Event
	}
	// aimStep sends events as one call that begins with a move to a place: whoever has
	// moved the pointer since it was looked at, the events come to that place.
	aimStep struct {
		at     image.Point
		events []winapi.Event
	}
	// toggleStep presses a lock key, and again when the gesture ends.
	toggleStep struct{ events []winapi.Event }
	// waitStep waits.
	waitStep struct{ d time.Duration }
)

func (moveStep) count() int     { return 1 }
func (s sendStep) count() int   { return len(s.events) }
func (s aimStep) count() int    { return 1 + len(s.events) }
func (s toggleStep) count() int { return len(s.events) }
func (waitStep) count() int     { return 0 }

// count is how many input events a plan is.
func (p plan) count() int {
	n := 0
	for _, s := range p.steps {
		n += s.count()
	}
	return n
}

// halved has its fault point after half of the events.
func halved(steps []step) plan {
	p := plan{steps: steps}
	p.middle = (p.count() - 1) / 2
	if p.count() < 2 {
		p.middle = -1
	}
	return p
}

// A drag stops over its places, since programs begin and end one by time, and goes
// in steps, since they look at the way.
const (
	dragDwell = 60 * time.Millisecond
	dragPause = 8 * time.Millisecond
	dragSteps = 12
)

// button is how one button of the mouse goes down and up.
type button struct{ down, up winapi.MouseEvent }

// buttonOf takes left as the user's main button. Events are of the buttons as they
// lie on the mouse, and Windows swaps them afterwards.
func buttonOf(b driver.Button, swapped bool) (button, error) {
	left := button{winapi.MouseEvent{Flags: winapi.MouseLeftDown}, winapi.MouseEvent{Flags: winapi.MouseLeftUp}}
	right := button{winapi.MouseEvent{Flags: winapi.MouseRightDown}, winapi.MouseEvent{Flags: winapi.MouseRightUp}}
	if swapped {
		left, right = right, left
	}
	switch b {
	case driver.Left:
		return left, nil
	case driver.Right:
		return right, nil
	case driver.Middle:
		return button{winapi.MouseEvent{Flags: winapi.MouseMiddleDown}, winapi.MouseEvent{Flags: winapi.MouseMiddleUp}}, nil
	}
	return button{}, fmt.Errorf("button %d: %w", b, driver.ErrUnsupported)
}

// planClick moves, then aims and presses everything in one call. Its fault point lies after
// the last press: what acts on a press is done then, what acts on a release not yet.
func (b board) planClick(in driver.Click) (plan, error) {
	button, err := buttonOf(in.Button, b.system.ButtonsSwapped())
	if err != nil {
		return plan{}, err
	}
	if in.Count < 1 || in.Count > 3 {
		return plan{}, fmt.Errorf("%d clicks: %w", in.Count, driver.ErrUnsupported)
	}
	vks, err := b.modifiers(in.Modifiers)
	if err != nil {
		return plan{}, err
	}
	around := b.press(vks...)
	events := slices.Clone(around[:len(vks)])
	for range in.Count {
		events = append(events, button.down, button.up)
	}
	middle := len(events) // two moves come first
	events = append(events, around[len(vks):]...)
	return plan{steps: []step{moveStep{in.At}, aimStep{in.At, events}}, middle: middle}, nil
}

// planDrag goes a straight way. Places on it that are on no monitor are left out.
func (b board) planDrag(in driver.Drag, onMonitor func(image.Point) bool) (plan, error) {
	button, err := buttonOf(in.Button, b.system.ButtonsSwapped())
	if err != nil {
		return plan{}, err
	}
	steps := []step{moveStep{in.From}, aimStep{in.From, []winapi.Event{button.down}}, waitStep{dragDwell}}
	for _, at := range dragWay(in.From, in.To, b.system.DragThreshold(), onMonitor) {
		steps = append(steps, moveStep{at}, waitStep{dragPause})
	}
	return halved(append(steps, waitStep{dragDwell}, aimStep{in.To, []winapi.Event{button.up}})), nil
}

// dragWay is where a drag's pointer goes, the last place being to. A way too short
// for Windows to take it for a drag first goes farther, and comes back.
func dragWay(from, to, threshold image.Point, onMonitor func(image.Point) bool) []image.Point {
	var places []image.Point
	way := to.Sub(from)
	if way != (image.Point{}) && distance(way.X) <= threshold.X && distance(way.Y) <= threshold.Y {
		far := image.Pt(sign(way.X)*(threshold.X+1), sign(way.Y)*(threshold.Y+1))
		if !onMonitor(from.Add(far)) {
			far = far.Mul(-1)
		}
		places = append(places, from.Add(far))
	}
	for i := 1; i <= dragSteps; i++ {
		places = append(places, from.Add(way.Mul(i).Div(dragSteps)))
	}
	return slices.DeleteFunc(places, func(at image.Point) bool { return !onMonitor(at) })
}

func distance(d int) int { return max(d, -d) }

func sign(d int) int { return min(max(d, -1), 1) }

// planScroll turns the wheel notch by notch.
func planScroll(in driver.Scroll) plan {
	steps := []step{moveStep{in.At}}
	turn := func(notches int, flag uint32) {
		one := aimStep{in.At, []winapi.Event{winapi.MouseEvent{Data: int32(sign(notches) * winapi.WheelDelta), Flags: flag}}}
		for range distance(notches) {
			steps = append(steps, one)
		}
	}
	turn(in.Vertical, winapi.MouseWheel)
	turn(in.Horizontal, winapi.MouseHWheel)
	return halved(steps)
}

// planCombo is one call, for the window that it is meant for if it names one. Its fault
// point lies after the last key went down, so that its effect is there.
func (d *Driver) planCombo(b board, in driver.Combo) (plan, error) {
	vks, err := b.combo(in.Keys)
	if err != nil {
		return plan{}, err
	}
	s := sendStep{events: b.press(vks...)}
	if in.Front != "" {
		w, err := d.find(in.Front)
		if err != nil {
			return plan{}, fmt.Errorf("%w: %w", driver.ErrNotInFront, err)
		}
		s.front = w.HWND
	}
	return plan{steps: []step{s}, middle: len(vks) - 1}, nil
}

// planPaste is the paste key, for the window that is in front now. Its fault point
// lies after its last key is up again, so that the text is in, the others down.
func (b board) planPaste(names []string) (plan, error) {
	vks, err := b.combo(names)
	if err != nil {
		return plan{}, err
	}
	return plan{steps: []step{sendStep{front: b.front, events: b.press(vks...)}}, middle: len(vks)}, nil
}

// planMove moves and has no middle.
func planMove(at image.Point) plan { return plan{steps: []step{moveStep{at}}, middle: -1} }

// onGrid is the place of a pixel on the grid of absolute moves, 65536 by 65536 over
// the virtual desktop: its centre, since Windows rounds down to pixels. It is exact
// for screens up to 32768 pixels in each direction.
func onGrid(at image.Point, screen image.Rectangle) winapi.MouseEvent {
	const grid = 1 << 16
	return winapi.MouseEvent{
		X:     int32(((at.X-screen.Min.X)*grid + grid/2) / screen.Dx()),
		Y:     int32(((at.Y-screen.Min.Y)*grid + grid/2) / screen.Dy()),
		Flags: winapi.MouseMove | winapi.MouseAbsolute | winapi.MouseVirtualDesk,
	}
}
