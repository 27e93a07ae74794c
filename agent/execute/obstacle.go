package execute

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/dialog"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// maxPopups is how many popups are closed for one action: a window that comes back at
// once, or a rule that matches what the action works in, must not keep it busy for ever.
const maxPopups = 5

// popup is a rule, ready to be asked.
type popup struct {
	work.Popup
	match func(driver.Window) bool
}

// attempted is a popup that was to be closed.
type attempted struct {
	id   string
	rule work.WindowSelector
	sent bool // input for it has left
	gone bool
}

// compile makes the rules ready: the action's and the machine's own.
func (r *run) compile() error {
	for _, p := range slices.Concat(r.job.Action.Popups, r.cfg.Popups) {
		match, err := matcher(p.Window)
		if err != nil {
			return err
		}
		r.popups = append(r.popups, popup{p, match})
	}
	return r.compileNames()
}

// unobstructed closes the popups that are in the way, and fails when a dialog of the
// system is: only a person can answer that.
func (r *run) unobstructed(ctx context.Context) error {
	for {
		windows, err := r.cfg.Driver.Windows(ctx)
		if err != nil {
			return err
		}
		r.account(windows)
		w, rule := r.obstacle(windows)
		if rule == nil {
			if d, ok := dialog.Find(windows, r.names); ok {
				return r.blockedBy(ctx, d, windows)
			}
			return nil
		}
		if err := r.dismiss(ctx, w, *rule); err != nil {
			return err
		}
	}
}

// account notes which of the popups that were to be closed are gone. One may fade for
// longer than it is waited for, and another go by itself before it got any input.
func (r *run) account(windows []driver.Window) {
	for _, t := range r.tried {
		if t.gone || slices.ContainsFunc(windows, func(w driver.Window) bool { return w.ID == t.id }) {
			continue
		}
		t.gone = true
		if t.sent {
			r.outcome = r.outcome.Warned(work.PopupHandled)
		}
	}
}

// gone is how many popups that were in the way are gone.
func (r *run) gone() int {
	n := 0
	for _, t := range r.tried {
		if t.gone {
			n++
		}
	}
	return n
}

// stayed says for people which rules sent input to popups that are still there; empty:
// none did.
func (r *run) stayed() string {
	var rules []string
	for _, t := range r.tried {
		if t.sent && !t.gone {
			rules = append(rules, "the popup that the rule for "+selected(t.rule)+" names got its input and stayed")
		}
	}
	return strings.Join(rules, "; ")
}

// selected says for people which windows a selector names, in its own words.
func selected(s work.WindowSelector) string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"title", s.Title}, {"class", s.Class}, {"process", s.Process}} {
		if p.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", p.name, p.value))
		}
	}
	return strings.Join(parts, ", ")
}

// obstacle returns the topmost window that a rule names; nil: there is none that may be
// closed. A window that shows nowhere, such as an icon, is in nobody's way.
func (r *run) obstacle(windows []driver.Window) (driver.Window, *popup) {
	for _, w := range windows {
		known := func(t *attempted) bool { return t.id == w.ID }
		if len(r.tried) == maxPopups || w.Bounds.Empty() || slices.ContainsFunc(r.tried, known) {
			continue
		}
		for i := range r.popups {
			if r.popups[i].match(w) {
				return w, &r.popups[i]
			}
		}
	}
	return driver.Window{}, nil
}

// dismiss closes one popup and looks whether it is gone. One that stays is left alone:
// whether the action can go on beside it, the action finds out.
func (r *run) dismiss(ctx context.Context, w driver.Window, rule popup) error {
	r.job.Doing("closing a popup")
	t := &attempted{id: w.ID, rule: rule.Window}
	r.tried = append(r.tried, t)
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.shut(ctx, t, rule); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.cfg.Log.Warn("a popup could not be closed", logkeys.Action, r.job.ActionID, logkeys.Error, untitled(err))
	}
	limit := time.Duration(0) // what got no input went by itself, or stays
	if t.sent {
		limit = r.job.Settings.EffectTimeout
	}
	_, err := r.until(ctx, limit, func() (bool, error) {
		now, err := r.cfg.Driver.Windows(ctx)
		if err == nil {
			r.account(now)
		}
		return t.gone, err
	})
	return err
}

// errCovered says that a click for a popup would hit another window.
var errCovered = errors.New("another window lies over the popup")

// shut sends a popup its input, unless another window would get it: the popup may have
// gone by itself since it was seen, or lie behind the window that is worked in.
func (r *run) shut(ctx context.Context, t *attempted, rule popup) error {
	front := driver.Focus{WindowID: t.id}
	if rule.Point == nil {
		if err := r.cfg.Driver.Do(ctx, front); err != nil {
			return err
		}
		return r.give(ctx, t, driver.Combo{Keys: rule.Keys, Front: t.id})
	}
	at, top, err := r.top(ctx, t.id, *rule.Point)
	if err == nil && !top {
		// Some popups never take the keyboard; what counts is what lies over them.
		if err = r.cfg.Driver.Do(ctx, front); err != nil && !errors.Is(err, driver.ErrNotInFront) {
			return err
		}
		at, top, err = r.top(ctx, t.id, *rule.Point)
	}
	switch {
	case err != nil:
		return err
	case !top:
		return errCovered
	}
	return r.give(ctx, t, driver.Click{At: at, Count: 1, On: t.id})
}

// give sends a popup one gesture.
func (r *run) give(ctx context.Context, t *attempted, in driver.Input) error {
	err := r.cfg.Driver.Do(ctx, in)
	t.sent = err == nil || !driver.NothingSent(err)
	return err
}

// top returns the pixel at a fraction of a window, as the window lies now, and whether no
// other one lies over that pixel.
func (r *run) top(ctx context.Context, id string, p work.Point) (image.Point, bool, error) {
	windows, err := r.cfg.Driver.Windows(ctx)
	if err != nil {
		return image.Point{}, false, err
	}
	i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.ID == id })
	switch {
	case i < 0:
		return image.Point{}, false, driver.ErrGone
	case windows[i].Bounds.Empty():
		return image.Point{}, false, driver.ErrOffScreen
	}
	at := within(windows[i].Bounds, p)
	return at, slices.IndexFunc(windows, func(w driver.Window) bool { return at.In(w.Bounds) }) == i, nil
}

// watch is until that also looks for what gets in the way meanwhile.
func (r *run) watch(ctx context.Context, limit time.Duration, look func() (bool, error)) (bool, error) {
	return r.until(ctx, limit, func() (bool, error) {
		if err := r.unobstructed(ctx); err != nil {
			return false, err
		}
		return look()
	})
}
