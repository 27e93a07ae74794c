// Package logging writes one line for each finished call or stream: what was
// called, by whom, how it ended and how long it took. Place it outermost, so that
// no call escapes it. It never logs a message, and no header but the peer's
// address; probes of the health service are not logged at all.
package logging

import (
	"context"
	"log/slog"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	mw "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Unary logs calls with one message each way.
func Unary(log *slog.Logger) grpc.UnaryServerInterceptor {
	inner := mw.UnaryServerInterceptor(adapt(log), options()...)
	recorded := func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		return inner(auth.WithRecord(ctx), req, info, next)
	}
	return selector.UnaryServerInterceptor(recorded, selector.MatchFunc(notHealth))
}

// Stream logs streams.
func Stream(log *slog.Logger) grpc.StreamServerInterceptor {
	inner := mw.StreamServerInterceptor(adapt(log), options()...)
	recorded := func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		wrapped := middleware.WrapServerStream(ss)
		wrapped.WrappedContext = auth.WithRecord(ss.Context())
		return inner(srv, wrapped, info, next)
	}
	return selector.StreamServerInterceptor(recorded, selector.MatchFunc(notHealth))
}

func notHealth(_ context.Context, c interceptors.CallMeta) bool {
	return c.Service != "grpc.health.v1.Health"
}

func options() []mw.Option {
	return []mw.Option{
		mw.WithLogOnEvents(mw.FinishCall),
		mw.WithLevels(level),
		mw.WithFieldsFromContextAndCallMeta(called),
		mw.WithDurationField(func(d time.Duration) mw.Fields { return mw.Fields{logkeys.Elapsed, d} }),
	}
}

// called says what was called, and by whom once the call has passed
// authentication.
func called(ctx context.Context, c interceptors.CallMeta) mw.Fields {
	fields := mw.Fields{logkeys.Method, c.FullMethod()}
	if id, ok := auth.Recorded(ctx); ok {
		fields = append(fields, "caller", id.Name, "role", id.Role.String())
	}
	return fields
}

// level is a line's loudness. What a stranger or a wrong token causes is worth a
// look; what an agent that goes away causes is everyday.
func level(code codes.Code) mw.Level {
	switch code {
	case codes.Unauthenticated, codes.PermissionDenied:
		return mw.LevelWarn
	case codes.Aborted, codes.DeadlineExceeded, codes.FailedPrecondition, codes.OutOfRange:
		return mw.LevelInfo
	default:
		return mw.DefaultServerCodeToLevel(code)
	}
}

// keys are our names of the middleware's fields. What is not here is not logged.
var keys = map[string]string{
	logkeys.Method:  logkeys.Method,
	"peer.address":  logkeys.Peer,
	"grpc.code":     logkeys.Code,
	"grpc.error":    logkeys.Error,
	logkeys.Elapsed: logkeys.Elapsed,
	"caller":        "caller",
	"role":          "role",
}

func adapt(log *slog.Logger) mw.Logger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return mw.LoggerFunc(func(ctx context.Context, l mw.Level, msg string, fields ...any) {
		args := make([]any, 0, len(fields))
		for i := mw.Fields(fields).Iterator(); i.Next(); {
			if name, value := i.At(); keys[name] != "" {
				args = append(args, keys[name], value)
			}
		}
		log.Log(ctx, slog.Level(l), msg, args...)
	})
}
