// Package person keeps the person at the machine in charge of it. A Guard stands
// around the desktop's driver, in the process that has the hands, and decides what
// counts as the person's input, when no gesture may go on, what the person is told and
// where it shows. How Windows is watched and drawn on is for package winapi; what a
// replay does when a person steps in is for the agent.
//
// # Stop
//
// The stop key, or "stop now" of the icon in the notification area, ends the gesture
// that is under way at its next input event; what it held is let go of. The hooks then
// keep every press and move of the agent from the desktop, also one that was on its way
// already. No network is needed for any of it. Gestures fail with driver.ErrStopped
// until GoOn.
//
// The stop key is Ctrl+Alt+Backspace unless it is set up otherwise: three keys that
// every keyboard has, laptops' without a function key too; no combination of Windows or
// of the usual programs; and one that viewers of remote desktops pass on, unlike
// Ctrl+Alt+Pause, End and Home, which they take for themselves. AltGr+Backspace is
// another one and does not stop. It is seen whatever window is in front, and no window
// gets its last key. A window with more rights than the agent's keeps its keys from the
// hooks; the agent sends nothing while one is in front.
//
// # Own input
//
// A key or button that goes down, and the wheel, count at once. The pointer counts when
// it has gone more than 24 pixels within half a second, in three moves or more, so that
// neither a desk that is bumped nor a pointer that a program puts onto its button
// does. What carries winapi's tag is the agent's and counts for nothing, and neither does
// the ctrl that Windows makes for AltGr, whoever pressed that; what other programs send
// counts as a person's, since viewers of remote desktops send that way.
// Which key it was is neither told nor logged.
//
// # Signs
//
// The notice, the outline and the icon take no focus. The first two take no click
// either, lie above all windows, show in no picture and are not among the windows.
// What of all this can't be had is logged once, and the agent works without it.
package person

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Languages of the notices.
const (
	English = "en"
	French  = "fr"
)

// Settings are what a site may choose.
type Settings struct {
	// StopKey are the names of the keys, joined by "+": modifiers and one other key, as
	// package keyname has them. Empty means DefaultStopKey; NoStopKey turns it off.
	StopKey string
	// OwnInput tells of the person's own input.
	OwnInput bool
	// Language is English or French. Empty means the user's, if it is one of them, else English.
	Language string
}

// Check returns what is wrong with the settings, all of it.
func (s Settings) Check() error {
	_, err := parseStopKey(s.StopKey)
	if s.Language != "" && s.Language != English && s.Language != French {
		err = errors.Join(err, fmt.Errorf("setting Language: %q is not %q or %q", s.Language, English, French))
	}
	return err
}

// Config sets up a Guard.
type Config struct {
	// Driver is the desktop; required.
	Driver driver.Driver
	// Settings are the site's.
	Settings Settings
	// Log hears of stops and of what can't be had. Nil discards.
	Log *slog.Logger
}

// Guard is a desktop at which a person sits. Its methods may be called concurrently.
// One on a system without a side for the person passes everything through.
type Guard struct {
	driver  driver.Driver
	machine machine // nil: there is none
	log     *slog.Logger
	hands   chan struct{} // held during a gesture

	brake  *brake
	acts   *acts
	senses *senses
	stage  *stage
	icon   *icon
	once   faults
	hooked time.Time // when the hooks were set last; zero: none are wanted

	closing chan struct{}
	closed  sync.Once
	ended   chan struct{}
}

var (
	_ driver.Driver   = (*Guard)(nil)
	_ driver.Elements = (*Guard)(nil)
	_ driver.Attended = (*Guard)(nil)
)

// New begins to watch. A fault of the configuration is an error; what the machine's
// side can't do is not, and is logged.
func New(config Config) (*Guard, error) { return open(config, newMachine) }

// open makes a Guard on the machine that is made once the configuration is in order.
func open(config Config, newMachine func() (machine, error)) (*Guard, error) {
	err := config.Settings.Check()
	if config.Driver == nil {
		err = errors.Join(errors.New("the driver is missing"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("person: %w", err)
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	g := &Guard{
		driver: config.Driver, log: config.Log, hands: make(chan struct{}, 1),
		brake: newBrake(), acts: newActs(), once: faults{log: config.Log},
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	if g.machine, err = newMachine(); err != nil {
		g.once.note("the person at the machine is not watched and not told", err)
	}
	if g.machine == nil {
		close(g.ended)
		return g, nil
	}
	key, err := parseStopKey(config.Settings.StopKey)
	if err != nil {
		return nil, fmt.Errorf("person: %w", err)
	}
	words := wordsOf(config.Settings.Language, g.machine.Language())
	g.senses = &senses{key: key, own: config.Settings.OwnInput, brake: g.brake, acts: g.acts, told: map[string]time.Time{}}
	g.stage = &stage{machine: g.machine, words: words, turn: make(chan struct{}, 1), once: &g.once}
	g.icon = newIcon(g.machine, words, g.chosen, &g.once)
	if key.on() || config.Settings.OwnInput {
		g.watch(time.Now())
	}
	go g.run()
	return g, nil
}

var errClosed = errors.New("the desktop is not watched any more")

// Close ends a gesture under way, stops watching, and takes everything away that
// shows. The driver stays open: it is the caller's.
func (g *Guard) Close() error {
	var err error
	g.closed.Do(func() {
		close(g.closing)
		g.brake.close(errClosed)
		<-g.ended
		if g.machine != nil {
			err = g.machine.Close()
		}
	})
	return err
}

// Do implements driver.Hands. After a stop of the person it is an error that is
// driver.ErrStopped.
func (g *Guard) Do(ctx context.Context, in driver.Input) error {
	if g.machine == nil {
		return g.driver.Do(ctx, in)
	}
	select {
	case g.hands <- struct{}{}:
		defer func() { <-g.hands }()
	case <-ctx.Done():
		return &driver.InputError{Err: context.Cause(ctx)}
	}
	braked, leave, err := g.brake.enter(ctx)
	if err != nil {
		return &driver.InputError{Err: fmt.Errorf("%s: %w", driver.NameOf(in), err)}
	}
	defer leave()
	g.brake.count()
	g.icon.works(time.Now())
	err = g.driver.Do(braked, in)
	return g.brake.judge(braked, driver.NameOf(in), err)
}

// Release implements driver.Hands, also after a stop.
func (g *Guard) Release(ctx context.Context) error { return g.driver.Release(ctx) }

// chosen is called with what the person chose of the icon's menu.
func (g *Guard) chosen(id int) {
	act := driver.Act{By: "tray icon", At: time.Now()}
	switch id {
	case menuStop:
		act.Kind = driver.Stopped
		if g.brake.pull(act) {
			g.acts.add(act)
		}
	case menuGoOn:
		act.Kind = driver.WantsOn
		g.acts.add(act)
	}
	g.acts.stir()
}

// ShowServer implements driver.Attended.
func (g *Guard) ShowServer(_ context.Context, connected bool) error {
	if g.icon != nil {
		g.icon.connect(connected)
	}
	return nil
}

// faults are what can't be had, each logged once.
type faults struct {
	log  *slog.Logger
	mu   sync.Mutex
	said map[string]bool
}

func (f *faults) note(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said[what] {
		return
	}
	if f.said == nil {
		f.said = map[string]bool{}
	}
	f.said[what] = true
	f.log.Warn(what, logkeys.Error, err)
}
