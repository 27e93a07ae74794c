// Package logging writes one line for each finished call or stream: what was
// called, by whom, how it ended and how long it took. Place it outermost, so that
// no call escapes it. It never logs a message, and no header but the peer's
// address; probes of the health service are not logged at all.
package logging

import (
	"context"
	"log/slog"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	mw "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/reprise-rpa/reprise/interceptors/auth"
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
		mw.WithFieldsFromContext(caller),
		mw.WithDisableLoggingFields(mw.SystemTag[0], mw.ComponentFieldKey, mw.MethodTypeFieldKey),
	}
}

// caller is known once the call has passed authentication.
func caller(ctx context.Context) mw.Fields {
	id, ok := auth.Recorded(ctx)
	if !ok {
		return nil
	}
	return mw.Fields{"caller", id.Name, "role", id.Role.String()}
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

func adapt(log *slog.Logger) mw.Logger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return mw.LoggerFunc(func(ctx context.Context, l mw.Level, msg string, fields ...any) {
		log.Log(ctx, slog.Level(l), msg, fields...)
	})
}
