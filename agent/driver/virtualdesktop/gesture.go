package virtualdesktop

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Do performs one gesture, event by event. An event whose reply did not come
// counts as sent, since the desktop may have taken it.
func (d *Driver) Do(ctx context.Context, in driver.Input) error {
	d.gesture.Lock()
	defer d.gesture.Unlock()
	p, err := d.prepare(ctx, in)
	if err != nil {
		return &driver.InputError{Err: err}
	}
	if combo, ok := in.(driver.Combo); ok && combo.Front != "" {
		if err := d.inFront(ctx, combo.Front); err != nil {
			return &driver.InputError{Err: err}
		}
	}
	sent, err := d.perform(ctx, p)
	if err != nil {
		return &driver.InputError{Sent: sent, Err: err}
	}
	if focus, ok := in.(driver.Focus); ok {
		if err := d.inFront(ctx, focus.WindowID); err != nil {
			return &driver.InputError{Sent: sent, Err: err}
		}
	}
	return nil
}

// prepare checks all that can be known before the first event leaves.
func (d *Driver) prepare(ctx context.Context, in driver.Input) (plan, error) {
	if err := ctx.Err(); err != nil {
		return plan{}, context.Cause(ctx)
	}
	condition, err := asked(ctx, d, wire.InputClient.Condition)
	if err != nil {
		return plan{}, err
	}
	if condition != wire.Active {
		return plan{}, driver.Tellable(fmt.Errorf("%w: it is %s", driver.ErrUnavailable, condition))
	}
	monitors, err := d.Monitors(ctx)
	if err != nil {
		return plan{}, err
	}
	p, err := lower(in, monitors)
	if err != nil || driver.On(in) == "" {
		return p, err
	}
	windows, err := d.Windows(ctx)
	if err != nil {
		return plan{}, err
	}
	return p, driver.Uncovered(in, windows)
}

// perform sends the events and says how many left. On every way out it lets go
// of what it pressed.
func (d *Driver) perform(ctx context.Context, p plan) (sent int, err error) {
	var held []wire.Event // what lets go of it, the last pressed last
	defer func() {
		for i := len(held) - 1; i >= 0; i-- {
			if up := d.send(ctx, held[i]); up != nil {
				err = errors.Join(err, fmt.Errorf("letting go: %w", up))
			}
		}
	}()
	for i, e := range p.events {
		if ctx.Err() != nil {
			return sent, context.Cause(ctx)
		}
		held = holding(held, e)
		if err := d.send(ctx, e); err != nil {
			return failure(err, sent)
		}
		sent++
		p.pass(i)
	}
	return sent, nil
}

// pass stands at the fault points after an event.
func (p plan) pass(i int) {
	if !faultpoint.Enabled {
		return
	}
	faultpoint.Hit(faultpoint.AgentInputEvent, fmt.Sprintf("%s %d/%d %s", p.name, i+1, len(p.events), p.events[i].Kind))
	if i == p.middle {
		faultpoint.Hit(faultpoint.AgentMidInput, p.name)
	}
}

// send delivers one event. It does not end early with ctx: whether an event was
// taken must not stay unknown because someone changed his mind.
func (d *Driver) send(ctx context.Context, e wire.Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	client, _, err := d.lines.take(ctx)
	if err != nil {
		return err
	}
	err = client.Send(ctx, e)
	d.lines.give(client, err)
	return err
}

// holding is what must be let go once e has left. An event that presses counts
// before it is sent: should its reply be lost, the key may be down.
func holding(held []wire.Event, e wire.Event) []wire.Event {
	switch e.Kind {
	case wire.KeyDown:
		return append(held, wire.Event{Kind: wire.KeyUp, Key: e.Key})
	case wire.ButtonDown:
		return append(held, wire.Event{Kind: wire.ButtonUp, Button: e.Button})
	case wire.KeyUp, wire.ButtonUp:
		for i := len(held) - 1; i >= 0; i-- {
			if held[i] == e {
				return append(held[:i:i], held[i+1:]...)
			}
		}
	}
	return held
}

// failure is how much was sent, and why no more, when an event after sent others
// failed. A desktop that went away in the middle of a gesture is ErrBlocked:
// ErrUnavailable says that nothing was sent.
func failure(err error, sent int) (int, error) {
	if refused := (*wire.Error)(nil); errors.As(err, &refused) {
		return sent, refusal(refused, sent)
	}
	if !errors.Is(err, driver.ErrUnavailable) {
		return sent + 1, err // it may have been taken
	}
	if sent > 0 {
		err = fmt.Errorf("%w: %v", driver.ErrBlocked, err) //nolint:errorlint // what it wraps must not be found: something was sent
	}
	return sent, err
}

func refusal(err *wire.Error, sent int) error {
	switch {
	case errors.Is(err, wire.ErrOffScreen):
		return fmt.Errorf("%w: %w", driver.ErrOffScreen, err)
	case errors.Is(err, wire.ErrNoWindow):
		return fmt.Errorf("%w: %w", driver.ErrNotInFront, err)
	case errors.Is(err, wire.ErrLocked) || errors.Is(err, wire.ErrDisconnected):
		if sent == 0 {
			return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
		}
		return fmt.Errorf("%w: %w", driver.ErrBlocked, err)
	}
	return fmt.Errorf("%w: %w", driver.ErrUnsupported, err)
}

// inFront fails unless a window is the topmost and has the keyboard.
func (d *Driver) inFront(ctx context.Context, id string) error {
	windows, err := d.Windows(ctx)
	if err != nil {
		return err
	}
	if len(windows) == 0 || windows[0].ID != id || !windows[0].Active {
		return driver.ErrNotInFront
	}
	return nil
}
