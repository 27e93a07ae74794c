package helper

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Config sets up a Desktop. The zero value of each field means its default.
type Config struct {
	Settings Settings     // sent to each helper
	Version  string       // this program's; empty: buildinfo.Version
	Log      *slog.Logger // hears of helpers, and what they log; nil discards
}

// Desktop is the desktop of the user, through one helper after the other. It is always
// there: without a helper it is as Absent says, gestures are refused with proof that
// nothing was sent, and all other calls are driver.ErrUnavailable.
//
// A gesture is sent to one helper, once. If that one goes away before it has answered,
// the error is driver.ErrUnavailable and no *driver.InputError: nobody knows what was
// sent. Ending the context of a gesture asks the helper to stop; Do returns when the
// gesture has, with how far it came. Its methods may be called concurrently; gestures
// wait for each other.
//
// A desktop without a tree of elements, or one at which nobody sits, is
// driver.ErrUnsupported where it is asked for one or the other.
type Desktop struct {
	cfg     Config
	changes chan struct{} // held while the helper changes
	hands   chan struct{} // held during a gesture
	notes   chan struct{} // held while what a helper is to show changes
	others  sync.WaitGroup

	mu      sync.Mutex
	line    *line           // nil: there is no helper
	news    chan struct{}   // closed, and replaced, when line changes
	state   desktop.State   // of the desktop, without a helper
	stopped *driver.Act     // stop that was told and that nobody has taken back
	notices []driver.Notice // pauses that are shown; notes guards them too
	cutOff  bool            // the agent has no server; notes guards it alone
}

var (
	_ driver.Driver   = (*Desktop)(nil)
	_ driver.Elements = (*Desktop)(nil)
	_ driver.Attended = (*Desktop)(nil)
)

