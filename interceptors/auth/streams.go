package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	mwauth "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// RecheckInterval is how often the tokens of open streams are looked at again.
const RecheckInterval = 2 * time.Second

var errRevoked = refusal(codes.Unauthenticated, TokenInvalid, "the token is not valid any more")

// streams are the open streams by token: one check serves all of a token.
type streams struct {
	mu      sync.Mutex
	byToken map[string]map[*stream]struct{}
}

func (s *streams) add(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byToken == nil {
		s.byToken = map[string]map[*stream]struct{}{}
	}
	if s.byToken[st.token] == nil {
		s.byToken[st.token] = map[*stream]struct{}{}
	}
	s.byToken[st.token][st] = struct{}{}
}

func (s *streams) remove(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byToken[st.token], st)
	if len(s.byToken[st.token]) == 0 {
		delete(s.byToken, st.token)
	}
}

func (s *streams) tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, 0, len(s.byToken))
	for token := range s.byToken {
		all = append(all, token)
	}
	return all
}

func (s *streams) end(token string, keep func(Identity) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.byToken[token] {
		if !keep(st.id) {
			st.end(errRevoked)
		}
	}
}

// Run ends the streams whose token is revoked, until ctx ends, and returns its
// cause. Without it a stream keeps for life what its token allowed at its start.
func (a *Auth) Run(ctx context.Context) error {
	tick := time.NewTicker(RecheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			a.recheck(ctx)
		}
	}
}

func (a *Auth) recheck(ctx context.Context) {
	for _, token := range a.open.tokens() {
		id, err := a.verifier.Authenticate(token)
		switch {
		case err == nil:
			a.open.end(token, func(then Identity) bool { return then == id })
		case errors.Is(err, ErrUnknownToken):
			a.open.end(token, func(Identity) bool { return false })
		default:
			a.log.ErrorContext(ctx, "tokens of open streams cannot be checked", logkeys.Error, err)
			return
		}
	}
}

// guard runs next on a stream that ends when its token does, and on which an
// agent cannot open another machine's session.
func (a *Auth) guard(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	id, _ := From(ss.Context())
	token, err := mwauth.AuthFromMD(ss.Context(), "bearer")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ss.Context())
	defer end(nil)
	st := &stream{ServerStream: ss, ctx: ctx, end: end, id: id, token: token}
	st.opens = info.IsClientStream && id.Role == RoleAgent
	a.open.add(st)
	defer a.open.remove(st)
	err = next(srv, st)
	if errors.Is(context.Cause(ctx), errRevoked) {
		return errRevoked
	}
	return err
}

// stream ends with its token. A handler that waits for something else than the
// stream must heed Context, and finds the reason in its cause.
type stream struct {
	grpc.ServerStream
	ctx   context.Context
	end   context.CancelCauseFunc
	id    Identity
	token string
	opens bool // no message was read yet, and it may claim a machine
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) SendMsg(m any) error {
	if s.ctx.Err() != nil {
		return s.cause()
	}
	return s.ServerStream.SendMsg(m)
}

// cause is why the stream is over: its token, or that its caller has gone.
func (s *stream) cause() error {
	err := context.Cause(s.ctx)
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.FromContextError(err).Err()
}

func (s *stream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	if s.ctx.Err() != nil {
		return s.cause()
	}
	if !s.opens {
		return nil
	}
	s.opens = false
	if machine, ok := claimed(m); ok && !s.id.MayDrive(machine) {
		return NotForMachine(machine)
	}
	return nil
}

// claimed is the machine that an opening message asks for. It is found by name,
// so that this room needs none of the generated types.
func claimed(m any) (string, bool) {
	msg, ok := m.(proto.Message)
	if !ok {
		return "", false
	}
	r := msg.ProtoReflect()
	hello := r.Descriptor().Fields().ByName("hello")
	if hello == nil || hello.Kind() != protoreflect.MessageKind || !r.Has(hello) {
		return "", false
	}
	opening := r.Get(hello).Message()
	machine := opening.Descriptor().Fields().ByName("machine_id")
	if machine == nil || machine.Kind() != protoreflect.StringKind {
		return "", false
	}
	return opening.Get(machine).String(), true
}
