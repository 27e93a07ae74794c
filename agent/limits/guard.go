package limits

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
)

const (
	// lookEvery is how often the windows are looked at while something is typed.
	lookEvery = 20 * time.Millisecond
	// frontTime is how long a window has to come to the front before keys are refused.
	frontTime = 2 * time.Second
)

// Wrap returns the driver with its limits. It has driver.Elements and driver.Attended if
// d has them. Without rules it is d itself.
func Wrap(d driver.Driver, rules Rules) driver.Driver {
	if len(rules.NeverTypeInto)+len(rules.NeverPicture) == 0 {
		return d
	}
	g := &guard{Driver: d, rules: rules}
	elements, finds := d.(driver.Elements)
	attended, isAttended := d.(driver.Attended)
	switch {
	case finds && isAttended:
		return struct {
			*guard
			finder
			driver.Attended
		}{g, finder{elements}, attended}
	case finds:
		return struct {
			*guard
			finder
		}{g, finder{elements}}
	case isAttended:
		return struct {
			*guard
			driver.Attended
		}{g, attended}
	}
	return g
}

// finder has the method of driver.Elements, which no field of that name then hides.
type finder struct{ tree driver.Elements }

func (f finder) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	return f.tree.Elements(ctx, windowID, e)
}

// guard is a driver with limits.
type guard struct {
	driver.Driver
	rules Rules
}

// forbidden is the error for a window that a rule means. It tells the rule and not the
// window's title, which may itself be nobody's business.
func forbidden(r *Rule, what string) error {
	return driver.Tellable(fmt.Errorf("the limits of this machine forbid %s (rule %s): %w", what, r, driver.ErrBlocked))
}

// errNoFront says that keys would go nobody knows where.
var errNoFront = driver.Tellable(fmt.Errorf("the limits of this machine forbid input while it is not known which window is in front: %w", driver.ErrBlocked))

// Do implements driver.Hands. A gesture into a window that a rule means is
// driver.ErrBlocked; one that is cut short when such a window comes to the front says how
// much was sent before.
func (g *guard) Do(ctx context.Context, in driver.Input) error {
	if len(g.rules.NeverTypeInto) == 0 {
		return g.Driver.Do(ctx, in)
	}
	switch in := in.(type) {
	case driver.Type, driver.Paste, driver.Combo:
		if err := g.frontAllows(ctx); err != nil {
			return &driver.InputError{Err: err}
		}
		return g.watched(ctx, in)
	case driver.Click, driver.Drag, driver.Scroll:
		if err := g.placesAllow(ctx, driver.Places(in)); err != nil {
			return &driver.InputError{Err: err}
		}
	}
	return g.Driver.Do(ctx, in)
}

// frontAllows says whether keys may go to the window in front, and waits for there to be
// one.
func (g *guard) frontAllows(ctx context.Context) error {
	patience := time.NewTimer(frontTime)
	defer patience.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		rule, known, err := g.front(ctx)
		switch {
		case err != nil:
			return err
		case rule != nil:
			return forbidden(rule, "input into the window in front")
		case known:
			return nil
		}
		select {
		case <-look.C:
		case <-patience.C:
			return errNoFront
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// front returns the rule that means the window in front, and whether there is one that
// is known.
func (g *guard) front(ctx context.Context) (*Rule, bool, error) {
	windows, err := g.Windows(ctx)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.Active })
	if i < 0 {
		return nil, false, nil
	}
	return first(g.rules.NeverTypeInto, windows[i]), true, nil
}

// placesAllow says whether a gesture may go to the windows at its places.
func (g *guard) placesAllow(ctx context.Context, places []image.Point) error {
	windows, err := g.Windows(ctx)
	if err != nil {
		return err
	}
	for _, at := range places {
		i := slices.IndexFunc(windows, func(w driver.Window) bool { return at.In(w.Bounds) })
		if i < 0 {
			continue // on no window
		}
		if rule := first(g.rules.NeverTypeInto, windows[i]); rule != nil {
			return forbidden(rule, "input into the window at that place")
		}
	}
	return nil
}

// watched does a gesture, and cuts it short when a window that a rule means comes to the
// front meanwhile.
func (g *guard) watched(ctx context.Context, in driver.Input) error {
	doing, stop := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := g.watch(doing); err != nil {
			stop(err)
		}
	}()
	err := g.Driver.Do(doing, in)
	cut := context.Cause(doing)
	stop(nil)
	<-over
	var input *driver.InputError
	if cut == nil || ctx.Err() != nil || !errors.As(err, &input) {
		return err
	}
	return &driver.InputError{Sent: input.Sent, Err: cut}
}

// watch looks at the window in front until ctx ends, which is no error, or a rule means
// it.
func (g *guard) watch(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		rule, _, err := g.front(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case rule != nil:
			return forbidden(rule, "input into the window that came to the front")
		}
	}
}
