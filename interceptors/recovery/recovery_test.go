package recovery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// stream is a stream of nothing but its context.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

func TestAPanicBecomesInternalAndItsStackIsLogged(t *testing.T) {
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	calls := map[string]func(func()) error{
		"call": func(f func()) error {
			_, err := Unary(logger)(t.Context(), nil, nil, func(context.Context, any) (any, error) { f(); return nil, nil })
			return err
		},
		"stream": func(f func()) error {
			return Stream(logger)(nil, stream{ctx: t.Context()}, nil, func(any, grpc.ServerStream) error { f(); return nil })
		},
	}
	panics := map[string]struct {
		f    func()
		want string
	}{
		"text":    {func() { panic("typed text") }, "error=string"},
		"error":   {func() { panic(errors.New("typed text")) }, "error=*errors.errorString"},
		"runtime": {func() { s, i := []int{}, 0; _ = s[i] }, "index out of range"},
		"nil":     {func() { panic(nil) }, "nil argument"},
	}
	for call, run := range calls {
		for kind, p := range panics {
			log.Reset()
			err := run(p.f)
			if status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" {
				t.Errorf("%s in a %s: %v", kind, call, err)
			}
			if !strings.Contains(log.String(), "recovery_test.go") || !strings.Contains(log.String(), p.want) {
				t.Errorf("%s in a %s: no %q or no stack in %s", kind, call, p.want, log.String())
			}
			if strings.Contains(log.String(), "typed text") {
				t.Errorf("%s in a %s: the log holds the panic's value", kind, call)
			}
		}
		if err := run(func() {}); err != nil {
			t.Errorf("no panic in a %s: %v", call, err)
		}
	}
}
