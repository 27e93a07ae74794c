package agent_test

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// blackIn counts the black pixels in an area.
func blackIn(img image.Image, area image.Rectangle) int {
	n := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == (color.RGBA{A: 255}) {
				n++
			}
		}
	}
	return n
}

// The masks of the machine, of the workflow and of the request; the screen is
// 64×48 and has no black pixel in its upper half.
func TestNoPictureThatReachesTheServerShowsWhatIsMasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(func(cfg *agent.Config) { cfg.Masks = []work.Mask{{Width: 0.25, Height: 0.25}} })
		c := w.open()
		own, asked := image.Rect(0, 0, 16, 12), image.Rect(48, 0, 64, 12)
		masks := []*reprisev1.Mask{{Left: 0.75, Width: 0.25, Height: 0.25}}
		d := click("a", "a1")
		d.Masks = masks
		w.must(c.Dispatch(d))
		r := w.report(c)
		answer := w.capture(c, &reprisev1.Capture{CaptureId: "c", Masks: []*reprisev1.Mask{{Left: 0.75, Width: 0.25, Height: 0.5}}})
		w.brought(3)
		for i, ref := range []*reprisev1.EvidenceRef{r.GetScreenshotBefore(), r.GetScreenshotAfter(), answer.GetPicture()} {
			img, count := w.stored(ref), []int32{2, 2, 3}[i] // what is asked for is larger than the workflow's
			if blackIn(img, own) != own.Dx()*own.Dy() || blackIn(img, asked) != asked.Dx()*asked.Dy() || ref.GetMasks() != count {
				t.Errorf("%d masks; what they cover shows", ref.GetMasks())
			}
			if n := blackIn(img, image.Rect(17, 0, 47, 24)); n > 1 { // the screen before has one at its origin alone
				t.Errorf("%d pixels between the masks are black", n)
			}
		}
	})
}

// The server asked before a replay with masks got the machine, and the frame is
// taken after an action of it, be it one that sends input or not; more pictures than
// one wait meanwhile.
func TestACaptureIsMaskedForWhatCameBetweenTheAskingAndTheFrame(t *testing.T) {
	for _, d := range []*reprisev1.Dispatch{click("a", "a1"), wait("a", "a1")} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.close()
			w.start(nil)
			c := w.open()
			synctest.Wait()
			asked, goOn := make(chan struct{}), make(chan struct{})
			w.screen.hookState(func() {
				w.screen.hookState(nil)
				close(asked)
				<-goOn
			})
			for _, id := range []string{"c", "d", "e"} {
				w.must(c.Capture(&reprisev1.Capture{CaptureId: id}))
			}
			<-asked
			w.must(c.Dispatch(hiding(d)))
			w.must(c.Ack(w.report(c)))
			synctest.Wait()
			close(goOn)
			for range 3 {
				answer, err := c.CaptureResult(t.Context())
				w.must(err)
				w.hides(answer.GetPicture())
			}
		})
	}
}

// wait is an action that sends no input.
func wait(id, attempt string) *reprisev1.Dispatch {
	d := click(id, attempt)
	d.Action.Kind = &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(100 * time.Millisecond)}}
	return d
}

// hidden is the area that a dispatch hides, and hiding makes it do so.
var hidden = image.Rect(16, 0, 48, 12)

func hiding(d *reprisev1.Dispatch) *reprisev1.Dispatch {
	d.Masks = []*reprisev1.Mask{{Left: 0.25, Width: 0.5, Height: 0.25}}
	return d
}

// hides fails unless the picture, once it is brought, hides that area and no more.
func (w *world) hides(ref *reprisev1.EvidenceRef) {
	w.t.Helper()
	w.awaitPicture(ref)
	img := w.stored(ref)
	if n := blackIn(img, hidden); n != hidden.Dx()*hidden.Dy() || ref.GetMasks() != 1 {
		w.t.Errorf("%d masks, %d pixels of %v are black", ref.GetMasks(), n, hidden)
	}
	if n := blackIn(img, image.Rect(1, 12, 64, 24)); n != 0 {
		w.t.Errorf("%d pixels that no mask covers are black", n)
	}
}

