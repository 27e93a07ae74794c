// Package host wires the rooms of the server into one that runs: journal,
// machines, services, interceptors, health. It decides nothing; cmd/reprised gives
// it settings and listeners, tests give it the same.
package host

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	channelz "google.golang.org/grpc/channelz/service"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/metrics"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/control"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/evidence"
	"github.com/reprise-rpa/reprise/server/journal"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/session"
	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/telemetry"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// Config sets up a server.
type Config struct {
	Settings settings.Settings // as loaded and checked
	Version  string
	Log      *slog.Logger // nil means discard

	metrics *prometheus.Registry // nil: one of its own
}

// Host is one server.
type Host struct {
	cfg      Config
	log      *slog.Logger
	tokens   *tokens.Store
	journal  *journal.Journal
	fleet    *dispatch.Fleet
	sessions *session.Service
	auth     *auth.Auth
	grpc     *grpc.Server
	health   *health.Server
	metrics  *prometheus.Registry
	counted  *metrics.Metrics
	pictures *evidence.Store
	tel      *telemetry.Telemetry
	changes  control.Changes
	ended    chan struct{} // closed when watches must end
}

// New opens what lies on disk and recovers every machine. Nothing is served
// before Run: a caller can never be told "nothing pending" by a server that has
// not read its journal.
func New(ctx context.Context, c Config) (*Host, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.metrics == nil {
		c.metrics = newMetrics()
	}
	h := &Host{cfg: c, log: c.Log, metrics: c.metrics, ended: make(chan struct{}), health: health.NewServer()}
	if err := h.open(ctx); err != nil {
		if h.journal != nil {
			err = errors.Join(err, h.journal.Close())
		}
		return nil, err
	}
	return h, nil
}

// Tokens returns the server's tokens.
func (h *Host) Tokens() *tokens.Store { return h.tokens }

func (h *Host) open(ctx context.Context) (err error) {
	s := h.cfg.Settings
	if h.tel, err = telemetry.New(h.metrics, h.log); err != nil { // first: metrics are served already
		return err
	}
	if h.tokens, err = tokens.Open(s.DataDir, h.log); err != nil {
		return err
	}
	// The journal first: who has it has the folder, and may clean up the rest.
	if h.journal, err = journal.Open(ctx, journal.Options{Dir: s.DataDir, Log: h.log}); err != nil {
		return err
	}
	if err := private(s.DataDir); err != nil {
		return err
	}
	if h.pictures, err = evidence.Open(filepath.Join(s.DataDir, "evidence"), int64(s.EvidenceMaxBytes)); err != nil {
		return err
	}
	start := time.Now()
	h.fleet, err = dispatch.Recover(ctx, dispatch.FleetConfig{
		Machine: machineConfig(s), Store: h.journal, Observer: watched{h.tel, &h.changes}, Log: h.log, ScanEvery: s.ScanInterval, Swept: h.tel.Swept,
	})
	if err != nil {
		return err
	}
	h.log.Info("journal recovered", logkeys.Count, len(h.fleet.Machines()), logkeys.Elapsed, time.Since(start))
	return h.services()
}

// watched tells those who watch machines of what the loops tell the log.
type watched struct {
	*telemetry.Telemetry
	changes *control.Changes
}

// Changed implements dispatch.Observer.
func (w watched) Changed(machineID string, v dispatch.View) {
	w.Telemetry.Changed(machineID, v)
	w.changes.Touch(machineID)
}

