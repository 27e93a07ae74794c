package helper

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// counting is a desktop of which only the gestures are of interest.
type counting struct {
	driver.Driver
	done atomic.Int32
}

func (c *counting) Do(context.Context, driver.Input) error { c.done.Add(1); return nil }
func (c *counting) Release(context.Context) error          { return nil }

// rawLine is a line to a helper that has opened nothing yet.
func rawLine(t *testing.T, d driver.Driver) *line {
	t.Helper()
	near, far := net.Pipe()
	var helper sync.WaitGroup
	helper.Go(func() {
		err := Serve(t.Context(), far, ServerConfig{
			Secret: testSecret, Version: "v1", Open: func(context.Context, Settings) (driver.Driver, error) { return d, nil },
		})
		if !errors.Is(err, ErrEnded) && !errors.Is(err, context.Canceled) { // the test may end first
			t.Errorf("Serve = %v", err)
		}
	})
	if err := prove(t.Context(), near, testSecret, proveService); err != nil {
		t.Fatal(err)
	}
	l, err := newLine(t.Context(), near)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close(); helper.Wait() })
	return l
}

func refusedAs(t *testing.T, what string, err error, want codes.Code) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("%s: %v; want %v", what, err, want)
	}
}

func TestNothingIsServedBeforeTheDesktopIsOpened(t *testing.T) {
	l, ctx := rawLine(t, &counting{}), t.Context()
	for name, call := range map[string]func() error{
		"Do": func() error {
			stream, err := l.client.Do(ctx)
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"Capture": func() error {
			stream, err := l.client.Capture(ctx, &helperv1.CaptureRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"Attend": func() error {
			stream, err := l.client.Attend(ctx, &helperv1.AttendRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"Release":   func() error { _, err := l.client.Release(ctx, &helperv1.ReleaseRequest{}); return err },
		"State":     func() error { _, err := l.client.State(ctx, &helperv1.StateRequest{}); return err },
		"Monitors":  func() error { _, err := l.client.Monitors(ctx, &helperv1.MonitorsRequest{}); return err },
		"Windows":   func() error { _, err := l.client.Windows(ctx, &helperv1.WindowsRequest{}); return err },
		"Elements":  func() error { _, err := l.client.Elements(ctx, &helperv1.ElementsRequest{}); return err },
		"Hold":      func() error { _, err := l.client.Hold(ctx, &helperv1.HoldRequest{}); return err },
		"GoOn":      func() error { _, err := l.client.GoOn(ctx, &helperv1.GoOnRequest{}); return err },
		"ShowPause": func() error { _, err := l.client.ShowPause(ctx, &helperv1.ShowPauseRequest{}); return err },
		"HidePause": func() error { _, err := l.client.HidePause(ctx, &helperv1.HidePauseRequest{}); return err },
		"Announce":  func() error { _, err := l.client.Announce(ctx, &helperv1.AnnounceRequest{}); return err },
	} {
		refusedAs(t, name, call(), codes.FailedPrecondition)
	}
	if err := l.open(ctx, "v1", Settings{}); err != nil {
		t.Fatal(err)
	}
	_, err := l.client.Open(ctx, &helperv1.OpenRequest{Version: "v1"})
	refusedAs(t, "Open again", err, codes.FailedPrecondition)
}

// A gesture that comes twice, by whatever fault, is done once; and a call without one is
// none.
func TestAGestureThatComesTwiceIsDoneOnce(t *testing.T) {
	d := &counting{}
	l := rawLine(t, d)
	if err := l.open(t.Context(), "v1", Settings{}); err != nil {
		t.Fatal(err)
	}
	ask := func(req *helperv1.DoRequest) (*helperv1.DoResponse, error) {
		ctx, done := context.WithCancel(t.Context())
		defer done()
		stream, err := l.client.Do(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(req); err != nil {
			t.Fatal(err)
		}
		return stream.Recv()
	}
	gesture, err := encodeGesture(5, driver.Type{Text: "text"})
	if err != nil {
		t.Fatal(err)
	}
	for i, number := range []uint64{5, 5, 4, 6} {
		gesture.Number = number
		got, err := ask(&helperv1.DoRequest{Request: &helperv1.DoRequest_Gesture{Gesture: gesture}})
		if err != nil {
			t.Fatal(err)
		}
		fault := decodeFault(t.Context(), got.GetFault())
		if again := i == 1 || i == 2; (fault != nil) != again || driver.NothingSent(fault) {
			t.Errorf("gesture %d: %v", number, fault)
		}
	}
	if n := d.done.Load(); n != 2 {
		t.Errorf("%d gestures were done, of two", n)
	}
	_, err = ask(&helperv1.DoRequest{Request: &helperv1.DoRequest_Stop{Stop: &helperv1.Stop{}}})
	refusedAs(t, "a stop of nothing", err, codes.InvalidArgument)
}

// What is too long for a message is refused before it leaves.
func TestATextThatIsTooLongIsRefusedWithNothingSent(t *testing.T) {
	d := &counting{}
	l := rawLine(t, d)
	if err := l.open(t.Context(), "v1", Settings{}); err != nil {
		t.Fatal(err)
	}
	err := l.do(t.Context(), driver.Paste{Text: string(make([]byte, maxMessage))})
	if !driver.NothingSent(err) {
		t.Errorf("do = %v", err)
	}
	if err := l.do(t.Context(), driver.Paste{Text: string(make([]byte, maxMessage/2))}); err != nil || d.done.Load() != 1 {
		t.Errorf("do = %v, done %d times", err, d.done.Load())
	}
}