// awaitPicture returns when the server has the picture.
func (w *world) awaitPicture(ref *reprisev1.EvidenceRef) {
	w.t.Helper()
	for w.server.Picture(ref.GetSha256()) == nil {
		w.brought(1)
	}
}

// A replay has masks and ends; its windows may still be on the screen.
func TestTheMasksOfAReplayThatHasEndedHoldUntilAnotherHasDoneSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		do := func(d *reprisev1.Dispatch) *reprisev1.Report {
			w.must(c.Dispatch(d))
			r := w.report(c)
			w.must(c.Ack(r))
			return r
		}
		of := func(replay string, d *reprisev1.Dispatch) *reprisev1.Dispatch { d.ReplayId = replay; return d }
		capture := func() *reprisev1.EvidenceRef { return w.capture(c, &reprisev1.Capture{CaptureId: "c"}).GetPicture() }
		do(of("one", hiding(click("a", "a1"))))
		w.hides(capture())
		do(of("two", wait("b", "b1"))) // puts nothing on the screen
		w.hides(capture())
		first := do(of("two", click("c", "c1")))
		w.hides(first.GetScreenshotBefore())
		w.hides(first.GetScreenshotAfter())
		second := do(of("two", click("d", "d1")))
		for _, ref := range []*reprisev1.EvidenceRef{second.GetScreenshotBefore(), second.GetScreenshotAfter(), capture()} {
			if ref.GetMasks() != 0 {
				t.Errorf("%d masks of a replay that is long over", ref.GetMasks())
			}
		}
	})
}

// Killed while an action with masks runs, or stopped after it, and nobody goes on
// with the replay.
func TestAnAgentThatStartsAgainStillMasksWhatItsLastReplayShows(t *testing.T) {
	for _, killed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.close()
			w.start(nil)
			c := w.open()
			frozen := ""
			w.screen.onInput = func() { frozen = w.freezeDisk() }
			w.must(c.Dispatch(hiding(click("a", "a1"))))
			w.must(c.Ack(w.report(c)))
			w.stop()
			if killed {
				w.dir = frozen
			}
			w.start(nil)
			c = w.open()
			if left := len(c.Hello.GetUnfinished()); (left == 1) != killed {
				t.Errorf("the next process says %v", c.Hello)
			}
			w.hides(w.capture(c, &reprisev1.Capture{CaptureId: "c"}).GetPicture())
		})
	}
}

// A slip in the number of a monitor blacks every picture out, or makes a clock count as
// an effect: it is told once, when the monitors can be known, and not before.
func TestARectangleOnAMonitorThatIsNotThereIsToldOnce(t *testing.T) {
	for kind, want := range map[desktop.Kind][]string{
		desktop.Locked: nil,
		desktop.Active: {
			`level=WARN msg="a mask is on a monitor that is not there: pictures are black until it is" detail=7:0,0,0.5,1 count=1`,
			`level=WARN msg="a restless rectangle is on a monitor that is not there, and counts for nothing" detail=6:0,0,1,1 count=1`,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			w := newWorld(t)
			defer w.close()
			w.screen.become(kind)
			w.start(func(cfg *agent.Config) {
				cfg.Log = plain(&log)
				cfg.Masks = []work.Mask{{Width: 1, Height: 1}, {Monitor: 7, Width: 0.5, Height: 1}}
				cfg.Restless = []work.Mask{{Monitor: 6, Width: 1, Height: 1}, {Width: 1, Height: 1}}
			})
			w.open()
			pass(time.Minute)
			w.stop()
			var told []string
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "not there") {
					told = append(told, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("%v (-want +got):\n%s", kind, diff)
			}
		})
	}
}
