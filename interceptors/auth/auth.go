// Package auth decides who calls and what they may call. Place it after logging
// and metrics, which shall see refused calls, and before validation, which
// strangers shall not reach.
//
// A caller shows a bearer token in the `authorization` header. Health needs
// none. An operator may call everything but AgentService, which only the agent
// of a machine may; an agent may call AgentService, for its own machine alone,
// and EvidenceService. A picture belongs to no machine: who knows its digest may
// have it. Reflection is for operators.
//
// A stream outlives the check at its start, so Run looks again: a stream whose
// token is revoked ends with UNAUTHENTICATED within [RecheckInterval] and the
// time the Verifier takes to learn of it. What tokens are and where they lie is
// left to the Verifier.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	mwauth "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Services that the permissions name.
const (
	agentService    = "reprise.v1.AgentService"
	evidenceService = "reprise.v1.EvidenceService"
	healthService   = "grpc.health.v1.Health"
)

// ErrUnknownToken is what a Verifier says of a token that is not valid, or not
// any more.
var ErrUnknownToken = errors.New("auth: unknown token")

// Verifier knows the tokens.
type Verifier interface {
	// Authenticate says who holds token; ErrUnknownToken when nobody does. Any
	// other error refuses the call as UNAVAILABLE and ends no stream. It is called
	// for every call and must be fast and safe for concurrent use.
	Authenticate(token string) (Identity, error)
}

// Auth is the interceptors and the watch over open streams.
type Auth struct {
	verifier Verifier
	log      *slog.Logger
	open     streams
}

// New returns Auth over v; a nil log discards.
func New(v Verifier, log *slog.Logger) *Auth {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Auth{verifier: v, log: log}
}

// Unary checks calls with one message each way.
func (a *Auth) Unary() grpc.UnaryServerInterceptor {
	return selector.UnaryServerInterceptor(mwauth.UnaryServerInterceptor(a.check), selector.MatchFunc(needsToken))
}

// Stream checks streams when they open, and watches them.
func (a *Auth) Stream() grpc.StreamServerInterceptor {
	opens := mwauth.StreamServerInterceptor(a.check)
	checked := func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return opens(srv, ss, info, func(srv any, ss grpc.ServerStream) error {
			return a.guard(srv, ss, info, next)
		})
	}
	return selector.StreamServerInterceptor(checked, selector.MatchFunc(needsToken))
}

func needsToken(_ context.Context, c interceptors.CallMeta) bool { return c.Service != healthService }

// check is what go-grpc-middleware calls at the start of each call.
func (a *Auth) check(ctx context.Context) (context.Context, error) {
	token, err := mwauth.AuthFromMD(ctx, "bearer")
	if err != nil || token == "" {
		return nil, refusal(codes.Unauthenticated, TokenNeeded, "a bearer token is needed")
	}
	id, err := a.verifier.Authenticate(token)
	switch {
	case errors.Is(err, ErrUnknownToken):
		return nil, refusal(codes.Unauthenticated, TokenInvalid, "the token is not valid")
	case err != nil:
		a.log.ErrorContext(ctx, "tokens cannot be checked", logkeys.Error, err)
		return nil, refusal(codes.Unavailable, TokensUnreadable, "tokens cannot be checked now")
	}
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.id, r.known = id, true
	}
	full, _ := grpc.Method(ctx)
	service, _, _ := strings.Cut(strings.TrimPrefix(full, "/"), "/")
	if !id.mayCall(service) {
		return nil, refusal(codes.PermissionDenied, RoleForbidden, fmt.Sprintf("the role %s may not call %s", id.Role, full))
	}
	return With(ctx, id), nil
}
