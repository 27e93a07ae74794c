package agent_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buf.build/go/protovalidate"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/desktop"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// brought returns the digests of the next n pictures that the server stores, within
// a minute.
func (w *world) brought(n int) map[string]bool {
	w.t.Helper()
	late := time.After(time.Minute)
	got := map[string]bool{}
	for range n {
		select {
		case sha256 := <-w.server.Stored():
			got[sha256] = true
		case <-late:
			w.t.Fatalf("%d of %d pictures were brought", len(got), n)
		}
	}
	return got
}

// stored is a picture as the server has it.
func (w *world) stored(ref *reprisev1.EvidenceRef) image.Image {
	w.t.Helper()
	img, err := png.Decode(bytes.NewReader(w.server.Picture(ref.GetSha256())))
	w.must(err)
	return img
}

func (w *world) capture(c *agenttest.Conn, m *reprisev1.Capture) *reprisev1.CaptureResult {
	w.t.Helper()
	w.must(c.Capture(m))
	r, err := c.CaptureResult(w.t.Context())
	w.must(err)
	if err := protovalidate.Validate(r); err != nil {
		w.t.Errorf("the answer breaks the schema's rules: %v", err)
	}
	if r.GetCaptureId() != m.GetCaptureId() || (r.GetPicture() == nil) == (r.GetError() == nil) {
		w.t.Errorf("answered %v", r)
	}
	return r
}

func TestACaptureIsAnsweredWhileAnActionRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		if got := c.Hello.GetCapabilities(); len(got) != 1 || got[0] != "capture" {
			t.Errorf("capabilities %v", got)
		}
		began, goOn := make(chan struct{}), make(chan struct{})
		w.screen.hookState(func() {
			w.screen.hookState(nil)
			close(began)
			<-goOn
		})
		w.must(c.Dispatch(click("a", "a1")))
		<-began
		answer := w.capture(c, &reprisev1.Capture{CaptureId: "c"})
		if got := w.brought(1); !got[answer.GetPicture().GetSha256()] || w.screen.count() != 0 {
			t.Errorf("stored %v, answered %v, %d inputs", got, answer, w.screen.count())
		}
		close(goOn)
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("the action: %v", r)
		}
	})
}

func TestACaptureThatCanNotBeTakenIsAnsweredWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.must(c.Capture(&reprisev1.Capture{})) // it can't be answered
		w.screen.become(desktop.Locked)
		for want, m := range map[reprisev1.ErrorCode]*reprisev1.Capture{
			reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE: {CaptureId: "c"},
			reprisev1.ErrorCode_ERROR_CODE_INVALID_ACTION:      {CaptureId: "d", Masks: []*reprisev1.Mask{{Width: 2}}},
		} {
			if got := w.capture(c, m).GetError(); got.GetCode() != want || got.GetMessage() == "" {
				t.Errorf("answered %v, want %v", got, want)
			}
		}
	})
}

func TestCapturesAreTakenOneAtATimeAndTooManyAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		goOn := make(chan struct{})
		w.start(nil)
		c := w.open()
		synctest.Wait()
		w.screen.hookState(func() { <-goOn })
		const n = 9
		for i := range n {
			w.must(c.Capture(&reprisev1.Capture{CaptureId: string(rune('a' + i))}))
		}
		synctest.Wait()
		w.screen.hookState(nil)
		close(goOn)
		taken, refused := 0, 0
		for range n {
			r, err := c.CaptureResult(t.Context())
			w.must(err)
			switch {
			case r.GetPicture() != nil:
				taken++
			case r.GetError().GetCode() == reprisev1.ErrorCode_ERROR_CODE_INTERNAL && strings.Contains(r.GetError().GetMessage(), "wait"):
				refused++
			}
		}
		if taken != 5 || refused != 4 {
			t.Errorf("%d taken, %d refused", taken, refused)
		}
	})
}

func TestAPictureOverTheSizeCapLeavesTheReportWithANote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.accept()
		w.must(c.Welcome(&reprisev1.Welcome{SessionId: "s", Settings: &reprisev1.SessionSettings{MaxPictureBytes: 20}}))
		w.must(c.Dispatch(click("a", "a1")))
		r := w.report(c)
		w.must(c.Ack(r))
		answer := w.capture(c, &reprisev1.Capture{CaptureId: "c"})
		for _, ref := range []*reprisev1.EvidenceRef{r.GetScreenshotBefore(), r.GetScreenshotAfter(), answer.GetPicture()} {
			if !r.GetSuccess() || len(ref.GetSha256()) != 64 || !strings.HasPrefix(ref.GetNote(), "too large: ") || !strings.HasSuffix(ref.GetNote(), "at most 20") {
				t.Errorf("%v names %v", r.GetSuccess(), ref)
			}
		}
		synctest.Wait()
		if n := len(w.server.Uploads()); n != 0 {
			t.Errorf("%d uploads", n)
		}
	})
}

// Killed while the server could not be reached, and started again on what lies on
// the disk.
func TestAnAgentThatWasKilledStillBringsItsPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		held, release := w.server.HoldUpload(1)
		w.must(c.Dispatch(click("a", "a1")))
		<-held
		r := w.report(c)
		synctest.Wait()
		killed := w.dir
		w.dir = w.freezeDisk()
		w.must(os.CopyFS(filepath.Join(w.dir, "pictures"), os.DirFS(filepath.Join(killed, "pictures"))))
		w.server.Cut()
		w.stop()
		release()
		synctest.Wait() // the server has seen the end of what it held
		w.start(nil)
		w.open()
		got := w.brought(2)
		if !got[r.GetScreenshotBefore().GetSha256()] || !got[r.GetScreenshotAfter().GetSha256()] {
			t.Errorf("brought %v of %v and %v", got, r.GetScreenshotBefore(), r.GetScreenshotAfter())
		}
	})
}

func TestAFolderThatTakesNoPicturesHoldsUpNoActionAndNoReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.must(os.WriteFile(filepath.Join(w.dir, "pictures"), nil, 0o600))
		w.start(nil)
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v", r)
		}
		w.brought(1) // from memory
	})
}
