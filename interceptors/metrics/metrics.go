// Package metrics counts and times calls for Prometheus. Place it after logging
// and before authentication, so that refused calls count. Its labels are service,
// method, kind and code: bounded, whatever callers send. What the product itself
// counts is not decided here.
package metrics

import (
	"fmt"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
)

// buckets of call durations in seconds: from a call answered from memory to a
// large upload. A stream that lasts for days lands in the last one.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Metrics are the interceptors and their collectors.
type Metrics struct{ server *grpcprom.ServerMetrics }

// New registers the collectors with reg; an error says that they are there
// already.
func New(reg prometheus.Registerer) (*Metrics, error) {
	m := grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram(grpcprom.WithHistogramBuckets(buckets)))
	if err := reg.Register(m); err != nil {
		return nil, fmt.Errorf("grpc metrics: %w", err)
	}
	return &Metrics{server: m}, nil
}

// Unary counts calls with one message each way.
func (m *Metrics) Unary() grpc.UnaryServerInterceptor { return m.server.UnaryServerInterceptor() }

// Stream counts streams and their messages.
func (m *Metrics) Stream() grpc.StreamServerInterceptor { return m.server.StreamServerInterceptor() }

// Initialize shows every method of s at zero, so that a rate over it is right
// from its first call on. Call it when all services are registered.
func (m *Metrics) Initialize(s reflection.ServiceInfoProvider) { m.server.InitializeMetrics(s) }
