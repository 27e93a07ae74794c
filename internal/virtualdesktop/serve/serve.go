// Package serve puts a virtual desktop on the network: one door for input and
// looking, one for control. It decides who may ask for what; what an event does,
// the model decides. A connection that ends changes nothing on the desktop: what
// it left down stays down.
package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/render"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// maxLine is the longest request: the longest text of the schema, escaped, and
// room to spare.
const maxLine = 4 << 20

// Server serves one desktop.
type Server struct {
	mu      sync.Mutex
	desktop *virtualdesktop.Desktop
	log     *slog.Logger
}

// New is a server of a scene at its start. A nil log discards.
func New(scene virtualdesktop.Scene, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{desktop: virtualdesktop.New(scene), log: log}
}

// Run serves both doors until ctx ends and returns its cause, or the error of a
// door that failed. It closes both listeners and all connections.
func (s *Server) Run(ctx context.Context, input, control net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.accept(ctx, input, inputDoor) })
	group.Go(func() error { return s.accept(ctx, control, controlDoor) })
	return group.Wait()
}

func (s *Server) accept(ctx context.Context, door net.Listener, ops operations) error {
	var conns sync.WaitGroup
	defer conns.Wait()
	defer context.AfterFunc(ctx, func() { _ = door.Close() })()
	for {
		conn, err := door.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("virtual desktop: accept: %w", err)
		}
		conns.Go(func() { s.serve(ctx, conn, ops) })
	}
}

func (s *Server) serve(ctx context.Context, conn net.Conn, ops operations) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if err := reply(conn, s.answer(lines.Bytes(), ops)); err != nil {
			break
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Warn("a connection to the virtual desktop broke", logkeys.Error, err)
	}
}

type answer struct {
	result any
	blob   []byte
	err    error
}

// answer does one request, alone.
func (s *Server) answer(line []byte, ops operations) answer {
	var r wire.Request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{err: &wire.Error{Code: wire.ErrBadRequest.Code, Message: "the line is no request"}}
	}
	op, ok := ops[r.Op]
	if !ok {
		return answer{err: &wire.Error{Code: wire.ErrBadRequest.Code, Message: fmt.Sprintf("this door has no %q", r.Op)}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.desktop.Advance(now)
	return op(s.desktop, r.Args, now)
}

func reply(to io.Writer, a answer) error {
	var r wire.Reply
	if a.err != nil {
		var refused *wire.Error
		if !errors.As(a.err, &refused) {
			refused = &wire.Error{Code: wire.ErrBadRequest.Code, Message: a.err.Error()}
		}
		r.Error = refused
	} else {
		raw, err := json.Marshal(a.result)
		if err != nil {
			return err
		}
		r.Result, r.Blob = raw, len(a.blob)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := to.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = to.Write(a.blob)
	return err
}

func capture(d *virtualdesktop.Desktop) answer {
	picture := render.Picture(d.View())
	return answer{result: picture.Rect, blob: picture.Pix}
}
