package windesktop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// clipboardCall is one call of Windows about the clipboard.
type clipboardCall[T any] struct {
	make func() (T, error)
	undo func() // what takes its effect back, should it come after all once it was left behind; nil: nothing has to
}

const (
	// busyPause is how long a clipboard is left alone that another program holds.
	busyPause = 10 * time.Millisecond
	// callBound is how long a call may take.
	callBound = 2 * time.Second
)

// errSlowClipboard says that a call was left behind.
var errSlowClipboard = errors.New("the program whose content lies there does not answer")

// patiently makes a call again while another program holds the clipboard.
func patiently[T any](ctx context.Context, c *clipboard, call clipboardCall[T]) (T, error) {
	var none T
	for deadline := time.Now().Add(c.retry); ; {
		got, err := apart(ctx, c, call)
		switch {
		case err == nil:
			return got, nil
		case ctx.Err() != nil:
			return none, context.Cause(ctx)
		case !errors.Is(err, winapi.ErrBusy):
			return none, fmt.Errorf("clipboard: %w: %w", driver.ErrBlocked, err)
		case !time.Now().Before(deadline):
			return none, fmt.Errorf("clipboard, after %v: %w: %w", c.retry, driver.ErrBlocked, err)
		}
		if err := wait.For(ctx, busyPause); err != nil {
			return none, err
		}
	}
}

// apart makes a call. Windows has the program whose content lies there render it or
// let go of it, and waits for that without end: one call at a time waits apart, and is
// left behind when it takes too long. It ends when the program answers or dies.
func apart[T any](ctx context.Context, c *clipboard, call clipboardCall[T]) (T, error) {
	var none T
	bound := time.NewTimer(callBound)
	defer bound.Stop()
	select {
	case c.calling <- struct{}{}:
	case <-bound.C:
		return none, errSlowClipboard
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	type answer struct {
		got T
		err error
	}
	answered, left := make(chan answer), make(chan struct{})
	go func() {
		defer func() { <-c.calling }()
		got, err := safely(call.make)
		select {
		case answered <- answer{got, err}:
		case <-left:
			if err == nil && call.undo != nil {
				call.undo()
			}
		}
	}()
	select {
	case a := <-answered:
		return a.got, a.err
	case <-bound.C:
		close(left)
		return none, errSlowClipboard
	}
}

// safely makes a call on a goroutine of its own, where a panic would end the process.
func safely[T any](call func() (T, error)) (got T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the call panicked: %v", p)
		}
	}()
	return call()
}
