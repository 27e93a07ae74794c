package cases

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/reprise-rpa/reprise/agent/agent"
)

// HTTP/2's own pings, on a connection that is idle: those of the stream are too far
// apart to matter.
var keepaliveEffects = []effect{
	{setting: "keepalive-time", other: "20s", play: serverLeavesASilentClient, byDef: "15s", changed: "25s"},
	{setting: "keepalive-timeout", other: "2s", play: serverLeavesASilentClient, byDef: "15s", changed: "12s"},
	{
		setting: "keepalive-min-time", other: "1m", with: []string{"--keepalive-time=1m", "--ping-interval=1m"},
		play: serverEndsTooManyPings, byDef: false, changed: true,
	},
	{
		setting: "keepalive-time", agent: func(c *agent.Config) { c.KeepaliveTime = 20 * time.Second }, with: []string{"--ping-interval=1h"},
		play: agentLeavesASilentServer, byDef: "15s", changed: "25s",
	},
	{
		setting: "keepalive-timeout", agent: func(c *agent.Config) { c.KeepaliveTimeout = 2 * time.Second }, with: []string{"--ping-interval=1h"},
		play: agentLeavesASilentServer, byDef: "15s", changed: "12s",
	},
}

// mutable is a connection that swallows all that passes once it is muted, as a
// black hole does.
type mutable struct {
	net.Conn
	muted atomic.Bool
	ended chan struct{} // closed when nothing can be read any more
	once  sync.Once
}

// Write implements net.Conn.
func (c *mutable) Write(p []byte) (int, error) {
	if c.muted.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *mutable) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil {
			c.once.Do(func() { close(c.ended) })
			return 0, err
		}
		if !c.muted.Load() {
			return n, nil
		}
	}
}

type dial func(context.Context, string) (net.Conn, error)

// mutably makes the connections of a dialer mutable, and hands them over.
func mutably(inner dial) (dial, <-chan *mutable) {
	made := make(chan *mutable, 100)
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := inner(ctx, address)
		if err != nil {
			return nil, err
		}
		c := &mutable{Conn: conn, ended: make(chan struct{})}
		made <- c
		return c, nil
	}, made
}

// serverLeavesASilentClient says after how long a server closes the connection of a
// client that has fallen silent.
func serverLeavesASilentClient(s *scenario) any {
	w := s.world()
	through, made := mutably(w.door.dial)
	conn := connect(s.T, through, grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	_, err := healthpb.NewHealthClient(conn).Check(w.ctx, &healthpb.HealthCheckRequest{})
	w.must(err)
	c := <-made
	c.muted.Store(true)
	silentFrom := time.Now()
	<-c.ended
	return time.Since(silentFrom).Round(time.Second)
}

// agentLeavesASilentServer says after how long an agent connects anew when the
// server has fallen silent; of its waits before that, only less than a second.
func agentLeavesASilentServer(s *scenario) any {
	w := s.world()
	made := w.restartAgent(func(c *agent.Config) (made <-chan *mutable) {
		c.Dial, made = mutably(c.Dial)
		return made
	})
	c := <-made
	w.opened(2) // that of the agent before, and this one
	c.muted.Store(true)
	silentFrom := time.Now()
	<-made
	return time.Since(silentFrom).Truncate(time.Second)
}

// serverEndsTooManyPings says whether the server ends an agent's idle connection
// because of its pings, every 10 s.
func serverEndsTooManyPings(s *scenario) any {
	w := s.world()
	made := w.restartAgent(func(c *agent.Config) (made <-chan *mutable) {
		c.Dial, made = mutably(w.door.dial) // no relay, whose own server has an own limit
		return made
	})
	time.Sleep(5 * time.Minute)
	return len(w.log.lines("too_many_pings")) > 0 && len(made) > 1
}

// restartAgent starts the agent again with other connections, and returns those.
func (w *world) restartAgent(change func(*agent.Config) <-chan *mutable) <-chan *mutable {
	w.t.Helper()
	w.opened(1)
	w.stopAgent()
	var made <-chan *mutable
	before := w.with.agent
	w.with.agent = func(c *agent.Config) {
		if before != nil {
			before(c)
		}
		made = change(c)
	}
	w.agent = w.start()
	return made
}
