package execute

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/wait"
)

var buttons = map[work.Button]driver.Button{work.Left: driver.Left, work.Right: driver.Right, work.Middle: driver.Middle}

var selectAll = driver.Combo{Keys: []string{"ctrl", "a"}}

// prepare does all that needs no input, such as waiting and finding the target,
// and returns the gestures to send; none for an action that only waits or looks.
func (r *run) prepare(ctx context.Context) ([]driver.Input, error) {
	switch g := r.job.Action.Do.(type) {
	case work.Wait:
		r.job.Doing("waiting")
		return nil, wait.For(ctx, g.For)
	case work.WaitForTarget:
		return nil, r.waitForTarget(ctx)
	case work.WaitForWindow:
		r.job.Doing("waiting for a window")
		return nil, r.waitForWindow(ctx, g.Window)
	case work.Screenshot:
		return nil, r.screenshot(ctx, g.Window)
	case work.FocusWindow:
		r.job.Doing("looking for a window")
		w, err := r.oneWindow(ctx, g.Window)
		return []driver.Input{driver.Focus{WindowID: w.ID}}, err
	case work.Type:
		return r.typing(ctx, g)
	case work.Paste:
		return cleared(g.ClearFirst, driver.Paste{Text: string(g.Text)}), nil
	case work.Combo:
		return []driver.Input{driver.Combo{Keys: g.Keys}}, nil
	}
	return r.pointing(ctx)
}

// pointing prepares the gestures that go to a place.
func (r *run) pointing(ctx context.Context) ([]driver.Input, error) {
	var gesture func(p place) (driver.Input, error)
	switch g := r.job.Action.Do.(type) {
	case work.Click:
		gesture = func(p place) (driver.Input, error) {
			return driver.Click{At: p.at, Button: buttons[g.Button], Count: max(g.Count, 1), Modifiers: g.Modifiers, On: p.on}, nil
		}
	case work.Move:
		gesture = func(p place) (driver.Input, error) { return driver.Move{At: p.at}, nil }
	case work.Scroll:
		gesture = func(p place) (driver.Input, error) {
			return driver.Scroll{At: p.at, Vertical: g.Vertical, Horizontal: g.Horizontal, On: p.on}, nil
		}
	case work.Drag:
		gesture = func(p place) (driver.Input, error) {
			to, err := r.resolve(ctx, &g.To, r.job.Settings.ResolveTimeout)
			r.places = append(r.places, to.at)
			return driver.Drag{From: p.at, To: to.at, Button: buttons[g.Button], On: p.on}, err
		}
	default:
		return nil, faultf(work.Unsupported, "this agent can't execute %q", r.job.Action.Kind)
	}
	found, err := r.find(ctx, r.job.Action.Target, r.job.Settings.ResolveTimeout)
	if err != nil {
		return nil, err
	}
	in, err := gesture(found)
	return []driver.Input{in}, err
}

// typing prepares to type: at a target, a click there comes first.
func (r *run) typing(ctx context.Context, g work.Type) ([]driver.Input, error) {
	text := string(g.Text)
	if g.Secret != "" {
		secret, err := r.secret(ctx, g.Secret)
		if err != nil {
			return nil, err
		}
		text = secret
	}
	typed := cleared(g.ClearFirst, written(text, g.Mode))
	if r.job.Action.Target == nil && r.job.Action.Corrected == nil {
		return typed, nil
	}
	found, err := r.find(ctx, r.job.Action.Target, r.job.Settings.ResolveTimeout)
	if err != nil {
		return nil, err
	}
	return append([]driver.Input{driver.Click{At: found.at, Count: 1, On: found.on}}, typed...), nil
}

// waitForTarget waits until the target is seen; a point beside a way to see it
// is no substitute here.
func (r *run) waitForTarget(ctx context.Context) error {
	t := r.job.Action.Target
	if t != nil && len(ways(t)) > 0 {
		seen := *t
		seen.Point = nil
		t = &seen
	}
	_, err := r.find(ctx, t, untilStopped)
	return err
}

// written is the gesture that writes a text.
func written(text string, mode work.TypeMode) driver.Input {
	switch mode {
	case work.Clipboard:
		return driver.Paste{Text: text}
	case work.Characters:
		return driver.Type{Text: text, Mode: driver.Characters}
	case work.ScanCodes:
		return driver.Type{Text: text, Mode: driver.ScanCodes}
	}
	return driver.Type{Text: text}
}

func cleared(first bool, in driver.Input) []driver.Input {
	if first {
		return []driver.Input{selectAll, in}
	}
	return []driver.Input{in}
}

// errNoSecrets says that this agent was given no secrets.
var errNoSecrets = errors.New("this agent holds no secrets")

func (r *run) secret(ctx context.Context, name string) (string, error) {
	if r.cfg.Secrets == nil {
		return "", faultf(work.InvalidAction, "secret %q: %v", name, errNoSecrets)
	}
	text, err := r.cfg.Secrets.Secret(ctx, name)
	if err != nil {
		return "", faultf(work.InvalidAction, "secret %q: %v", name, err)
	}
	return text, nil
}

// find looks for the action's place, which is at t unless a person showed it, and notes how it was found.
func (r *run) find(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	r.job.Doing("looking for the target")
	began := time.Now()
	found, err := r.locate(ctx, t, limit)
	r.outcome.ResolveElapsed += time.Since(began)
	if err != nil {
		return place{}, err
	}
	r.outcome.Method, r.outcome.Score = found.method, found.score
	r.outcome.Position = &work.Position{X: found.at.X, Y: found.at.Y}
	r.places = []image.Point{found.at}
	return found, nil
}
