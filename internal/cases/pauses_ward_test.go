package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// ward is a world whose desktop and whose relay can be made to fail in a certain
// way, until they are cured.
type ward struct {
	*world
	desk   *moodyDesktop
	memory string // the folder of the agent's spool
}

func newWard(t *testing.T, change ...func(*setup)) *ward {
	t.Helper()
	w := &ward{desk: &moodyDesktop{}}
	w.world = newWorld(t, append(change, func(with *setup) {
		inner := with.agent
		with.agent = func(cfg *agent.Config) {
			if inner != nil {
				inner(cfg)
			}
			w.memory, w.desk.Driver, cfg.Driver, cfg.Secrets = cfg.StateDir, cfg.Driver, w.desk, w.desk
		}
	})...)
	synctest.Wait() // its agent has come
	return w
}

// moodyDesktop is a desktop with moods. It also holds the secret "door".
type moodyDesktop struct {
	driver.Driver
	mu sync.Mutex
	mood
}

// mood is how a desktop behaves; the zero value is a healthy one.
type mood struct {
	refuse func(context.Context, driver.Input) error // of a gesture, before it counts; nil: it is taken
	title  string                                    // of the window in front; empty: the desktop's own
	off    bool                                      // the window in front lies off the screen
	deaf   chan struct{}                             // what is asked of it waits until this is closed
	locked bool
	lost   bool // the secret is
}

// feel gives the desktop a mood.
func (d *moodyDesktop) feel(m mood) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf != nil {
		close(d.deaf)
	}
	d.mood = m
}

func (d *moodyDesktop) now() mood {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mood
}

// Do implements driver.Hands.
func (d *moodyDesktop) Do(ctx context.Context, in driver.Input) error {
	if m := d.now(); m.refuse != nil {
		if err := m.refuse(ctx, in); err != nil {
			return err
		}
	}
	return d.Driver.Do(ctx, in)
}

// State implements driver.Eyes. Every action begins with it.
func (d *moodyDesktop) State(ctx context.Context) (desktop.State, error) {
	m := d.now()
	if m.deaf != nil {
		select {
		case <-m.deaf:
		case <-ctx.Done():
			return desktop.State{}, context.Cause(ctx)
		}
	}
	if m.locked {
		return desktop.State{Kind: desktop.Locked, Detail: "somebody locked it"}, nil
	}
	return d.Driver.State(ctx)
}

// Windows implements driver.Eyes.
func (d *moodyDesktop) Windows(ctx context.Context) ([]driver.Window, error) {
	windows, err := d.Driver.Windows(ctx)
	m := d.now()
	if m.title != "" {
		windows[0].Title = m.title
	}
	if m.off {
		windows[0].Bounds = windows[0].Bounds.Add(screen.Size().Mul(2))
	}
	return windows, err
}

var errNoSecret = errors.New("no such secret")

// Secret implements execute.Secrets.
func (d *moodyDesktop) Secret(_ context.Context, name string) (string, error) {
	if name != "door" || d.now().lost {
		return "", errNoSecret
	}
	return "open sesame", nil
}

// refusing is the mood of a desktop that fails each gesture with err after so
// many of its input events.
func refusing(sent int, err error) mood {
	return mood{refuse: func(context.Context, driver.Input) error { return &driver.InputError{Sent: sent, Err: err} }}
}

// holding is the mood of a desktop that lets each gesture end in the middle, and
// only when the agent stops it.
func holding() mood {
	return mood{refuse: func(ctx context.Context, _ driver.Input) error {
		<-ctx.Done()
		return &driver.InputError{Sent: 1, Err: context.Cause(ctx)}
	}}
}

// panicking is the mood of a desktop whose driver has a fault of its own.
func panicking() mood {
	return mood{refuse: func(context.Context, driver.Input) error { panic("the driver is at its wits' end") }}
}

// onlyFor refuses the gestures of one kind.
func onlyFor[G driver.Input](err error) func(context.Context, driver.Input) error {
	return func(_ context.Context, in driver.Input) error {
		if _, is := in.(G); is {
			return err
		}
		return nil
	}
}

// lockAfterTheFirst makes the desktop take one gesture; then somebody locks it.
func (w *ward) lockAfterTheFirst() {
	w.desk.feel(mood{refuse: func(context.Context, driver.Input) error {
		w.desk.feel(mood{locked: true})
		return nil
	}})
}

