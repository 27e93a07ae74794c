package windesktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// clipboard puts texts on the clipboard for a while, and afterwards what was there
// before. No text of it goes into an error or a log. One goroutine at a time uses
// it; what puts the former text back later is its own and waited for.
//
// A person's picture or list of files cannot be kept: only text is put back, and
// where there was none the clipboard is emptied.
type clipboard struct {
	system  handsSystem
	retry   time.Duration // how long a clipboard is tried that another program holds
	restore time.Duration // after how long the former text is put back; negative: never
	log     *slog.Logger

	owed *debt // the last one; nil: nothing was ever owed, or it is settled
}

// former is what was on the clipboard before.
type former struct {
	text string
	had  bool // false: there was no text
}

// debt is a former text that has to be put back.
type debt struct {
	former
	sequence uint32 // the clipboard's, as long as it holds what we put there
	cancel   context.CancelFunc
	done     chan struct{} // closed when nothing waits to put it back any more
	paid     bool          // put back, or not ours to put back; read after done
}

// busyPause is how long a clipboard is left alone that another program holds.
const busyPause = 10 * time.Millisecond

// put puts text on the clipboard. What it returns is for repay, once the text had
// its use; nil: nothing has to be put back.
func (c *clipboard) put(ctx context.Context, text string) (*debt, error) {
	set := func() error { return c.system.SetClipboardText(text) }
	if c.restore < 0 {
		return nil, c.patiently(ctx, set)
	}
	was, err := c.before(ctx)
	if err != nil {
		return nil, err
	}
	if err = c.patiently(ctx, set); err != nil {
		c.repay(ctx, c.owed)
		return nil, err
	}
	return &debt{former: was, sequence: c.system.ClipboardSequence()}, nil
}

// before is what has to be put back after the next text. While an earlier text of
// ours lies there it is what was there before that one.
func (c *clipboard) before(ctx context.Context) (former, error) {
	if c.owed != nil {
		c.owed.cancel()
		<-c.owed.done // after the one call that it may be in
		if !c.owed.paid && c.system.ClipboardSequence() == c.owed.sequence {
			return c.owed.former, nil
		}
		c.owed = nil
	}
	var was former
	err := c.patiently(ctx, func() (err error) {
		was.text, was.had, err = c.system.ClipboardText()
		return err
	})
	return was, err
}

// repay puts the former text back after a while, and delays nobody meanwhile. It
// outlives ctx: what a cancelled gesture left on the clipboard is taken off too.
func (c *clipboard) repay(ctx context.Context, d *debt) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel, d.done = cancel, make(chan struct{})
	c.owed = d
	go func() {
		defer close(d.done)
		defer cancel()
		c.pay(ctx, d)
	}()
}

func (c *clipboard) pay(ctx context.Context, d *debt) {
	if pause(ctx, c.restore) != nil {
		return // the next text takes the debt over
	}
	err := c.patiently(ctx, func() error {
		switch {
		case c.system.ClipboardSequence() != d.sequence:
			return nil // somebody has copied something since
		case d.had:
			return c.system.SetClipboardText(d.text)
		}
		return c.system.ClearClipboard()
	})
	d.paid = err == nil
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "the former text was not put back on the clipboard", logkeys.Error, err)
	}
}

// wait waits until nothing has to be put back.
func (c *clipboard) wait() {
	if c.owed != nil {
		<-c.owed.done
	}
}

// patiently tries again while another program holds the clipboard.
func (c *clipboard) patiently(ctx context.Context, try func() error) error {
	for deadline := time.Now().Add(c.retry); ; {
		err := try()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, winapi.ErrBusy):
			return fmt.Errorf("clipboard: %w: %w", driver.ErrBlocked, err)
		case !time.Now().Before(deadline):
			return fmt.Errorf("clipboard, after %v: %w: %w", c.retry, driver.ErrBlocked, err)
		}
		if err := pause(ctx, busyPause); err != nil {
			return err
		}
	}
}

// clipboardText is text as Windows wants it there: lines end with CR and LF (see
// CF_UNICODETEXT in Microsoft's "Standard Clipboard Formats"). A NUL would end it.
func clipboardText(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("text that is not UTF-8: %w", driver.ErrUnsupported)
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "", fmt.Errorf("a NUL at byte %d: %w", at, driver.ErrUnsupported)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"), nil
}
