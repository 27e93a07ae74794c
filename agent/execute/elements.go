package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

const (
	// nearTime is how long what came near is asked for, after the time for the target is
	// over: it only makes the message better.
	nearTime = 500 * time.Millisecond
	// shownElements is how many elements a message names at most.
	shownElements = 5
	// shownName is how many characters of an element's name a message shows at most:
	// the name of a text is the text.
	shownName = 60
)

// byElement looks for the element, again and again: a window may still be opening and
// a button not yet be enabled. Only one that is the only one is the target.
func (r *run) byElement(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	tree, ok := r.cfg.Driver.(driver.Elements)
	if !ok {
		return place{}, noWay(work.WayUIA)
	}
	s := &search{run: r, tree: tree, target: t, wanted: driver.Element(*t.UIA)}
	if s.wanted == (driver.Element{}) {
		return place{}, faultf(work.InvalidAction, "the element has no name, no automation id and no control type")
	}
	var found driver.Found
	var reason error
	ok, err := r.watch(ctx, limit, func() (bool, error) {
		found, reason = s.look(ctx)
		switch {
		case reason == nil:
			return true, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
		return false, lasting(reason)
	})
	switch {
	case err != nil:
		return place{}, err
	case !ok:
		return place{}, faultf(work.TargetNotFound, "%s%s", messageOf(reason), s.near(ctx))
	}
	return place{at: found.Place(), method: string(work.WayUIA), score: 1}, nil
}

// lasting is what another look will not change; nil: it may.
func lasting(err error) error {
	var f *fault
	switch {
	case errors.Is(err, driver.ErrBlocked):
		return faultf(work.InputBlocked, "%v", err)
	case errors.Is(err, driver.ErrUnsupported):
		return faultf(work.Unsupported, "%v", err)
	case errors.Is(err, driver.ErrUnavailable), errors.As(err, &f) && f.code != work.TargetNotFound:
		return err
	}
	return nil
}

func messageOf(err error) string {
	var f *fault
	if errors.As(err, &f) {
		return f.message
	}
	return err.Error()
}

// search looks for one element.
type search struct {
	*run
	tree   driver.Elements
	target *work.Target
	wanted driver.Element
	window string // id of the window that was searched last; empty: all of them
	absent bool   // the last look saw no such element at all
}

// look looks once, within the target's window if it names one.
func (s *search) look(ctx context.Context) (driver.Found, error) {
	s.window, s.absent = "", false
	if title := s.target.Window; title != "" {
		w, err := s.windowByTitle(ctx, title)
		if err != nil {
			return driver.Found{}, err
		}
		s.window = w.ID
	}
	all, err := s.tree.Elements(ctx, s.window, s.wanted)
	if err != nil {
		return driver.Found{}, err
	}
	s.absent = len(all) == 0
	return only(all, s.wanted)
}

// only returns the one element that a person could use now, or why there is none.
func only(all []driver.Found, wanted driver.Element) (driver.Found, error) {
	var usable []driver.Found
	shown := 0
	for _, f := range all {
		if !f.OnScreen || f.Bounds.Empty() {
			continue
		}
		shown++
		if f.Enabled {
			usable = append(usable, f)
		}
	}
	switch {
	case len(usable) == 1:
		return usable[0], nil
	case len(usable) > 1:
		return driver.Found{}, faultf(work.TargetNotFound, "%d elements match %s; only one may", len(usable), named(wanted))
	case shown > 0:
		return driver.Found{}, faultf(work.TargetNotFound, "the element %s is disabled", named(wanted))
	case len(all) > 0:
		return driver.Found{}, faultf(work.TargetNotFound, "the element %s is hidden or covered", named(wanted))
	}
	return driver.Found{}, faultf(work.TargetNotFound, "no element matches %s", named(wanted))
}

// near says for people which elements come near the one that was looked for: all but one
// of what it is named by fits, or its type does.
func (s *search) near(ctx context.Context) string {
	if !s.absent {
		return ""
	}
	ctx, done := context.WithTimeout(ctx, nearTime)
	defer done()
	hides, err := s.hiding(ctx)
	if err != nil {
		return ""
	}
	for _, e := range relaxed(s.wanted) {
		all, err := s.tree.Elements(ctx, s.window, e)
		if err != nil {
			return ""
		}
		all = slices.DeleteFunc(slices.Clone(all), func(f driver.Found) bool {
			return !f.OnScreen || f.Bounds.Empty() || hides(f.Bounds)
		})
		if len(all) > 0 {
			return "; there are " + list(all)
		}
	}
	return ""
}

// relaxed are the elements that come near one, the nearest first.
func relaxed(e driver.Element) []driver.Element {
	var out []driver.Element
	for _, r := range []driver.Element{
		{AutomationID: e.AutomationID, ControlType: e.ControlType},
		{Name: e.Name, ControlType: e.ControlType},
		{Name: e.Name, AutomationID: e.AutomationID},
		{ControlType: e.ControlType},
	} {
		if r != (driver.Element{}) && r != e && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// named says for people which element is meant.
func named(e driver.Element) string {
	var parts []string
	if e.ControlType != "" {
		parts = append(parts, e.ControlType)
	}
	if e.Name != "" {
		parts = append(parts, fmt.Sprintf("%q", short(e.Name)))
	}
	if e.AutomationID != "" {
		parts = append(parts, fmt.Sprintf("(automation id %q)", short(e.AutomationID)))
	}
	if len(parts) == 0 {
		return "without a name"
	}
	return strings.Join(parts, " ")
}

func short(s string) string {
	if runes := []rune(s); len(runes) > shownName {
		return string(runes[:shownName]) + "…"
	}
	return s
}

func list(all []driver.Found) string {
	var parts []string
	for _, f := range all[:min(len(all), shownElements)] {
		parts = append(parts, named(f.Element))
	}
	if more := len(all) - shownElements; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
