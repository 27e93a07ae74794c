package link

import (
	"context"
	"errors"
	"sync"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// outboxLength is how many messages may wait for the writer. Progress is dropped
// from half of it on: it says nothing that a later one would not.
const outboxLength = 256

// errOutboxFull says that the server does not take what the agent says.
var errOutboxFull = errors.New("the server does not read the stream")

// outbox holds what waits to be sent, in order. Its methods but next never
// block.
type outbox struct {
	mu      sync.Mutex
	waiting []*reprisev1.ConnectRequest
	ready   chan struct{} // holds one token when something waits
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

// push appends m. A full outbox drops progress and refuses anything else.
func (o *outbox) push(m *reprisev1.ConnectRequest) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.GetProgress() != nil && len(o.waiting) >= outboxLength/2 {
		return nil
	}
	if len(o.waiting) >= outboxLength {
		return errOutboxFull
	}
	o.waiting = append(o.waiting, m)
	select {
	case o.ready <- struct{}{}:
	default:
	}
	return nil
}

// next waits for a message and takes it out.
func (o *outbox) next(ctx context.Context) (*reprisev1.ConnectRequest, error) {
	for {
		if m := o.take(); m != nil {
			return m, nil
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (o *outbox) take() *reprisev1.ConnectRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return nil
	}
	m := o.waiting[0]
	o.waiting = o.waiting[1:]
	return m
}
