package dispatch

import "context"

// envelope is what waits in a loop's inbox.
type envelope struct {
	in   Input
	conn Conn // of an Open
	// query is asked of the machine in place of an input, or told why it cannot
	// be. It must not block.
	query func(*Machine, error)
}

// Post hands an input to the loop and returns once it is in the inbox.
func (l *Loop) Post(ctx context.Context, in Input) error { return l.post(ctx, envelope{in: in}) }

// Open hands an opened session to the loop.
func (l *Loop) Open(ctx context.Context, in Open, conn Conn) error {
	return l.post(ctx, envelope{in: in, conn: conn})
}

// TryPost hands an input to the loop unless its inbox is full: for progress,
// which may be dropped.
func (l *Loop) TryPost(in Input) bool {
	select {
	case l.inbox <- envelope{in: in}:
		l.afterPost()
		return true
	default:
		return false
	}
}

func (l *Loop) post(ctx context.Context, e envelope) error {
	select {
	case <-l.done:
		return ErrStopped
	default:
	}
	select {
	case l.inbox <- e:
		l.afterPost()
		return nil
	case <-l.done:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// afterPost refuses what was posted to a loop that ended at the same moment:
// nobody else would answer it.
func (l *Loop) afterPost() {
	select {
	case <-l.done:
		l.refuseRest()
	default:
	}
}

// Do runs f in the loop, on the machine as it is, and waits for it. It fails with
// ErrUnavailable while the machine cannot be read. When ctx ends first, f may
// still run.
func (l *Loop) Do(ctx context.Context, f func(*Machine)) error {
	answer := make(chan error, 1)
	query := func(m *Machine, err error) {
		if err == nil {
			f(m)
		}
		answer <- err
	}
	if err := l.post(ctx, envelope{query: query}); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ask runs f in the loop and returns what it made. Unlike with Do, nothing is
// shared with an f that runs after ctx has ended.
func ask[T any](ctx context.Context, l *Loop, f func(*Machine) T) (T, error) {
	made := make(chan T, 1)
	if err := l.Do(ctx, func(m *Machine) { made <- f(m) }); err != nil {
		var none T
		return none, err
	}
	return <-made, nil
}

// receive handles one envelope. What has come in before a deadline is acted on
// is handled first: a report that waits in the inbox is not late.
func (l *Loop) receive(ctx context.Context, e envelope) {
	if !actsOnDeadlines(e.in) {
		l.handle(ctx, e)
		return
	}
	later := []envelope{e}
	for range len(l.inbox) {
		if e := <-l.inbox; actsOnDeadlines(e.in) {
			later = append(later, e)
		} else {
			l.handle(ctx, e)
		}
	}
	for _, e := range later {
		l.handle(ctx, e)
	}
}

func actsOnDeadlines(in Input) bool {
	switch in.(type) {
	case Tick, Sweep:
		return true
	}
	return false
}

// refuse answers whoever waits for an envelope that is not handled. It may be
// called beside the loop, so it does not look for the session that is opening.
func (l *Loop) refuse(e envelope, err error) {
	switch {
	case e.query != nil:
		e.query(nil, err)
	case e.conn != nil:
		e.conn.Close(err)
	default:
		for _, effect := range Refuse(e.in, err) {
			l.perform(effect)
		}
	}
}

// refuseRest answers what is left in the inbox of a loop that has ended. Several
// may call it at once.
func (l *Loop) refuseRest() {
	for {
		select {
		case e := <-l.inbox:
			l.refuse(e, ErrStopped)
		default:
			return
		}
	}
}
