package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// ProtocolVersion is the newest protocol that this server speaks.
const ProtocolVersion = 1

// Config sets up the service. All fields but Observer and Log are required.
type Config struct {
	Loop         func(machineID string) *dispatch.Loop
	Registry     *registry.Registry
	Version      string
	OpenTimeout  time.Duration // from the stream's start to its hello
	PingInterval time.Duration
	PingTimeout  time.Duration
	Settings     *reprisev1.SessionSettings // what the welcome says
	Observer     Observer                   // nil means nobody
	Log          *slog.Logger               // nil means discard
}

// Service is AgentService.
type Service struct {
	reprisev1.UnimplementedAgentServiceServer
	cfg Config

	mu       sync.Mutex
	draining bool
	open     map[*session]struct{}
}

// New returns the service.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = nobody{}
	}
	return &Service{cfg: c, open: map[*session]struct{}{}}
}

type stream = grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]

// Connect implements AgentService.Connect.
func (s *Service) Connect(st stream) error {
	err := s.connect(st)
	if errors.Is(err, io.EOF) {
		return nil // the agent has closed its side: it is done
	}
	return rpcstatus.Error(err)
}

func (s *Service) connect(st stream) error {
	ctx, cancel := context.WithCancel(st.Context())
	defer cancel()
	deadline := time.Now().Add(s.cfg.OpenTimeout)
	r := newReader()
	go r.run(ctx, st)
	hello, err := s.hello(ctx, r.first)
	if err != nil {
		return err
	}
	if who, ok := auth.From(ctx); ok && !who.MayDrive(hello.GetMachineId()) {
		return auth.NotForMachine(hello.GetMachineId())
	}
	return s.serve(ctx, st, hello, r, deadline)
}

func (s *Service) hello(ctx context.Context, first <-chan received) (*reprisev1.Hello, error) {
	late := time.NewTimer(s.cfg.OpenTimeout)
	defer late.Stop()
	select {
	case r := <-first:
		if errors.Is(r.err, io.EOF) {
			return nil, ErrNoHello
		}
		if r.err != nil {
			return nil, r.err
		}
		h := r.message.GetHello()
		switch {
		case h == nil:
			return nil, ErrNoHello
		case h.GetProtocolVersion() > ProtocolVersion:
			return nil, fmt.Errorf("%w: the agent speaks %d, this server up to %d", ErrProtocol, h.GetProtocolVersion(), ProtocolVersion)
		}
		return h, nil
	case <-late.C:
		return nil, ErrHelloTimeout
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// flushTimeout is how long a session that has ended may take to send what was
// queued before, and to hand over what it has read.
const flushTimeout = time.Second

// serve is the life of a session, from the claim of its machine to its release.
func (s *Service) serve(ctx context.Context, st stream, hello *reprisev1.Hello, r *reader, deadline time.Time) error {
	machineID := hello.GetMachineId()
	loop := s.cfg.Loop(machineID)
	open, err := opening(id.New("s"), hello)
	if err != nil {
		return err
	}
	c := converter{version: s.cfg.Version, settings: s.cfg.Settings}
	for _, res := range open.Results {
		c.results = append(c.results, res.Ref)
	}
	ses := newSession(ctx, open.Session.ID, machineID, c)
	ses.canCapture = slices.Contains(hello.GetCapabilities(), captureCapability)
	defer ses.end(nil)
	if !s.add(ses) {
		return ErrGoingAway
	}
	defer s.remove(ses)
	err = s.claim(ctx, ses, hello, loop, deadline, func(ctx context.Context) error {
		for i := range open.Results {
			ses.typed.unspoken(ctx, loop, &open.Results[i])
		}
		return loop.Open(ctx, open, ses)
	})
	if err != nil {
		return err
	}
	log := s.cfg.Log.With(logkeys.Machine, machineID, logkeys.Session, ses.id)
	log.Info("session opened", logkeys.Boot, hello.GetBootId(), logkeys.Spool, hello.GetAgentInstanceId())
	s.cfg.Observer.Opened(machineID)
	s.run(ctx, ses, loop, st, r, deadline)
	s.cfg.Observer.Ended(machineID)
	s.cfg.Registry.Release(machineID, ses.id)
	// The loop must hear of it even when the stream's own context is over; it
	// refuses only when it has ended itself.
	_ = loop.Post(context.WithoutCancel(ctx), dispatch.Closed{SessionID: ses.id})
	err = context.Cause(ses.ended)
	log.Info("session ended", logkeys.Reason, err)
	return err
}

// claim takes the machine for a session, within the time that a stream has to open.
func (s *Service) claim(ctx context.Context, ses *session, hello *reprisev1.Hello, loop *dispatch.Loop, deadline time.Time, opened func(context.Context) error) error {
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, ErrNotOpened)
	defer cancel()
	return s.cfg.Registry.Claim(ctx, ses.machineID, registry.Session{
		ID: ses.id, SpoolID: hello.GetAgentInstanceId(), End: ses.end, Probe: ses.probe,
		Info: ses.typed.greeted(ctx, loop, hello),
	}, func() error { return opened(ctx) })
}

// run serves an opened session until it has ended. A writer that hangs is left
// behind then, and ends when the handler returns; so is a reader that waits.
func (s *Service) run(ctx context.Context, ses *session, loop *dispatch.Loop, st stream, r *reader, deadline time.Time) {
	late, giveUp := context.WithCancel(ctx)
	defer giveUp()
	r.open(func(m *reprisev1.ConnectRequest, err error) error {
		if err == nil {
			err = s.take(late, ses, loop, m)
		}
		if err != nil {
			ses.end(err)
		}
		return err
	})
	written := make(chan struct{})
	go func() { defer close(written); ses.end(ses.write(st.Send)) }()
	ses.end(ses.attend(NewWatch(deadline, s.cfg.PingInterval, s.cfg.PingTimeout)))
	flushed := make(chan struct{})
	go func() { <-written; r.settle(); close(flushed) }()
	grace := time.NewTimer(flushTimeout)
	defer grace.Stop()
	select {
	case <-flushed:
	case <-grace.C:
	}
}

// take takes one message. ctx may outlive the session: a report that was read before
// its end still counts, and nothing else does.
func (s *Service) take(ctx context.Context, ses *session, loop *dispatch.Loop, m *reprisev1.ConnectRequest) error {
	select {
	case <-ses.ended.Done():
		if rep := m.GetReport(); rep != nil {
			return s.report(ctx, ses, loop, rep)
		}
		return nil
	default:
		return s.handle(ctx, ses, loop, m)
	}
}

func (s *Service) add(ses *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.open[ses] = struct{}{}
	return true
}

func (s *Service) remove(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, ses)
}

// Refuse opens no more sessions: the server is going away.
func (s *Service) Refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// GoAway ends every session and tells the agents to come back, spread over a time.
func (s *Service) GoAway(spread time.Duration) {
	s.Refuse()
	s.mu.Lock()
	defer s.mu.Unlock()
	for ses := range s.open {
		ses.goAway(time.Duration(rand.Int64N(int64(spread) + 1)))
	}
}
