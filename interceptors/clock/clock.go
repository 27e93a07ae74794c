// Package clock says with each answer what time it is at the server, so that a client
// can tell how far its own clock is off. Streams have their own times in their messages.
package clock

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Header is the header with the time, in the form of HTTP's Date (RFC 9110, 6.6.1).
const Header = "date"

// Unary sets the header of each answer, also of a refusal.
func Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		// It fails for a call that is over: then there is nobody to tell.
		_ = grpc.SetHeader(ctx, metadata.Pairs(Header, time.Now().UTC().Format(http.TimeFormat)))
		return handle(ctx, req)
	}
}
