package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// newMetrics returns a registry that has what every Go program can tell of itself.
func newMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// serveMetrics serves metrics until ctx ends, and returns its cause. It closes lis.
func serveMetrics(ctx context.Context, metrics *prometheus.Registry, lis net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	end := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer end()
	if err := srv.Serve(lis); ctx.Err() == nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return context.Cause(ctx)
}
