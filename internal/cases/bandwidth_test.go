package cases

import (
	"context"
	"image"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// slowConn is a link that passes so many bytes a second, each way.
type slowConn struct {
	net.Conn
	rate int
}

func (c slowConn) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(c.rate))
	return c.Conn.Write(p)
}

func (c slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	time.Sleep(time.Duration(n) * time.Second / time.Duration(c.rate))
	return n, err
}

// over makes the agent's connections pass rate bytes a second.
func over(rate int) func(*setup) {
	return func(with *setup) {
		before := with.agent
		with.agent = func(c *agent.Config) {
			if before != nil {
				before(c)
			}
			dial := c.Dial
			c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
				conn, err := dial(ctx, address)
				return slowConn{conn, rate}, err
			}
		}
	}
}

func TestCase_v_APauseAndAReportAreNotBehindALargePicture(t *testing.T) {
	const megabyte, bound = 1 << 20, 250 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var shown screenOfPauses
		w := newWorld(t, watched(&shown), over(megabyte))
		img := image.NewRGBA(image.Rect(0, 0, 1750, 1600))
		noisy(img, 7)
		w.desktop.freezeOn(img)
		w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
			if m.GetReport() != nil {
				w.desktop.freezeOn(nil) // one large picture is enough
			}
			return pass
		})
		held, goOn := w.desktop.holdNext()
		id := w.createWith(&reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}, clickAt(1), clickAt(2))
		<-held
		time.Sleep(time.Second) // the upload is on its way
		time.AfterFunc(50*time.Millisecond, goOn)
		start := time.Now()
		w.pause(id)
		time.Sleep(time.Second)
		w.stillUploading()
		if n, _ := shown.counts(); n != 1 {
			t.Fatalf("the pause was shown %d times within a second", n)
		}
		if took := shown.at[0].Sub(start); took > bound {
			t.Errorf("the pause took %v", took)
		}
		reported := seen(w.relay, func(m message) (time.Time, bool) { return m.at, m.up.GetReport() != nil })
		if len(reported) != 2 {
			t.Fatalf("%d reports have arrived, want that of the click too", len(reported))
		}
		if took := reported[1].Sub(start) - 50*time.Millisecond; took > bound {
			t.Errorf("the report took %v", took)
		}
		w.uploaded()
		if took := time.Since(reported[0]); took < 8*time.Second {
			t.Errorf("the picture took %v: it was none of 8 MB over 1 MB/s", took)
		}
		if n := len(w.welcomes()); n != 1 {
			t.Errorf("%d streams: a ping was behind the picture", n)
		}
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

// received asks how far the first report's picture has arrived.
func (w *world) received() (bytes int64, all bool) {
	w.t.Helper()
	digest := w.relay.reports()[0].GetScreenshotAfter().GetSha256()
	res, err := w.evidence.FindMissing(w.ctx, &reprisev1.FindMissingRequest{Sha256: []string{digest}})
	w.must(err)
	return res.GetReceivedBytes()[digest], len(res.GetSha256()) == 0
}

// stillUploading wants that a part of the first report's picture has arrived, and
// not all of it.
func (w *world) stillUploading() {
	w.t.Helper()
	if got, all := w.received(); all || got == 0 {
		w.t.Errorf("%d bytes of the picture have arrived, all %v: nothing was in the pause's way", got, all)
	}
}

// uploaded waits until the first report's picture is there.
func (w *world) uploaded() {
	w.t.Helper()
	for range 60 {
		if _, all := w.received(); all {
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Error("the picture has not arrived within a minute")
}