func (h *Host) services() error {
	s := h.cfg.Settings
	options, err := h.options()
	if err != nil {
		return err
	}
	held := &registry.Registry{Changed: h.changes.Touch}
	h.sessions = session.New(session.Config{
		Loop: h.fleet.Loop, Registry: held, Version: h.cfg.Version, OpenTimeout: 5 * time.Second,
		PingInterval: s.PingInterval, PingTimeout: s.PingTimeout, Settings: sessionSettings(s),
		Observer: h.tel, Log: h.log,
	})
	services := control.New(control.Config{
		Journal: h.journal, Fleet: h.fleet, Pictures: h.pictures, Machines: h.tokens, Registry: held, Changes: &h.changes,
		Capturer: h.sessions, Ended: h.ended,
	})
	h.grpc = grpc.NewServer(options...)
	reprisev1.RegisterAgentServiceServer(h.grpc, h.sessions)
	reprisev1.RegisterReplayServiceServer(h.grpc, services)
	reprisev1.RegisterMachineServiceServer(h.grpc, services)
	reprisev1.RegisterEvidenceServiceServer(h.grpc, evidence.NewService(h.pictures, h.log))
	healthpb.RegisterHealthServer(h.grpc, h.health)
	channelz.RegisterChannelzServiceToServer(h.grpc)
	reflection.Register(h.grpc)
	h.counted.Initialize(h.grpc)
	for name := range h.grpc.GetServiceInfo() {
		h.health.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	return nil
}

func (h *Host) options() ([]grpc.ServerOption, error) {
	counted, err := metrics.New(h.metrics)
	h.counted = counted
	if err != nil {
		return nil, err
	}
	h.auth = auth.New(h.tokens, h.log)
	chain, err := interceptors.Server(interceptors.Config{Auth: h.auth, Metrics: counted, Log: h.log})
	if err != nil {
		return nil, err
	}
	transport, err := transportOptions(h.cfg.Settings, h.log)
	return append(chain, transport...), err
}

// Run serves on the listener until ctx ends, then drains within the drain
// timeout. metricsOn may be nil.
func (h *Host) Run(ctx context.Context, lis, metricsOn net.Listener) error {
	// What serves outlives ctx: what is in flight when it ends is waited for.
	serving, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	g, serving := errgroup.WithContext(serving)
	g.Go(func() error { return h.fleet.Run(serving) })
	g.Go(func() error { return h.auth.Run(serving) })
	g.Go(func() error { return every(serving, forgetEvery, h.forget) })
	g.Go(func() error { return h.keepPictures(serving) })
	g.Go(func() error { return h.serve(lis) })
	if metricsOn != nil {
		g.Go(func() error { return serveMetrics(serving, h.metrics, metricsOn) })
	}
	failed := make(chan error, 1)
	go func() { failed <- g.Wait() }()
	select {
	case <-serving.Done(): // something broke, such as a listener
	case <-ctx.Done():
	}
	h.drain(serving)
	stop(dispatch.ErrStopped)
	err := <-failed
	if errors.Is(err, dispatch.ErrStopped) {
		err = nil
	}
	return errors.Join(err, h.journal.Close())
}

// serve serves until the server is stopped; that may be before it has begun.
func (h *Host) serve(lis net.Listener) error {
	err := h.grpc.Serve(lis)
	if errors.Is(err, grpc.ErrServerStopped) {
		return dispatch.ErrStopped
	}
	return err
}

// spread is the time over which agents are told to come back.
const spread = 3 * time.Second

// drain ends in order: no new work, what is in flight is reported, agents and
// callers are told to come back.
func (h *Host) drain(ctx context.Context) {
	h.log.Info("draining")
	h.health.Shutdown()
	h.sessions.Refuse()
	wait, cancel := context.WithTimeout(ctx, h.cfg.Settings.DrainTimeout*2/3)
	defer cancel()
	if err := h.fleet.Drain(wait); err != nil {
		h.log.Warn("actions are still in flight; the next server settles them", logkeys.Error, err)
	}
	h.sessions.GoAway(spread)
	close(h.ended)
	graceful := make(chan struct{})
	go func() { h.grpc.GracefulStop(); close(graceful) }()
	late := time.NewTimer(h.cfg.Settings.DrainTimeout / 6)
	defer late.Stop()
	select {
	case <-graceful:
	case <-late.C:
		h.grpc.Stop()
		<-graceful
	}
}
