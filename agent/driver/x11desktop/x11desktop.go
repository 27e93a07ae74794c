// Package x11desktop drives a real X11 display: XTEST for the hands, the root
// window's image for the eyes. It decides which X events a gesture becomes and
// in which order; it does not decide what to do when one fails. It needs no C
// library and works with a window manager and without.
//
// Text is typed as characters, whatever the layout: those that the layout lacks
// are first put on keys that it leaves unused, all at once, since applications
// read a changed layout late; see planText.
//
// Text is pasted with ctrl+v, into terminals with shift+insert, where ctrl+v is
// a control character. It lies in CLIPBOARD and in PRIMARY, which is what
// terminals insert, and stays there as long as the driver lives.
package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jezek/xgb"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/keyname"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// xgb writes to stderr through a global logger, before every connection. It
// says nothing that does not come back as an error too.
func init() { xgb.Logger = log.New(io.Discard, "", 0) }

// Config sets up a driver. The zero value of each field means its default.
type Config struct {
	// Display is the X display, such as ":0". Empty means the environment's DISPLAY.
	Display string
	// MinSize is the smallest usable display. Zero means any.
	MinSize image.Point
	// PasteKeys is the combo that pastes. Nil means ctrl, v.
	PasteKeys []string
	// TerminalPasteKeys pastes into windows of TerminalClasses. Nil means shift,
	// insert.
	TerminalPasteKeys []string
	// TerminalClasses are the window classes of terminals. Nil means those of
	// xterm and its relatives.
	TerminalClasses []string
	// Settle is how long applications get to read a changed layout, once before
	// and once after a text that needs one. 0 means 100 ms.
	Settle time.Duration
	// Answer is how long the display has for one answer before the connection
	// to it is given up. 0 means 5 s.
	Answer time.Duration
	// Log hears of connections and of keys found down. Nil discards.
	Log *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Display == "" {
		c.Display = os.Getenv("DISPLAY")
	}
	if c.PasteKeys == nil {
		c.PasteKeys = []string{"ctrl", "v"}
	}
	if c.TerminalPasteKeys == nil {
		c.TerminalPasteKeys = []string{"shift", "insert"}
	}
	if c.TerminalClasses == nil {
		c.TerminalClasses = []string{"XTerm", "UXTerm", "URxvt", "Rxvt", "st-256color", "KOI8RXTerm"}
	}
	if c.Settle == 0 {
		c.Settle = 100 * time.Millisecond
	}
	if c.Answer == 0 {
		c.Answer = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, c.faults()
}

func (c Config) faults() error {
	var errs []error
	if _, err := parseDisplay(c.Display); err != nil {
		errs = append(errs, fmt.Errorf("setting Display: %w", err))
	}
	if _, err := keyname.ParseAll(c.PasteKeys); err != nil {
		errs = append(errs, fmt.Errorf("setting PasteKeys: %w", err))
	}
	if _, err := keyname.ParseAll(c.TerminalPasteKeys); err != nil {
		errs = append(errs, fmt.Errorf("setting TerminalPasteKeys: %w", err))
	}
	if c.Settle < 0 || c.Answer < 0 {
		errs = append(errs, errors.New("settings Settle and Answer must not be negative"))
	}
	return errors.Join(errs...)
}

// Driver drives one display. It connects when it is first used, and again after
// the display has been away. Its methods may be called concurrently; gestures
// wait for each other.
type Driver struct {
	config Config
	hands  chan struct{}                              // held during a gesture
	settle func(context.Context, time.Duration) error // gives applications their time to read a changed layout

	mu     sync.Mutex
	link   *link
	closed bool
}

var _ driver.Driver = (*Driver)(nil)

// New checks the configuration, all faults at once, and does not connect.
func New(config Config) (*Driver, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("x11desktop: %w", err)
	}
	return &Driver{config: config, hands: make(chan struct{}, 1), settle: pause}, nil
}

var errClosed = errors.New("the driver is closed")

// Close ends the connection, and with it what was pasted is gone from the
// clipboard. It waits for a gesture under way.
func (d *Driver) Close() error {
	d.hands <- struct{}{}
	defer func() { <-d.hands }()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.link != nil {
		d.link.close()
	}
	return nil
}

// connect returns the connection, a new one if there is none that lives. The
// error says why the display cannot be reached.
func (d *Driver) connect(ctx context.Context) (*link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	if d.link != nil {
		if d.link.alive() {
			return d.link, nil
		}
		d.link.close()
		d.link = nil
	}
	l, err := dial(ctx, d.config)
	if err != nil {
		return nil, fmt.Errorf("display %s: %w", d.config.Display, err)
	}
	d.config.Log.InfoContext(ctx, "connected to the display", logkeys.Peer, d.config.Display)
	d.link = l
	return l, nil
}
