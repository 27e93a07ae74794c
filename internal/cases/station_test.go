package cases

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// running is something that runs until it is stopped.
type running struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // read after done
}

func run(ctx context.Context, f func(context.Context) error) *running {
	ctx, stop := context.WithCancel(ctx)
	r := &running{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = f(ctx)
	}()
	return r
}

func (r *running) end() {
	r.stop()
	<-r.done
}

// station is an agent with its desktop, and the relay between it and the server.
type station struct {
	t       *testing.T
	desktop *countingDesktop
	relay   *relay
	agent   *running
	start   func() *running // the agent again, with the memory that it had
	spool   string          // its folder; another one is another memory
}

// newStation starts one with a memory of its own on machine M.
func (w *world) newStation() *station {
	w.t.Helper()
	onward := connect(w.t, w.door.dial)
	s := &station{t: w.t, desktop: newDesktop(), spool: w.t.TempDir()}
	s.relay = &relay{server: reprisev1.NewAgentServiceClient(onward), pictures: pictures{to: reprisev1.NewEvidenceServiceClient(onward)}}
	between := bufconn.Listen(1 << 20)
	relayServer := grpc.NewServer()
	reprisev1.RegisterAgentServiceServer(relayServer, s.relay)
	reprisev1.RegisterEvidenceServiceServer(relayServer, s.relay)
	relays := run(w.base, func(context.Context) error { return relayServer.Serve(between) })
	s.start = func() *running {
		cfg := agent.Config{
			Server: "localhost:1", MachineID: machineID, Driver: s.desktop, StateDir: s.spool, Version: "test", Log: w.logger,
			Token:  func() (string, error) { return w.secret, nil },
			Dial:   func(ctx context.Context, _ string) (net.Conn, error) { return between.DialContext(ctx) },
			Random: func() float64 { return 0.5 },
		}
		if w.with.agent != nil {
			w.with.agent(&cfg)
		}
		a, err := agent.New(cfg)
		w.must(err)
		return run(w.base, a.Run)
	}
	s.agent = s.start()
	w.t.Cleanup(func() {
		s.agent.end()
		relayServer.Stop()
		relays.end()
	})
	return s
}

// secondAgent starts another agent that claims the same machine: with the same
// credential, as a copy of the machine's disk would, but a memory of its own.
func (w *world) secondAgent() *station { return w.newStation() }

func (s *station) stopAgent() { s.agent.end() }
