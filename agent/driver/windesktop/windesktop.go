// Package windesktop drives the desktop of a Windows user: SendInput for the
// hands, the screen's own pixels for the eyes. It decides which input events a
// gesture becomes, in which order and how many at a time; how Windows is called
// is for package winapi, and what to do when a gesture fails for its caller.
//
// Before a gesture the desktop is asked for its state: what cannot take input
// gets none. Keys and buttons that somebody left down are let go of, since they
// would change what the gesture means. Settings of the user and of the system
// (main button, drag threshold, double-click time, layout of the window in
// front) are read when they are used.
//
// # What cannot stop in between
//
// Events that go to Windows in one call arrive together: no person's input comes
// between them, and a cancelled context is seen before the call or after it.
// These are one call:
//
//   - a key combo, from its first key down to its last key up
//   - the presses of a click with their modifiers, all of a double click too
//   - a press, a release of a drag and a notch of the wheel with a move to their
//     place, so that they come there though a person moves the mouse
//   - one character of a text: both halves of a surrogate pair, or a key with
//     the modifiers that it needs
//   - the paste key
//
// Every other move of the pointer is a call of its own.
// A build with fault points sends every event by itself.
package windesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/keyname"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// TypeMode is how text is typed.
type TypeMode int

// The ways to type.
const (
	// Unicode sends the characters themselves, whatever the layout.
	Unicode TypeMode = iota
	// ScanCodes presses the keys that the layout of the window in front has for
	// the characters. Viewers of remote desktops pass on keys alone. A character
	// without a key of its own is driver.ErrUnsupported before anything is typed.
	ScanCodes
	// Clipboard pastes.
	Clipboard
)

// Never is the RestoreClipboard that leaves what was pasted on the clipboard.
const Never time.Duration = -1

// Config sets up a driver. The zero value of each field means its default.
type Config struct {
	// TypeMode is how text is typed. The default is Unicode.
	TypeMode TypeMode
	// TypePace is the pause between two characters. 0 means 5 ms.
	TypePace time.Duration
	// PasteKeys is the combo that pastes. Nil means ctrl, v.
	PasteKeys []string
	// ClipboardRetry is how long a clipboard that another program holds is tried
	// again. 0 means 2 s.
	ClipboardRetry time.Duration
	// RestoreClipboard is after how long the former text is put back on the
	// clipboard: the time that a program has to take what is pasted. 0 means 1 s;
	// Never leaves what was pasted there.
	RestoreClipboard time.Duration
	// FocusTime is how long a window has to come to the front. 0 means 2 s.
	FocusTime time.Duration
	// MinSize is the smallest usable display. Zero means any.
	MinSize image.Point
	// Log hears of keys found down and of a clipboard that could not be put back.
	// Nil discards.
	Log *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.TypePace == 0 {
		c.TypePace = 5 * time.Millisecond
	}
	if c.PasteKeys == nil {
		c.PasteKeys = []string{"ctrl", "v"}
	}
	if c.ClipboardRetry == 0 {
		c.ClipboardRetry = 2 * time.Second
	}
	if c.RestoreClipboard == 0 {
		c.RestoreClipboard = time.Second
	}
	if c.FocusTime == 0 {
		c.FocusTime = 2 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, c.faults()
}

func (c Config) faults() error {
	var errs []error
	if c.TypeMode < Unicode || c.TypeMode > Clipboard {
		errs = append(errs, fmt.Errorf("setting TypeMode: there is no mode %d", c.TypeMode))
	}
	if keys, err := keyname.ParseAll(c.PasteKeys); err != nil {
		errs = append(errs, fmt.Errorf("setting PasteKeys: %w", err))
	} else if len(keys) == 0 {
		errs = append(errs, errors.New("setting PasteKeys: no key"))
	}
	for name, d := range map[string]time.Duration{
		"TypePace": c.TypePace, "ClipboardRetry": c.ClipboardRetry, "FocusTime": c.FocusTime,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("setting %s must not be negative", name))
		}
	}
	if c.RestoreClipboard < 0 && c.RestoreClipboard != Never {
		errs = append(errs, errors.New("setting RestoreClipboard must not be negative, unless it is Never"))
	}
	if c.MinSize.X < 0 || c.MinSize.Y < 0 {
		errs = append(errs, errors.New("setting MinSize must not be negative"))
	}
	return errors.Join(errs...)
}

// Driver drives the desktop of the user that it runs as. Its methods may be
// called concurrently; gestures wait for each other.
type Driver struct {
	*eyes
	config  Config
	system  system
	hands   chan struct{}  // held during a gesture
	closed  chan struct{}  // closed when no gesture is taken any more
	closing sync.Once      // closes it
	letting sync.WaitGroup // what lets go later of what could not be let go of at once

	// Guarded by hands.
	press  press     // the last one that a click or drag made
	pasted time.Time // when the paste key was pressed last
	left   leftDown
	rested bool // all keys and buttons were up, and what was pressed since is let go of
	clip   clipboard
	swept  bool // the clipboard was looked at for what a dead process left there
}

var _ driver.Driver = (*Driver)(nil)

// newDriver checks the configuration, all faults at once.
func newDriver(config Config, system system) (*Driver, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("windesktop: %w", err)
	}
	// A program with the manifest of tools/dist is aware already; any other is by this.
	if aware, err := system.AwareOfDPI(); err != nil {
		config.Log.Warn("places and pictures are right on monitors at 100 % alone", logkeys.State, aware, logkeys.Error, err)
	}
	return &Driver{
		eyes: newEyes(system, config.MinSize), config: config, system: system, hands: make(chan struct{}, 1),
		closed: make(chan struct{}), clip: newClipboard(system, config),
	}, nil
}

var errClosed = errors.New("the driver is closed")

// take waits for the hands and returns what gives them back.
func (d *Driver) take(ctx context.Context) (func(), error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case d.hands <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	give := func() { <-d.hands }
	select {
	case <-d.closed:
		give()
		return nil, errClosed
	default:
		return give, nil
	}
}

// closeBound is how long closing waits for a gesture under way.
const closeBound = 5 * time.Second

// Close waits for a gesture under way, 5 s at most, and then until the clipboard is put
// back: RestoreClipboard but at most 1 s, and some seconds more where another program
// holds it or does not answer. No gesture is taken afterwards; looking is still possible.
// An error: a gesture hangs.
func (d *Driver) Close() error {
	first := false
	d.closing.Do(func() { close(d.closed); first = true })
	bound := time.NewTimer(closeBound)
	defer bound.Stop()
	select {
	case d.hands <- struct{}{}:
	case <-bound.C:
		return errors.New("windesktop: a gesture hangs")
	}
	if first {
		d.clip.settle()
	}
	<-d.hands
	d.letting.Wait()
	return nil
}
