// Package link is the agent's end of the stream: it dials, opens a session,
// turns schema into values and back, and keeps at it for ever. It decides when to
// try again (Retry, a value); when a stream is dead is decided in liveness, and what
// its messages lead to is the runner's affair. Pictures travel beside the stream, on
// the same connection.
package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// protocolVersion is the protocol that this agent speaks.
const protocolVersion = 1

// openTime is how long a stream may take from the dial to the welcome.
const openTime = 10 * time.Second

// maxMessage bytes of the server are taken; larger ones end the stream.
const maxReceive = 16 << 20

// Runner is what the link needs of package runner.
type Runner interface {
	Opening(context.Context) (work.Opening, error)
	Open(context.Context, runner.Stream, runner.Opened) error
	Handle(context.Context, runner.Event) error
}

// Desk says what the hello tells of the desktop.
type Desk interface {
	Desktop(context.Context) desktop.State
	Monitors(context.Context) ([]driver.Monitor, error)
}

// Config sets up a link.
type Config struct {
	Server    string                 // host:port, required
	MachineID string                 // required
	Token     func() (string, error) // asked for each connection; nil: none is shown
	CAFile    string                 // PEM; empty: the system's, and plain text to loopback
	// Dial connects; nil means TCP.
	Dial     func(ctx context.Context, address string) (net.Conn, error)
	Runner   Runner    // required
	Desk     Desk      // required
	Evidence *Evidence // required
	// Connected is called when a stream has opened, and when it has ended; it must not
	// block. nil: nobody wants to know.
	Connected        func(bool)
	Camera           Camera         // nil: no pictures are taken on request
	Version          string         // of the agent, for people
	Backoff          backoff.Policy // zero means its default
	KeepaliveTime    time.Duration  // HTTP/2 keepalive; 0 means 10 s
	KeepaliveTimeout time.Duration  // 0 means 5 s
	Random           func() float64 // for the jitter; nil means math/rand
	Log              *slog.Logger   // nil discards
}

// Link keeps one stream open.
type Link struct {
	cfg Config
	log *slog.Logger

	captures chan wanted

	mu      sync.Mutex
	session *session       // the open one; nil: none
	told    *desktop.State // what the server was told last on it; nil: is to be told
}

// New returns a link; Run makes it work.
func New(cfg Config) *Link {
	if cfg.KeepaliveTime <= 0 {
		cfg.KeepaliveTime = 10 * time.Second
	}
	if cfg.KeepaliveTimeout <= 0 {
		cfg.KeepaliveTimeout = 5 * time.Second
	}
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Link{cfg: cfg, log: cfg.Log, captures: make(chan wanted, maxCaptures)}
}

// Run opens one stream after the other until ctx ends, and returns its cause. No
// error of a stream ends it: a server may come back, a credential be renewed, a
// twin of this machine be switched off.
func (l *Link) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() { l.cfg.Evidence.upload(ctx) })
	beside.Go(func() { l.photograph(ctx) })
	defer beside.Wait()
	retry := Retry{Policy: l.cfg.Backoff}
	for ctx.Err() == nil {
		ended, err := l.cycle(ctx)
		if ctx.Err() != nil {
			break
		}
		wait := retry.Wait(ended, l.cfg.Random())
		l.logEnd(ended, err, wait)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return context.Cause(ctx)
}

func (l *Link) logEnd(e Ending, err error, wait time.Duration) {
	attrs := []any{logkeys.Error, err, logkeys.After, wait.Round(time.Millisecond)}
	switch {
	case e.After > 0:
		l.log.Info("the server goes away; coming back later", attrs...)
	case e.Refused:
		l.log.Error("the server refuses this agent; trying again", append(attrs, logkeys.Code, status.Code(err))...)
	default:
		l.log.Warn("no stream; connecting again", attrs...)
	}
}

// cycle is the life of one connection, and why it ended.
func (l *Link) cycle(ctx context.Context) (Ending, error) {
	conn, err := l.connect()
	if err != nil {
		return Ending{}, err
	}
	defer func() { _ = conn.Close() }() // the stream on it has ended
	ended, err := newSession(l, conn).run(ctx)
	ended.Refused = refused(err)
	return ended, err
}

func (l *Link) connect() (*grpc.ClientConn, error) {
	creds, secure, err := Transport(l.cfg.Server, l.cfg.CAFile)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: l.cfg.KeepaliveTime, Timeout: l.cfg.KeepaliveTimeout, PermitWithoutStream: true,
		}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: grpcbackoff.DefaultConfig, MinConnectTimeout: openTime / 2}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceive)),
	}
	target := l.cfg.Server
	if l.cfg.Dial != nil {
		target = "passthrough:///" + target
		options = append(options, grpc.WithContextDialer(l.cfg.Dial))
	}
	if l.cfg.Token != nil {
		token, err := l.cfg.Token()
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithPerRPCCredentials(bearer{token, secure}))
	}
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", l.cfg.Server, err)
	}
	return conn, nil
}

// TellDesktop says what state the desktop is in now. It is for being called
// often: the server is told what it does not know yet.
func (l *Link) TellDesktop(state desktop.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil || (l.told != nil && *l.told == state) {
		return
	}
	l.told = &state
	l.session.tellDesktop(state)
}

// untold makes the next TellDesktop speak: a server that hears of an action that
// found the desktop unusable takes it for unusable until it hears otherwise.
func (l *Link) untold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = nil
}

// attach makes s the open session, whose hello told the desktop's state; nil: no
// session is open.
func (l *Link) attach(s *session, told desktop.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.told = s, &told
	if l.cfg.Connected != nil {
		l.cfg.Connected(s != nil)
	}
}

// Why a stream is ended from this side.
var (
	errOpenTimeout = errors.New("the stream did not open in time")
	errPingTimeout = errors.New("the server does not answer pings")
	errServerEnded = errors.New("the server ended the stream")
	errNoWelcome   = errors.New("the server's first message is no welcome")
	errDrained     = errors.New("the agent ends")
)
