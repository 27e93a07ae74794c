// Package execute performs one action on a desktop: it looks whether the
// desktop can take input, finds the target, sends the gesture and looks what
// came of it. Every fault is an outcome. It decides what is true of the action,
// never whether it may be tried again; it knows no stream, no journal and no
// schema.
package execute

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Anchors holds the pictures that are looked for.
type Anchors interface {
	// Anchor returns the picture with that SHA-256.
	Anchor(ctx context.Context, sha256 string) (image.Image, error)
}

// Evidence takes screenshots. It may lose them, and holds up nobody for longer than a
// moment.
type Evidence interface {
	// Keep takes a PNG. It says why it does not want it; empty: it does.
	Keep(sha256 string, png []byte) (refusal string)
	// KeepFirst is Keep for a picture that somebody waits for.
	KeepFirst(sha256 string, png []byte) (refusal string)
}

// Secrets holds texts that are typed by name.
type Secrets interface {
	// Secret returns the text of that name.
	Secret(ctx context.Context, name string) (string, error)
}

// Config sets up an executor.
type Config struct {
	Driver     driver.Driver // required
	Anchors    Anchors       // nil: no anchor is ever found
	Evidence   Evidence      // nil: no screenshots are taken
	Secrets    Secrets       // nil: there are none
	Masks      []work.Mask   // what no picture shows, whatever the action
	Begun      []work.Begun  // what earlier processes began, oldest first; its masks still count
	Popups     []work.Popup  // how windows that get in the way on this machine are closed
	Restless   []work.Mask   // what changes by itself, such as a clock: no effect of an action
	MinDisplay image.Point   // smallest usable primary monitor; zero: any
	// Announce is how long a place is outlined before a gesture goes there, at a desktop
	// that is driver.Attended; 0: it is not.
	Announce time.Duration
	// Poll is the pause between two looks at the desktop; 0 means 50 ms.
	Poll time.Duration
	Log  *slog.Logger // nil discards
}

// Executor performs actions, one at a time.
type Executor struct {
	cfg    Config
	packer packer
	veil   veil
	most   atomic.Int64 // bytes of a picture that the server takes, as the last job said; 0: not known
}

