package interceptors

import (
	"errors"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/clock"
	"github.com/reprise-rpa/reprise/interceptors/logging"
	"github.com/reprise-rpa/reprise/interceptors/metrics"
	"github.com/reprise-rpa/reprise/interceptors/recovery"
	"github.com/reprise-rpa/reprise/interceptors/validation"
)

// Config is what the chain is made of.
type Config struct {
	Auth    *auth.Auth       // required; its Run must run beside the server
	Metrics *metrics.Metrics // nil: calls are not counted
	Log     *slog.Logger     // nil: nothing is logged
}

// Server returns the chain, for calls and for streams, and the codec that belongs
// to it, as options of a server.
func Server(c Config) ([]grpc.ServerOption, error) {
	if c.Auth == nil {
		return nil, errors.New("interceptors: Auth is required")
	}
	valid, err := validation.New()
	if err != nil {
		return nil, err
	}
	unary := []grpc.UnaryServerInterceptor{clock.Unary(), logging.Unary(c.Log)}
	stream := []grpc.StreamServerInterceptor{logging.Stream(c.Log)}
	if c.Metrics != nil {
		unary = append(unary, c.Metrics.Unary())
		stream = append(stream, c.Metrics.Stream())
	}
	unary = append(unary, c.Auth.Unary(), valid.Unary(), recovery.Unary(c.Log))
	stream = append(stream, c.Auth.Stream(), valid.Stream(), recovery.Stream(c.Log))
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(validation.Codec()), grpc.ChainUnaryInterceptor(unary...), grpc.ChainStreamInterceptor(stream...),
	}, nil
}
