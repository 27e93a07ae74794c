package session_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"google.golang.org/genproto/googleapis/rpc/errdetails"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session"
)

const machine = "desk-1"

var errDisk = errors.New("disk I/O error at /var/lib/reprise")

// store is a journal in memory that fails or hangs when it is told to.
type store struct {
	mu      sync.Mutex
	fail    error
	hang    chan struct{} // appends wait until it is closed
	order   []string
	records map[string][]replay.Record
}

func (s *store) Append(ctx context.Context, entries []replay.Entry) error {
	s.mu.Lock()
	hang := s.hang
	s.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, e := range entries {
		id := e.Record.ReplayID
		if s.records[id] == nil {
			s.order = append(s.order, id)
		}
		s.records[id] = append(s.records[id], e.Record)
	}
	return nil
}

func (s *store) LiveOf(_ context.Context, machineID string) ([]replay.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var live []replay.Record
	for _, id := range s.order {
		r, err := replay.Fold(s.records[id])
		if err != nil {
			return nil, err
		}
		if r.MachineID == machineID && !r.State.Ended() {
			live = append(live, s.records[id]...)
		}
	}
	return live, nil
}

func (s *store) Live(context.Context, func(replay.Record) error) error { return nil }

func (s *store) EndedIDs(context.Context) (map[string][]string, error) { return nil, nil }

func (s *store) set(f func(*store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// fold returns a replay as the journal has it.
func (s *store) fold(t *testing.T, id string) *replay.Replay {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := replay.Fold(s.records[id])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type quiet struct{}

func (quiet) Note(string, dispatch.Note)    {}
func (quiet) Changed(string, dispatch.View) {}
func (quiet) Appended(time.Duration, error) {}
func (quiet) InFlight(string, int)          {}

// world is a server's machines and streams over a connection in memory.
type world struct {
	t        *testing.T
	store    *store
	fleet    *dispatch.Fleet
	registry *registry.Registry
	service  *session.Service
	valid    *validation.Validation
	listener *bufconn.Listener
	conn     *grpc.ClientConn
	token    auth.Identity // of everyone who connects
}

// inWorld runs f in a bubble, with a server in it.
func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f(t, w)
	})
}

// newCore is a server's machines and streams without a connection.
func newCore(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, store: &store{records: map[string][]replay.Record{}}, registry: &registry.Registry{}, valid: validator(t),
		token: auth.Identity{Role: auth.RoleAgent, Machine: machine, Name: machine},
	}
	ctx, stop := context.WithCancel(t.Context())
	var err error
	w.fleet, err = dispatch.Recover(ctx, dispatch.FleetConfig{
		Machine: dispatch.Config{
			Policy:       replay.Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, SwallowedInput: 3},
			Timeouts:     pending.Timeouts{Receipt: 5 * time.Second, Orphan: 30 * time.Second},
			OfflineGrace: 90 * time.Second, DeadClientGiveUps: 2, DeadClientWindow: 5 * time.Minute,
		},
		Store: w.store, Observer: quiet{},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.service = session.New(session.Config{
		Loop: w.fleet.Loop, Registry: w.registry, Version: "test", OpenTimeout: 5 * time.Second,
		PingInterval: 10 * time.Second, PingTimeout: 10 * time.Second,
		Settings: &reprisev1.SessionSettings{ActionTimeout: durationpb.New(time.Minute)},
	})
	var running sync.WaitGroup
	running.Go(func() { _ = w.fleet.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return w
}

// newWorld is newCore with a connection in memory.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := newCore(t)
	w.listener = bufconn.Listen(1 << 20)
	identify := func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(srv, identified{ss, auth.With(ss.Context(), w.token)})
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(validation.Codec()), grpc.ChainStreamInterceptor(identify, w.valid.Stream()))
	reprisev1.RegisterAgentServiceServer(server, w.service)
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(w.listener) })
	w.conn = w.dial()
	t.Cleanup(func() {
		server.Stop()
		running.Wait()
	})
	return w
}

// rules are compiled once for all worlds.
var rules = sync.OnceValues(validation.New)

func validator(t *testing.T) *validation.Validation {
	t.Helper()
	v, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// dial opens a connection of its own.
func (w *world) dial() *grpc.ClientConn {
	w.t.Helper()
	conn, err := grpc.NewClient("passthrough:server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(1<<16), // so that a test knows how much fits
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) }))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

type identified struct {
	grpc.ServerStream
	ctx context.Context
}

func (i identified) Context() context.Context { return i.ctx }

// submit queues a replay of clicks, each with a name of its own.
func (w *world) submit(id string, names ...string) {
	w.t.Helper()
	c := replay.Created{MachineID: machine, Workflow: "w"}
	for _, name := range names {
		payload, err := proto.Marshal(&reprisev1.Action{Name: name, Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}})
		if err != nil {
			w.t.Fatal(err)
		}
		c.Steps = append(c.Steps, replay.Step{Name: name, Kind: "click", Payload: payload, Critical: true, ChangesScreen: true, MaxRetries: -1})
	}
	w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Submit{ReplayID: id, Created: c, Reply: reply}
	})
}

func (w *world) command(id string, decide func(*replay.Replay) ([]replay.Event, error)) {
	w.t.Helper()
	w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Command{ReplayID: id, Decide: decide, Reply: reply}
	})
}

func (w *world) ask(machineID string, in func(func(dispatch.Answer)) dispatch.Input) {
	w.t.Helper()
	answers := make(chan dispatch.Answer, 1)
	if err := w.fleet.Loop(machineID).Post(w.t.Context(), in(func(a dispatch.Answer) { answers <- a })); err != nil {
		w.t.Fatal(err)
	}
	if a := <-answers; a.Err != nil {
		w.t.Fatal(a.Err)
	}
}

// connected says whether a session holds the machine, for those who look.
func (w *world) connected() bool {
	for _, m := range w.registry.Machines() {
		if m.ID == machine {
			return m.SessionID != ""
		}
	}
	return false
}

// refused checks how a stream has ended.
func refused(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	if got := reasonOf(err); status.Code(err) != code || got != reason {
		t.Errorf("the stream ended with %v, reason %q; want %v, %q", err, got, code, reason)
	}
}

// reasonOf is the reason that an error has for programs; empty: none.
func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

func within(t *testing.T, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("it took %v, want %v to %v", took, least, most)
	}
}
