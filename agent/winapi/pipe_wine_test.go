//go:build windows && wine

package winapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

var errTestOver = errors.New("the test is over")

// pipe is one that this process listens on, for itself.
func pipe(t *testing.T) (*winapi.PipeListener, string, string) {
	t.Helper()
	own, err := system.OwnSID()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf(`\\.\pipe\reprise-test-%d-%d`, os.Getpid(), time.Now().UnixNano())
	l, err := system.ListenPipe(name, own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, name, own
}

// accepting accepts in the background.
func accepting(ctx context.Context, l *winapi.PipeListener, pid int) <-chan error {
	accepted := make(chan error, 1)
	go func() {
		f, err := l.Accept(ctx, uint32(pid))
		accepted <- err
		if err == nil {
			<-ctx.Done()
			_ = f.Close()
		}
	}()
	return accepted
}

func TestB11_APipeOfThatNameIsThereOnce(t *testing.T) {
	_, name, own := pipe(t)
	if second, err := system.ListenPipe(name, own); err == nil {
		second.Close()
		t.Error("two have a pipe of one name")
	}
}

func TestB11_ASecondClientOfAPipeIsRefused(t *testing.T) {
	l, name, own := pipe(t)
	accepted := accepting(t.Context(), l, os.Getpid())
	first, err := system.DialPipe(t.Context(), name, uint32(os.Getpid()), own)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errTestOver)
	defer cancel()
	if second, err := system.DialPipe(ctx, name, uint32(os.Getpid()), own); !errors.Is(err, errTestOver) {
		t.Errorf("the second client got %v, %v", second, err)
	}
	if err := <-accepted; err != nil {
		t.Errorf("accept: %v", err)
	}
}

func TestB11_APipeThatAnotherHoldsIsNotCalled(t *testing.T) {
	for text, dial := range map[string]func(name, own string) (*os.File, error){
		"holds it": func(name, own string) (*os.File, error) {
			return system.DialPipe(t.Context(), name, uint32(os.Getpid())+4, own)
		},
		"owns it": func(name, _ string) (*os.File, error) {
			return system.DialPipe(t.Context(), name, uint32(os.Getpid()), "S-1-5-18")
		},
		"open the pipe": func(name, own string) (*os.File, error) {
			return system.DialPipe(t.Context(), name+"x", uint32(os.Getpid()), own)
		},
	} {
		_, name, own := pipe(t)
		if f, err := dial(name, own); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, %v", text, f, err)
		}
	}
}

func TestB11_AClientThatIsAnotherProcessIsThrownOutAndCounted(t *testing.T) {
	l, name, own := pipe(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	accepted := accepting(ctx, l, os.Getpid()+4)
	for range 2 {
		f, err := system.DialPipe(ctx, name, uint32(os.Getpid()), own)
		if err != nil {
			continue // it was thrown out while it looked whose the pipe is
		}
		if n, err := f.Read(make([]byte, 1)); err == nil {
			t.Errorf("it was served %d bytes", n)
		}
		_ = f.Close()
	}
	cancel(errTestOver)
	if err := <-accepted; !errors.Is(err, errTestOver) || !strings.Contains(err.Error(), "2 times") {
		t.Errorf("accept: %v", err)
	}
}