// New returns a desktop that has no helper yet.
func New(cfg Config) *Desktop {
	if cfg.Version == "" {
		cfg.Version = buildinfo.Version()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Desktop{
		cfg: cfg, changes: make(chan struct{}, 1), hands: make(chan struct{}, 1), notes: make(chan struct{}, 1),
		news: make(chan struct{}), state: desktop.State{Kind: desktop.Disconnected, Detail: "no helper has come yet"},
	}
}

// Connect takes the connection of a helper, whose process nothing else drives: that of
// a former helper has ended. Both ends prove that they know the secret, the helper opens
// its desktop and lets go of what is down; then it serves the desktop. Pauses that are
// shown, and a stop that stands, are shown again. A former connection is closed first; conn is closed when the
// helper is left, or if Connect fails. The error may be ErrSecret, ErrVersion, an error
// of the desktop, or the cause of ctx, which is for connecting alone.
func (d *Desktop) Connect(ctx context.Context, conn net.Conn, secret []byte) error {
	if err := take(ctx, d.changes); err != nil {
		_ = conn.Close() // err says why
		return fmt.Errorf("connect the helper: %w", err)
	}
	defer give(d.changes)
	if l, _ := d.now(); l != nil {
		d.leave(l, desktop.State{Kind: desktop.Disconnected, Detail: "a new helper is being connected"})
	}
	l, err := d.meet(ctx, conn, secret)
	if err != nil {
		return fmt.Errorf("connect the helper: %w", err)
	}
	if err := d.adopt(ctx, l); err != nil {
		l.close()
		return fmt.Errorf("connect the helper: %w", err)
	}
	return nil
}

// meet makes a line of a connection.
func (d *Desktop) meet(ctx context.Context, conn net.Conn, secret []byte) (*line, error) {
	if err := prove(ctx, conn, secret, proveService); err != nil {
		return nil, err
	}
	l, err := newLine(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := l.open(ctx, d.cfg.Version, d.cfg.Settings); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// adopt makes a line the desktop's, and shows there what is to be shown.
func (d *Desktop) adopt(ctx context.Context, l *line) error {
	if err := take(ctx, d.notes); err != nil { // before: none is shown or hidden meanwhile
		return err
	}
	defer give(d.notes)
	d.others.Go(func() { l.follow(d.cfg.Log) })
	d.holdAgain(ctx, l)
	d.set(l)
	d.others.Go(func() {
		<-l.wire.over
		d.lost(l)
	})
	d.showAgain(ctx, l)
	return nil
}

// holdAgain tells a new helper of the stop that stands, so that it shows it. Gestures are
// kept back here all the same.
func (d *Desktop) holdAgain(ctx context.Context, l *line) {
	stop := d.standing()
	if stop == nil || !l.attended {
		return
	}
	ctx, done := context.WithTimeout(ctx, noticeTime)
	defer done()
	if _, err := ask(ctx, l, helperv1.HelperServiceClient.Hold, &helperv1.HoldRequest{Stop: encodeAct(*stop)}); err != nil {
		d.cfg.Log.Warn("the person's stop could not be shown again", logkeys.Error, err)
	}
}

func (d *Desktop) showAgain(ctx context.Context, l *line) {
	if !l.attended {
		return
	}
	ctx, done := context.WithTimeout(ctx, noticeTime)
	defer done()
	if d.cutOff {
		if _, err := ask(ctx, l, helperv1.HelperServiceClient.ShowServer, &helperv1.ShowServerRequest{}); err != nil {
			d.cfg.Log.Warn("that there is no server could not be shown", logkeys.Error, err)
		}
	}
	for _, n := range d.notices {
		if _, err := ask(ctx, l, helperv1.HelperServiceClient.ShowPause, encodeNotice(n)); err != nil {
			d.cfg.Log.Warn("a pause could not be shown again", logkeys.Pause, n.PauseID, logkeys.Error, err)
		}
	}
}

// Absent says that no helper serves the desktop, and how the desktop stands. A helper
// that still does is left: its gesture is stopped, and its connection closed.
func (d *Desktop) Absent(state desktop.State) {
	d.changes <- struct{}{}
	defer give(d.changes)
	l, _ := d.now()
	d.leave(l, state)
}

// Close leaves the helper, and waits until nothing of it is left here.
func (d *Desktop) Close() error {
	d.Absent(desktop.State{Kind: desktop.Disconnected, Detail: "the service ends"})
	d.others.Wait()
	return nil
}

// leave takes a helper's line away, if it is not nil; the caller holds changes. A gesture
// in it is stopped, and has some time to say how far it came.
func (d *Desktop) leave(l *line, state desktop.State) {
	d.unset(l, state)
	if l == nil {
		return
	}
	l.leave(errLeft)
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	select {
	case d.hands <- struct{}{}:
		give(d.hands)
	case <-timer.C:
	}
	l.close()
}

func (d *Desktop) set(l *line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line = l
	close(d.news)
	d.news = make(chan struct{})
}

// unset takes a line away and says how the desktop is without it, if it is still the
// desktop's. It says whether it was.
func (d *Desktop) unset(l *line, state desktop.State) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line != l {
		return false
	}
	d.line, d.state = nil, state
	close(d.news)
	d.news = make(chan struct{})
	return true
}

// lost takes the line away of a helper that has gone. What it has said is still read:
// gRPC is closed when its last words are logged, and the gesture in it has returned.
func (d *Desktop) lost(l *line) {
	if !d.unset(l, desktop.State{Kind: desktop.Disconnected, Detail: "the helper in the user's session has gone"}) {
		return
	}
	<-l.followed
	d.cfg.Log.Warn("the helper has gone", logkeys.Error, l.wire.reason().Error())
	d.hands <- struct{}{}
	give(d.hands)
	l.close()
}

// now returns the helper's line, or what the desktop is without one.
func (d *Desktop) now() (*line, desktop.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.line, d.state
}

// helper returns the helper's line, or why there is none.
func (d *Desktop) helper() (*line, error) {
	l, state := d.now()
	if l == nil {
		return nil, fmt.Errorf("%w: %s: %s", driver.ErrUnavailable, state.Kind, state.Detail)
	}
	return l, nil
}

// Await waits until a helper serves the desktop: what a former one held down is let go
// of then. It returns ctx's cause if that ends first.
func (d *Desktop) Await(ctx context.Context) error {
	for {
		d.mu.Lock()
		l, news := d.line, d.news
		d.mu.Unlock()
		if l != nil && !l.ended() {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
