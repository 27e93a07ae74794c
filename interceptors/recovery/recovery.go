// Package recovery turns a panic in a handler into codes.Internal. Place it
// innermost, so that logging and metrics still see the call end. Panics of
// goroutines that a handler starts are not its to catch: they end the process.
package recovery

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	mw "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Unary recovers calls with one message each way.
func Unary(log *slog.Logger) grpc.UnaryServerInterceptor {
	return mw.UnaryServerInterceptor(options(log)...)
}

// Stream recovers streams.
func Stream(log *slog.Logger) grpc.StreamServerInterceptor {
	return mw.StreamServerInterceptor(options(log)...)
}

// options log the panic with its stack and tell the peer nothing of it. The
// value of a panic may hold what a message held, so only its type is logged,
// unless it is an error of the runtime.
func options(log *slog.Logger) []mw.Option {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return []mw.Option{mw.WithRecoveryHandlerContext(func(ctx context.Context, p any) error {
		method, _ := grpc.Method(ctx)
		log.ErrorContext(ctx, "handler panicked",
			logkeys.Method, method, logkeys.Error, describe(p), logkeys.Stack, string(debug.Stack()))
		return status.Error(codes.Internal, "internal error")
	})}
}

// describe is an error of the runtime in full, the type of anything else.
func describe(p any) string {
	if err, ok := p.(interface{ RuntimeError() }); ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%T", p)
}