// swallowing makes the desktop take input and do nothing with it.
func (w *ward) swallowing(does bool) {
	w.desktop.mu.Lock()
	defer w.desktop.mu.Unlock()
	w.desktop.swallow = does
}

// cure makes the desktop and the link healthy.
func (w *ward) cure() {
	w.desk.feel(mood{})
	w.swallowing(false)
	w.relay.onUp(nil)
	w.relay.onDown(nil)
}

// reporting lets the relay make a failure of every report that the agent sends:
// for errors that no desktop can bring this agent to.
func (w *ward) reporting(code reprisev1.ErrorCode, completion reprisev1.Completion, message string) {
	w.changing(func(r *reprisev1.Report) {
		r.Success, r.Completion = false, completion
		r.Error = &reprisev1.ActionError{Code: code, Message: message}
	})
}

// changing lets the relay change every report that the agent sends.
func (w *ward) changing(change func(*reprisev1.Report)) {
	w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		if r := m.GetReport(); r != nil {
			change(r)
		}
		return pass
	})
}

// mute lets the agent say that it has an attempt, and nothing more about it.
func (w *ward) mute() {
	received := map[string]bool{}
	w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		switch p := m.GetProgress(); {
		case p != nil && !received[p.GetAttemptId()]:
			received[p.GetAttemptId()] = true
		case p != nil || m.GetReport() != nil:
			return drop
		}
		return pass
	})
}

// stuck makes the agent one that takes work and never comes to an end with it, not even
// when it is asked to stop.
func (w *ward) stuck() {
	w.mute()
	w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
		if m.GetCancel() != nil {
			return drop
		}
		return pass
	})
	w.desk.feel(mood{deaf: make(chan struct{})})
}

// crash ends the agent's process as SIGKILL does: what its disk holds now is all
// that the next one finds, and nothing more is said.
func (w *ward) crash() {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.memory, "spool*"))
	w.must(err)
	kept := map[string][]byte{}
	for _, f := range files {
		kept[f], err = os.ReadFile(f)
		w.must(err)
	}
	w.relay.onUp(func(*reprisev1.ConnectRequest) fate { return drop })
	w.stopAgent()
	w.forget()
	for f, content := range kept {
		w.must(os.WriteFile(f, content, 0o600))
	}
	w.relay.onUp(nil)
}

// forget takes the memory of an agent that does not run.
func (w *ward) forget() {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.memory, "spool*"))
	w.must(err)
	for _, f := range files {
		w.must(os.Remove(f))
	}
}

// clickStep is the nth click, at a place of its own.
func clickStep(n int, change ...func(*reprisev1.Action)) *reprisev1.Action {
	a := &reprisev1.Action{
		Name: fmt.Sprintf("click %d", n), Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}},
		Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(n), Y: 0.5}},
	}
	for _, c := range change {
		c(a)
	}
	return a
}

func humanStep(message string) *reprisev1.Action {
	return &reprisev1.Action{Name: "ask", Kind: &reprisev1.Action_PauseForHuman{PauseForHuman: &reprisev1.PauseForHuman{Message: message}}}
}

func scrollStep(n int) *reprisev1.Action {
	return &reprisev1.Action{
		Name: fmt.Sprintf("scroll %d", n), Kind: &reprisev1.Action_Scroll{Scroll: &reprisev1.Scroll{Vertical: -1}},
		Target: &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.5}},
	}
}

func focusStep() *reprisev1.Action {
	return &reprisev1.Action{Name: "focus", Kind: &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{
		Window: &reprisev1.WindowSelector{Title: "Form"},
	}}}
}

// patient gives an action more time than its deliveries take.
func patient(a *reprisev1.Action) *reprisev1.Action {
	a.Timeout = durationpb.New(time.Hour)
	return a
}

// checked asks for a person before an action.
func checked(a *reprisev1.Action) {
	a.SafetyChecks = []*reprisev1.SafetyCheck{{Id: "saved", Label: "Is it saved?", Required: true}, {Id: "note", Label: "A note"}}
}

// inWard runs a test in a bubble with a ward of its own.
func inWard(t *testing.T, play func(*ward), change ...func(*setup)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(newWard(t, change...)) })
}
