package helper_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"image"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
)

// freezing is a connection of a process that stands still: it takes nothing more.
type freezing struct {
	net.Conn
	once   sync.Once
	frozen chan struct{}
}

func (c *freezing) freeze() { c.once.Do(func() { close(c.frozen) }) }

func (c *freezing) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.frozen: // what came is not looked at until long after the other end has given up
		time.Sleep(time.Hour)
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

// thin is a connection that brings so many bytes a second.
type thin struct {
	net.Conn
	perSecond int
}

func (c *thin) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(c.perSecond))
	return c.Conn.Write(p)
}

func screen(size image.Point) driver.Picture {
	m := image.NewRGBA(image.Rectangle{Max: size}.Sub(image.Pt(size.X/2, 100)))
	tile := make([]byte, 1<<16+7) // so that no part of the picture is like another
	_, _ = rand.Read(tile)
	for at := 0; at < len(m.Pix); {
		at += copy(m.Pix[at:], tile)
	}
	return driver.Picture{Image: m, Taken: time.Now(), Method: driver.MethodScreen}
}

// same says whether two pictures are the same to the byte.
func same(a, b driver.Picture) bool {
	return a.Image != nil && b.Image != nil && a.Image.Rect == b.Image.Rect && bytes.Equal(a.Image.Pix, b.Image.Pix)
}

func TestAPictureOfALargeDesktopArrives(t *testing.T) {
	want := screen(image.Pt(5120, 2880))
	d := newDesktop(t)
	near, far := tcp(t)
	begin(t, near, far, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{picture: want})})
	must(t, d.Connect(t.Context(), near, secret))
	for name, take := range map[string]func() (driver.Picture, error){
		"desktop": func() (driver.Picture, error) { return d.Capture(t.Context()) },
		"window":  func() (driver.Picture, error) { return d.CaptureWindow(t.Context(), "w\xff") },
	} {
		if got, err := take(); err != nil || !same(got, want) {
			t.Errorf("%s: %v; the same: %v", name, err, same(got, want))
		}
	}
}

// While a picture of 16 MB comes over a line on which it takes four seconds, the state is
// known and a gesture is done and stopped at once, and they do not harm the picture.
func TestB18_NothingWaitsBehindAPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := screen(image.Pt(2560, 1600))
		b := &bare{picture: want, state: desktop.State{Kind: desktop.Active}, do: func(ctx context.Context, _ driver.Input) error {
			<-ctx.Done()
			return &driver.InputError{Sent: 1, Err: context.Cause(ctx)}
		}}
		near, far := pipe(t)
		d := newDesktop(t)
		begin(t, near, &thin{far, 4 << 20}, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(b)})
		must(t, d.Connect(t.Context(), near, secret))
		began := time.Now()
		came := make(chan time.Duration, 1)
		go func() {
			if got, err := d.Capture(t.Context()); err != nil || !same(got, want) {
				t.Errorf("Capture: %v; the same: %v", err, same(got, want))
			}
			came <- time.Since(began)
		}()
		time.Sleep(time.Second)
		for range 5 {
			asked := time.Now()
			if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Active {
				t.Errorf("State = %v, %v", state, err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			done := doing(ctx, d)
			cancel(errChanged)
			wantSent(t, <-done, 1, errChanged)
			if took := time.Since(asked); took > 200*time.Millisecond {
				t.Errorf("a state and a stop took %v beside the picture", took)
			}
		}
		if took := <-came; took < 3*time.Second {
			t.Errorf("the picture took %v: nothing was beside it", took)
		}
	})
}

// A picture that nobody waits for any more is not brought.
func TestAPictureThatIsGivenUpIsNotBrought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pipe(t)
		d := newDesktop(t)
		begin(t, near, &thin{far, 10 << 20}, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{picture: screen(image.Pt(2560, 1600))})})
		must(t, d.Connect(t.Context(), near, secret))
		for range 16 { // more than what fits into all windows
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errChanged)
			if _, err := d.Capture(ctx); err != errChanged { //nolint:errorlint // the cause itself
				t.Errorf("Capture = %v", err)
			}
			cancel()
		}
		began := time.Now()
		if _, err := d.State(t.Context()); err != nil || time.Since(began) > 200*time.Millisecond {
			t.Errorf("State took %v, %v", time.Since(began), err)
		}
	})
}

// raw is the cost of bringing the same bytes over the same kind of connection.
func BenchmarkRawCopy2560x1600(b *testing.B) {
	near, far := tcp(b)
	defer func() { _ = near.Close(); _ = far.Close() }()
	pix := screen(image.Pt(2560, 1600)).Image.Pix
	got := make([]byte, len(pix))
	ask := make(chan struct{})
	defer close(ask)
	go func() {
		for range ask {
			_, _ = far.Write(pix)
		}
	}()
	b.SetBytes(int64(len(pix)))
	for b.Loop() {
		ask <- struct{}{}
		if _, err := io.ReadFull(near, got); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCapture2560x1600(b *testing.B) {
	near, far := tcp(b)
	d := newDesktop(b)
	p := screen(image.Pt(2560, 1600))
	begin(b, near, far, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{picture: p})})
	must(b, d.Connect(b.Context(), near, secret))
	b.SetBytes(int64(len(p.Image.Pix)))
	for b.Loop() {
		if _, err := d.Capture(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// state is the round trip of the smallest call.
func BenchmarkState(b *testing.B) {
	near, far := tcp(b)
	d := newDesktop(b)
	begin(b, near, far, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{})})
	must(b, d.Connect(b.Context(), near, secret))
	for b.Loop() {
		if _, err := d.State(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
