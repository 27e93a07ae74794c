package execute_test

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

// forest is a screen whose windows have elements.
type forest struct {
	*screen
	elements map[string][]driver.Found // of each window, by its id
	fails    func(windowID string) error
	began    time.Time
	grows    map[time.Duration]func(*forest) // what happens so long after the beginning
	asked    []string                        // each question: the window's id and the element
}

func newForest() *forest {
	return &forest{screen: newScreen(), elements: map[string][]driver.Found{}, fails: func(string) error { return nil }, began: time.Now()}
}

func (f *forest) plant(window string, found ...driver.Found) {
	f.elements[window] = append(f.elements[window], found...)
}

func (f *forest) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	f.asked = append(f.asked, fmt.Sprintf("%s %s/%s/%s", windowID, e.Name, e.AutomationID, e.ControlType))
	for after, change := range f.grows {
		if time.Since(f.began) >= after {
			delete(f.grows, after)
			change(f)
		}
	}
	if err := f.fails(windowID); err != nil {
		return nil, err
	}
	var out []driver.Found
	for _, w := range f.windows {
		for _, found := range f.elements[w.ID] {
			if (windowID == "" || windowID == w.ID) && (e.Name == "" || e.Name == found.Name) &&
				(e.AutomationID == "" || e.AutomationID == found.AutomationID) && (e.ControlType == "" || e.ControlType == found.ControlType) {
				out = append(out, found)
			}
		}
	}
	return out, ctx.Err()
}

// button is one at the left edge of the editor, so far down.
func button(name string, down int) driver.Found {
	return driver.Found{
		Element: driver.Element{Name: name, ControlType: "Button"}, OnScreen: true, Enabled: true,
		Bounds: image.Rect(100, 100+down, 140, 120+down),
	}
}

func element(name, id, kind string) *work.Target {
	return &work.Target{UIA: &work.UIA{Name: name, AutomationID: id, ControlType: kind}}
}

// search performs an action on the forest.
func search(ctx context.Context, f *forest, a work.Action) work.Outcome {
	return execute.New(execute.Config{Driver: f, Anchors: &shelf{}}).Execute(ctx, work.Job{
		Dispatch: work.Dispatch{Ref: work.Ref{ActionID: "a"}, Action: a},
		Settings: work.Settings{}.WithDefaults(), Begin: func() error { return nil }, Doing: func(string) {},
	})
}
