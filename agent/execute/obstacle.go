package execute

import (
	"context"
	"errors"
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

// compile makes the rules ready: the action's and the machine's own.
func (r *run) compile() error {
	for _, p := range slices.Concat(r.job.Action.Popups, r.cfg.Popups) {
		match, err := matcher(p.Window)
		if err != nil {
			return err
		}
		r.popups = append(r.popups, popup{p, match})
	}
	return nil
}

// unobstructed closes the popups that are in the way, and fails when a dialog of the
// system is: only a person can answer that.
func (r *run) unobstructed(ctx context.Context) error {
	for {
		windows, err := r.cfg.Driver.Windows(ctx)
		if err != nil {
			return err
		}
		w, rule := r.obstacle(windows)
		if rule == nil {
			if d, ok := dialog.Find(windows); ok {
				return r.blockedBy(d)
			}
			return nil
		}
		if err := r.dismiss(ctx, w, *rule); err != nil {
			return err
		}
	}
}

// obstacle returns the topmost window that a rule names; nil: there is none that may be
// closed.
func (r *run) obstacle(windows []driver.Window) (driver.Window, *popup) {
	for _, w := range windows {
		if len(r.tried) == maxPopups || slices.Contains(r.tried, w.ID) {
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
	r.tried = append(r.tried, w.ID)
	if err := r.begin(ctx); err != nil {
		return err
	}
	for _, in := range closing(w, rule) {
		if err := r.cfg.Driver.Do(ctx, in); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.cfg.Log.Warn("a popup could not be closed", logkeys.Action, r.job.ActionID, logkeys.Error, err)
			return nil
		}
	}
	gone, err := r.until(ctx, r.job.Settings.EffectTimeout, func() (bool, error) {
		now, err := r.cfg.Driver.Windows(ctx)
		return !slices.ContainsFunc(now, func(o driver.Window) bool { return o.ID == w.ID }), err
	})
	if err != nil {
		return err
	}
	if !gone {
		r.cfg.Log.Warn("a popup does not close", logkeys.Action, r.job.ActionID)
		return nil
	}
	r.closed++
	r.outcome = r.outcome.Warned(work.PopupHandled)
	return nil
}

// closing are the gestures that close a popup.
func closing(w driver.Window, rule popup) []driver.Input {
	if rule.Point != nil {
		return []driver.Input{driver.Click{At: within(w.Bounds, *rule.Point), Count: 1}}
	}
	return []driver.Input{driver.Focus{WindowID: w.ID}, driver.Combo{Keys: rule.Keys}}
}

func (r *run) blockedBy(d work.Dialog) error {
	r.outcome.Dialog = &d
	return faultf(work.SystemDialog, "%s", d.Reason)
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

// missed says whether an action did not find what it expected.
func missed(err error) bool {
	var f *fault
	return errors.As(err, &f) && (f.code == work.TargetNotFound || f.code == work.WrongWindow)
}

// because tells an action that did not find what it expected apart from one that has a
// dialog in front which it does not know of.
func (r *run) because(ctx context.Context, err error) error {
	wanted := r.job.Action.WindowBefore
	if t := r.job.Action.Target; wanted == "" && t != nil {
		wanted = t.Window
	}
	windows, failed := r.cfg.Driver.Windows(ctx)
	if wanted == "" || failed != nil {
		return err
	}
	windows = slices.DeleteFunc(slices.Clone(windows), func(w driver.Window) bool { return containsFold(w.Title, strings.TrimSpace(wanted)) })
	if d, ok := dialog.InFront(windows); ok {
		return r.blockedBy(d)
	}
	return err
}
