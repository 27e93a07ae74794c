package virtualdesktop

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// lines are the connections to the desktop. A call that ends early breaks its
// connection, so no two calls share one at the same time.
type lines struct {
	address string

	mu   sync.Mutex
	idle []wire.InputClient // the one used last at the end
}

// asked asks the desktop a question, which does no harm when it is asked again:
// connections that broke since their last use are replaced. A desktop that cannot
// be reached is driver.ErrUnavailable.
func asked[T any](ctx context.Context, d *Driver, question func(wire.InputClient, context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		client, fresh, err := d.lines.take(ctx)
		if err != nil {
			return *new(T), err
		}
		result, err := question(client, ctx)
		d.lines.give(client, err)
		switch {
		case err == nil || answered(err):
			return result, err
		case ctx.Err() != nil:
			return result, context.Cause(ctx)
		case fresh:
			return result, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
		}
	}
}

// answered says whether an error is the desktop's answer, not one of the line.
func answered(err error) bool {
	var refused *wire.Error
	return errors.As(err, &refused)
}

// take returns a connection that nobody uses, and whether it was made just now.
func (l *lines) take(ctx context.Context) (wire.InputClient, bool, error) {
	if client, ok := l.pop(); ok {
		return client, false, nil
	}
	client, err := wire.DialInput(ctx, l.address)
	if err != nil {
		if ctx.Err() != nil {
			return client, false, context.Cause(ctx)
		}
		return client, false, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return client, true, nil
}

func (l *lines) pop() (wire.InputClient, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) == 0 {
		return wire.InputClient{}, false
	}
	last := len(l.idle) - 1
	client := l.idle[last]
	l.idle = l.idle[:last]
	return client, true
}

// give takes a connection back after a call. One that broke takes the idle ones
// with it: the desktop may have been away.
func (l *lines) give(client wire.InputClient, err error) {
	if err == nil || answered(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.idle = append(l.idle, client)
		return
	}
	_ = client.Close()
	_ = l.drop()
}

// drop ends the idle connections.
func (l *lines) drop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, client := range l.idle {
		errs = append(errs, client.Close())
	}
	l.idle = nil
	return errors.Join(errs...)
}
