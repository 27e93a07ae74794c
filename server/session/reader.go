package session

import (
	"context"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// received is what Recv gave: a message, or why there is none.
type received struct {
	message *reprisev1.ConnectRequest
	err     error
}

// taker takes what was received; after an error nothing more is.
type taker func(*reprisev1.ConnectRequest, error) error

// reader reads a stream. Nothing ends Recv on a server but the handler's return, so
// it has a goroutine of its own, which takes the messages itself.
type reader struct {
	first  chan received // the first message
	opened chan taker    // who takes those after it
	taking chan struct{} // full while one of them is taken
}

func newReader() *reader {
	return &reader{first: make(chan received, 1), opened: make(chan taker, 1), taking: make(chan struct{}, 1)}
}

// open says who takes the messages after the first one. It may be called once.
func (r *reader) open(take taker) { r.opened <- take }

// settle returns when a message that is being taken has been.
func (r *reader) settle() {
	r.taking <- struct{}{}
	<-r.taking
}

// run reads until the stream ends or a message is refused; before open is called it
// reads the first one alone.
func (r *reader) run(ctx context.Context, st stream) {
	m, err := st.Recv()
	r.first <- received{m, err}
	if err != nil {
		return
	}
	var take taker
	select {
	case take = <-r.opened:
	case <-ctx.Done():
		return
	}
	for err == nil {
		m, err = st.Recv()
		err = r.pass(take, m, err)
	}
}

func (r *reader) pass(take taker, m *reprisev1.ConnectRequest, err error) error {
	r.taking <- struct{}{}
	defer func() { <-r.taking }()
	return take(m, err)
}
