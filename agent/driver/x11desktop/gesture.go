package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// Do implements driver.Hands.
func (d *Driver) Do(ctx context.Context, in driver.Input) error {
	if err := ctx.Err(); err != nil {
		return &driver.InputError{Err: context.Cause(ctx)}
	}
	select {
	case d.hands <- struct{}{}:
		defer func() { <-d.hands }()
	case <-ctx.Done():
		return &driver.InputError{Err: context.Cause(ctx)}
	}
	sent, err := d.perform(ctx, in)
	if err != nil {
		return &driver.InputError{Sent: sent, Err: fmt.Errorf("%s: %w", driver.NameOf(in), err)}
	}
	return nil
}

// perform returns how many input events were sent.
func (d *Driver) perform(ctx context.Context, in driver.Input) (int, error) {
	state, err := d.State(ctx)
	if err != nil {
		return 0, err
	}
	if !state.Usable() {
		return 0, driver.Tellable(fmt.Errorf("%w: %v: %s", driver.ErrUnavailable, state.Kind, state.Detail))
	}
	l, err := d.connect(ctx)
	if err != nil {
		return 0, errors.Join(driver.ErrUnavailable, err)
	}
	if focus, ok := in.(driver.Focus); ok {
		return 0, l.focus(ctx, focus.WindowID)
	}
	if err = l.onScreen(in); err != nil {
		return 0, err
	}
	board, err := l.keyboard()
	if err != nil {
		return 0, fmt.Errorf("keyboard: %w", err)
	}
	steps, err := d.plan(l, board, in)
	if err != nil {
		return 0, err
	}
	if err = d.clear(ctx, l); err != nil {
		return 0, err
	}
	if driver.On(in) != "" {
		windows, err := l.windows()
		if err == nil {
			err = driver.Uncovered(in, windows)
		}
		if err != nil {
			return 0, err
		}
	}
	p := &player{link: l, gesture: driver.NameOf(in), settled: d.config.Settle, settle: d.settle, width: board.layout.width}
	switch in := in.(type) {
	case driver.Paste:
		err = d.paste(ctx, p, steps, in.Text)
	case driver.Type:
		err = p.play(ctx, board.withoutCaps(steps))
	default:
		err = p.play(ctx, steps)
	}
	return p.sent, err
}

// plan says which steps a gesture is. An error means that it is impossible here.
func (d *Driver) plan(l *link, board keyboard, in driver.Input) ([]step, error) {
	switch in := in.(type) {
	case driver.Click:
		return planClick(&board.layout, in)
	case driver.Move:
		return []step{moveStep{in.At}}, nil
	case driver.Drag:
		return planDrag(in)
	case driver.Type:
		return planText(&board.layout, in.Text, d.config.Settle)
	case driver.Paste:
		keys, err := d.pasteKeys(l)
		if err != nil {
			return nil, err
		}
		return planCombo(&board.layout, driver.Combo{Keys: keys}, d.config.Settle)
	case driver.Combo:
		return planCombo(&board.layout, in, d.config.Settle)
	case driver.Scroll:
		return planScroll(in), nil
	}
	return nil, fmt.Errorf("%T: %w", in, driver.ErrUnsupported)
}

// onScreen refuses a gesture that would begin or end on no monitor.
func (l *link) onScreen(in driver.Input) error {
	places := driver.Places(in)
	if len(places) == 0 {
		return nil
	}
	monitors, err := l.monitors()
	if err != nil {
		return err
	}
	for _, at := range places {
		if !slices.ContainsFunc(monitors, func(m driver.Monitor) bool { return at.In(m.Bounds) }) {
			return fmt.Errorf("%v: %w", at, driver.ErrOffScreen)
		}
	}
	return nil
}