// New returns an executor.
func New(cfg Config) *Executor {
	if cfg.Poll <= 0 {
		cfg.Poll = 50 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	e := &Executor{cfg: cfg}
	for _, b := range cfg.Begun {
		e.veil.begin(b)
	}
	return e
}

// Desktop says whether the desktop can take input now. A desktop that can't be
// asked can't.
func (e *Executor) Desktop(ctx context.Context) desktop.State {
	state, err := e.cfg.Driver.State(ctx)
	if err != nil {
		return desktop.State{Kind: desktop.Disconnected, Detail: err.Error()}
	}
	if !state.Usable() || e.cfg.MinDisplay == (image.Point{}) {
		return state
	}
	monitors, err := e.cfg.Driver.Monitors(ctx)
	if err != nil {
		return desktop.State{Kind: desktop.Disconnected, Detail: err.Error()}
	}
	size := image.Point{}
	if len(monitors) > 0 {
		size = monitors[0].Bounds.Size()
	}
	if size.X < e.cfg.MinDisplay.X || size.Y < e.cfg.MinDisplay.Y {
		return desktop.State{Kind: desktop.DisplayTooSmall, Detail: fmt.Sprintf(
			"the primary monitor is %d×%d, the smallest usable one %d×%d", size.X, size.Y, e.cfg.MinDisplay.X, e.cfg.MinDisplay.Y)}
	}
	return state
}

// sent is how much of an action's input has left.
type sent int

const (
	nothing sent = iota
	some
	all
)

// run is one action being performed.
type run struct {
	*Executor
	job     work.Job
	masks   []work.Mask // the action's, the machine's own, and what other replays have left
	outcome work.Outcome
	begun   bool // "started" is on the disk
	sent    sent
	before  <-chan *work.Picture       // the screen before; nil: not taken
	places  []image.Point              // where its input goes; none: to what has the keyboard
	scene   scene                      // where the effect is looked for
	texts   []string                   // what it types and pastes; told to nobody
	seeks   []func(driver.Window) bool // the windows that it names and looks for
	after   func(driver.Window) bool   // the window that it is to bring; nil: it names none
	popups  []popup
	tried   []*attempted
}

// Execute performs the job.
func (e *Executor) Execute(ctx context.Context, job work.Job) work.Outcome {
	r := &run{Executor: e, job: job, masks: union(e.cfg.Masks, job.Action.Masks, e.veil.left(job.Ref))}
	r.outcome.StartedAt, r.outcome.Effect = time.Now(), work.NotChecked
	e.most.Store(job.Settings.MaxPicture)
	err := r.compile()
	if err == nil {
		err = r.perform(ctx)
	}
	if r.before != nil {
		r.outcome.Before = <-r.before
	}
	r.conclude(ctx, err)
	r.outcome.EndedAt = time.Now()
	return r.outcome
}

// perform tries the action; again, if it did not find what it expected and a popup that
// was in the way is gone.
func (r *run) perform(ctx context.Context) error {
	for {
		gone := r.gone()
		err := r.attempt(ctx)
		if r.sent != nothing || !missed(err) {
			return err
		}
		if blocked := r.unobstructed(ctx); blocked != nil {
			return blocked
		}
		if r.gone() == gone {
			return r.because(ctx, err)
		}
	}
}

// attempt goes through the action, step by step, up to the first fault.
func (r *run) attempt(ctx context.Context) error {
	inputs, frame, err := r.ready(ctx)
	if err != nil {
		return err
	}
	if len(inputs) > 0 {
		if err := r.input(ctx, inputs, frame); err != nil {
			return err
		}
	}
	if r.job.Action.WindowAfter != "" {
		r.job.Doing("checking the window in front")
		return r.checkTitle(ctx, r.job.Action.WindowAfter, work.VerifyFailed)
	}
	return nil
}

// look looks whether all is as the action expects it, and returns the gestures to send.
func (r *run) look(ctx context.Context) ([]driver.Input, error) {
	a := &r.job.Action
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	if !looksOnly(a.Do) {
		if err := r.unobstructed(ctx); err != nil {
			return nil, err
		}
	}
	if a.WindowBefore != "" {
		r.job.Doing("checking the window in front")
		if err := r.checkTitle(ctx, a.WindowBefore, work.WrongWindow); err != nil {
			return nil, err
		}
	}
	inputs, err := r.prepare(ctx)
	if err != nil {
		return nil, r.orUnavailable(ctx, err)
	}
	return inputs, nil
}

// orUnavailable keeps a desktop that was locked while the agent looked from
// being taken for one without the target.
func (r *run) orUnavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil || !fallsThrough(err) {
		return err
	}
	if unusable := r.usable(ctx); unusable != nil {
		return unusable
	}
	return err
}

// usable fails when the desktop can't take input.
func (r *run) usable(ctx context.Context) error {
	state := r.Desktop(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case state.Usable():
		return nil
	}
	detail := state.Detail // it may name the window in front
	if windows, err := r.cfg.Driver.Windows(ctx); err == nil {
		detail = r.untold(ctx, detail, windows)
	}
	return faultf(work.DesktopUnavailable, "the desktop is %v: %s", state.Kind, detail)
}

// looksOnly says whether nothing can be in the way of an action: it shows what is there,
// or passes the time.
func looksOnly(g work.Gesture) bool {
	switch g.(type) {
	case work.Wait, work.Screenshot:
		return true
	}
	return false
}

// conclude turns the fault, if there is one, into the outcome.
func (r *run) conclude(ctx context.Context, err error) {
	o := &r.outcome
	switch {
	case r.sent == all || err == nil:
		o.Completion = work.Completed
	case r.sent == some:
		o.Completion = work.Unknown
	default:
		o.Completion = work.NotStarted
	}
	stayed := r.stayed()
	if stayed != "" {
		r.cfg.Log.Warn("a popup got its input and stayed", logkeys.Action, r.job.ActionID, logkeys.Reason, stayed)
		r.outcome = r.outcome.Warned(work.PopupStayed)
	}
	if err == nil {
		return
	}
	o.Code, o.Message = codeOf(ctx, err)
	if stayed != "" {
		o.Message += "; " + stayed
	}
	if o.Code == work.DesktopUnavailable && r.sent == all {
		// Everything was sent; only what came of it could not be looked at.
		o.Code = work.OutcomeUnknown
	}
	if target := r.job.Action.Target; target != nil {
		o.Target, o.Description = target, describe(target)
	}
}
