package windesktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// clipboard puts texts on the clipboard for a while, and afterwards what was there
// before. No text of it goes into an error or a log. One goroutine at a time uses
// it; what puts the former text back later is its own and waited for.
//
// A person's picture or list of files cannot be kept: only text is put back, and
// where there was none, or none that could be read, the clipboard is emptied.
//
// Each text of ours lies there under a mark of its own, by which it is known from
// what somebody copied since.
type clipboard struct {
	system  handsSystem
	retry   time.Duration // how long a clipboard is tried that another program holds
	restore time.Duration // after how long the former text is put back; negative: never
	log     *slog.Logger
	calling chan struct{} // held during a call, also by one that was left behind
	closing chan struct{} // closed when what is owed is due at once

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
	mark   uint64    // under which our text lies there
	since  time.Time // when it had its use
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing waits to put it back any more
	paid   bool          // put back, or not ours to put back; read after done
}

func newClipboard(system handsSystem, config Config) clipboard {
	return clipboard{
		system: system, retry: config.ClipboardRetry, restore: config.RestoreClipboard, log: config.Log,
		calling: make(chan struct{}, 1), closing: make(chan struct{}),
	}
}

// put puts text on the clipboard. What it returns is for repay, once the text had
// its use; nil: nothing has to be put back.
func (c *clipboard) put(ctx context.Context, text string) (*debt, error) {
	var was former
	if c.restore >= 0 {
		var err error
		if was, err = c.before(ctx); err != nil {
			c.repay(ctx, c.owed)
			return nil, err
		}
	}
	mark := rand.Uint64() | 1 // never 0, which is none
	_, err := patiently(ctx, c, clipboardCall[struct{}]{
		make: func() (struct{}, error) { return struct{}{}, c.system.SetClipboardText(text, mark) },
		undo: func() { _, _ = c.system.ReplaceClipboard(mark, was.text, was.had) },
	})
	switch {
	case err != nil:
		c.repay(ctx, c.owed)
		return nil, err
	case c.restore < 0:
		return nil, nil
	}
	return &debt{former: was, mark: mark}, nil
}

// before is what has to be put back after the next text. While an earlier text of
// ours lies there it is what was there before that one. A text that cannot be read is
// none: to paste is what was asked for.
func (c *clipboard) before(ctx context.Context) (former, error) {
	if c.owed != nil {
		c.owed.cancel()
		<-c.owed.done // after the one call that it may be in
		if !c.owed.paid {
			mark, err := patiently(ctx, c, clipboardCall[uint64]{make: c.system.ClipboardMark})
			switch {
			case err != nil:
				return former{}, err
			case mark == c.owed.mark:
				return c.owed.former, nil
			}
		}
		c.owed = nil
	}
	was, err := patiently(ctx, c, clipboardCall[former]{make: func() (was former, err error) {
		was.text, was.had, err = c.system.ClipboardText()
		return was, err
	}})
	if err == nil || ctx.Err() != nil || errors.Is(err, winapi.ErrBusy) {
		return was, err
	}
	c.log.WarnContext(ctx, "what lies on the clipboard cannot be read, so it will not be put back", logkeys.Error, err)
	return former{}, nil
}

// repay puts the former text back after a while, and delays nobody meanwhile. It
// outlives ctx: what a cancelled gesture left on the clipboard is taken off too.
func (c *clipboard) repay(ctx context.Context, d *debt) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.since, d.cancel, d.done = time.Now(), cancel, make(chan struct{})
	c.owed = d
	go func() {
		defer close(d.done)
		defer cancel()
		c.pay(ctx, d)
	}()
}

func (c *clipboard) pay(ctx context.Context, d *debt) {
	if c.due(ctx, d) != nil {
		return // the next text takes the debt over
	}
	_, err := patiently(ctx, c, clipboardCall[bool]{make: func() (bool, error) {
		return c.system.ReplaceClipboard(d.mark, d.text, d.had) // unless somebody has copied something since
	}})
	d.paid = err == nil
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "the former text was not put back on the clipboard", logkeys.Error, err)
	}
}

// closeRestore is how long a program has to take what was pasted once the driver is
// being closed, if RestoreClipboard is longer.
const closeRestore = time.Second

// due waits until a former text is to be put back.
func (c *clipboard) due(ctx context.Context, d *debt) error {
	timer := time.NewTimer(c.restore)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing:
	}
	return wait.For(ctx, min(c.restore, closeRestore)-time.Since(d.since))
}

// settle has what is owed put back soon, and waits for that. It is called once.
func (c *clipboard) settle() {
	close(c.closing)
	if c.owed != nil {
		<-c.owed.done
	}
}

// sweep takes off what a process before this one put there and had no time to take
// off again.
func (c *clipboard) sweep(ctx context.Context) {
	if c.restore < 0 || c.owed != nil {
		return
	}
	swept, err := patiently(ctx, c, clipboardCall[bool]{make: func() (bool, error) {
		mark, err := c.system.ClipboardMark()
		if err != nil || mark == 0 {
			return false, err
		}
		return c.system.ReplaceClipboard(mark, "", false)
	}})
	switch {
	case err != nil:
		c.log.WarnContext(ctx, "what an earlier process may have left on the clipboard cannot be taken off it", logkeys.Error, err)
	case swept:
		c.log.InfoContext(ctx, "what an earlier process left on the clipboard was taken off it")
	}
}

// clipboardText is text as Windows wants it there: lines end with CR and LF (see
// CF_UNICODETEXT in Microsoft's "Standard Clipboard Formats"). A NUL would end it.
func clipboardText(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", driver.Tellable(fmt.Errorf("text that is not UTF-8: %w", driver.ErrUnsupported))
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "", driver.Tellable(fmt.Errorf("a NUL at byte %d: %w", at, driver.ErrUnsupported))
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"), nil
}
