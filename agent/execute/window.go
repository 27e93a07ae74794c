package execute

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

// shownTitles is how many titles a message names at most.
const shownTitles = 8

// checkTitle looks until the active window's title is the expected one, for as
// long as an effect may take: a window that was just asked for needs its time.
func (r *run) checkTitle(ctx context.Context, want string, code work.Code) error {
	title, shown := "", ""
	ok, err := r.watch(ctx, r.job.Settings.EffectTimeout, func() (bool, error) {
		windows, err := r.cfg.Driver.Windows(ctx)
		if err != nil {
			return false, err
		}
		title = activeTitle(windows)
		shown = r.untold(ctx, fmt.Sprintf("%q", title), windows)
		return titleIs(title, want, r.job.Action.Strict), nil
	})
	if err != nil {
		return err
	}
	if !ok {
		return faultf(code, "the window in front is %s, expected was %q", shown, want)
	}
	return nil
}

func activeTitle(windows []driver.Window) string {
	for _, w := range windows {
		if w.Active {
			return w.Title
		}
	}
	return ""
}

func titleIs(title, want string, strict bool) bool {
	if strict {
		return title == want
	}
	return containsFold(title, want)
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// windowByTitle returns the window whose title contains the text. Of several the
// active one is meant; if none of them is, none is chosen.
func (r *run) windowByTitle(ctx context.Context, title string) (driver.Window, error) {
	return r.selectOne(ctx, func(w driver.Window) bool { return containsFold(w.Title, title) })
}

func (r *run) selectOne(ctx context.Context, match func(driver.Window) bool) (driver.Window, error) {
	windows, err := r.cfg.Driver.Windows(ctx)
	if err != nil {
		return driver.Window{}, err
	}
	var found []driver.Window
	for _, w := range windows {
		if match(w) {
			found = append(found, w)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	for _, w := range found {
		if w.Active {
			return w, nil
		}
	}
	if len(found) > 1 {
		return driver.Window{}, faultf(work.TargetNotFound, "%d windows match and none of them is in front: %s", len(found), r.titles(ctx, found))
	}
	return driver.Window{}, faultf(work.TargetNotFound, "no window matches; there are %s", r.titles(ctx, windows))
}

// titles names windows for people.
func (r *run) titles(ctx context.Context, windows []driver.Window) string {
	if len(windows) == 0 {
		return "none"
	}
	var quoted []string
	for _, w := range windows[:min(len(windows), shownTitles)] {
		quoted = append(quoted, fmt.Sprintf("%q", w.Title))
	}
	if more := len(windows) - shownTitles; more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return r.untold(ctx, strings.Join(quoted, ", "), windows)
}

// matcher compiles a selector: all that is set must match.
func matcher(s work.WindowSelector) (func(driver.Window) bool, error) {
	title := func(string) bool { return true }
	switch {
	case s.Title == "":
	case s.Match == work.Exact:
		title = func(t string) bool { return t == s.Title }
	case s.Match == work.Regexp:
		re, err := regexp.Compile(s.Title)
		if err != nil {
			return nil, faultf(work.InvalidAction, "the window's title: %v", err)
		}
		title = re.MatchString
	default:
		title = func(t string) bool { return containsFold(t, s.Title) }
	}
	return func(w driver.Window) bool {
		return title(w.Title) && (s.Class == "" || s.Class == w.Class) &&
			(s.Process == "" || strings.EqualFold(s.Process, w.Process))
	}, nil
}

// waitForWindow waits until a window matches; only the action's time-out ends
// it.
func (r *run) waitForWindow(ctx context.Context, s work.WindowSelector) error {
	match, err := matcher(s)
	if err != nil {
		return err
	}
	seen := "none"
	_, err = r.watch(ctx, untilStopped, func() (bool, error) {
		windows, err := r.cfg.Driver.Windows(ctx)
		if err != nil {
			return false, err
		}
		seen = r.titles(ctx, windows)
		for _, w := range windows {
			if match(w) {
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil {
		return nil
	}
	if code, _ := codeOf(ctx, err); code == work.Timeout {
		return faultf(work.Timeout, "no window matched in time; there were %s", seen)
	}
	return err
}

// oneWindow looks for the one window that matches, for as long as a target may
// be looked for.
func (r *run) oneWindow(ctx context.Context, s work.WindowSelector) (driver.Window, error) {
	match, err := matcher(s)
	if err != nil {
		return driver.Window{}, err
	}
	var found driver.Window
	var reason error
	ok, err := r.watch(ctx, r.job.Settings.ResolveTimeout, func() (bool, error) {
		if found, reason = r.selectOne(ctx, match); reason == nil {
			return true, nil
		}
		if fallsThrough(reason) {
			return false, nil
		}
		return false, reason
	})
	if err == nil && !ok {
		err = reason
	}
	return found, err
}
