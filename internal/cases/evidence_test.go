package cases

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// picture awaits a picture on the server.
func (w *world) picture(ref *reprisev1.EvidenceRef) image.Image {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	for {
		missing, err := w.evidence.FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: []string{ref.GetSha256()}})
		w.must(err)
		if len(missing.GetSha256()) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	stream, err := w.evidence.Download(ctx, &reprisev1.DownloadRequest{Sha256: ref.GetSha256()})
	w.must(err)
	var data []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		w.must(err)
		data = append(data, m.GetData()...)
	}
	img, err := png.Decode(bytes.NewReader(data))
	w.must(err)
	return img
}

// blackIn wants an area of a picture to be black, and the picture not to be so as a
// whole.
func blackIn(t *testing.T, img image.Image, area image.Rectangle) {
	t.Helper()
	other := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			black := r|g|b == 0
			if image.Pt(x, y).In(area) && !black {
				t.Fatalf("(%d, %d) shows %v", x, y, img.At(x, y))
			}
			if !black {
				other++
			}
		}
	}
	if other == 0 {
		t.Error("the whole picture is black")
	}
}

// What a workflow masks is on no picture that reaches the server: not on those of
// its reports, nor on one that an operator asks for while an action runs.
func TestWhatIsMaskedNeverLeavesTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.desktop.full, w.desktop.shade = true, 100
		held, goOn := w.desktop.holdNext()
		res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{MachineId: machineID, Workflow: &reprisev1.Workflow{
			Name: "masked", Masks: []*reprisev1.Mask{{Left: 0.25, Top: 0.5, Width: 0.25, Height: 0.25}},
			Actions: []*reprisev1.Action{{
				Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(1), Y: 0.5}},
			}},
		}})
		w.must(err)
		area := image.Rect(320, 400, 640, 600)
		<-held
		captured, err := w.fleet.CaptureScreen(w.ctx, &reprisev1.CaptureScreenRequest{MachineId: machineID})
		w.must(err)
		if captured.GetPicture().GetMasks() != 1 {
			t.Errorf("the capture says %v", captured.GetPicture())
		}
		blackIn(t, w.picture(captured.GetPicture()), area)
		goOn()
		r := w.completed(res.GetReplay().GetReplayId())
		rep := r.GetActions()[0].GetReport()
		if rep.GetEffect() != reprisev1.Effect_EFFECT_SEEN {
			t.Errorf("masks have hidden the effect: %v", rep.GetEffect())
		}
		for _, ref := range []*reprisev1.EvidenceRef{rep.GetScreenshotBefore(), rep.GetScreenshotAfter()} {
			if ref.GetMasks() != 1 {
				t.Errorf("the report says %v", ref)
			}
			blackIn(t, w.picture(ref), area)
		}
	})
}

// A large picture whose uploads are cut again and again arrives all the same, each
// try going on where the one before ended, and no report waits for it.
func TestAPictureWhoseUploadIsCutArrivesAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.desktop.noise = true
		w.relay.cutUploads(3)
		r := w.completed(w.create(1))
		w.picture(r.GetActions()[0].GetReport().GetScreenshotAfter())
		further := 0
		for _, at := range w.relay.begun() {
			if at > 0 {
				further++
			}
		}
		if further == 0 {
			t.Errorf("the uploads began at %v: none went on", w.relay.begun())
		}
	})
}

// noisy fills a picture with what cannot be packed: its PNG has several chunks.
func noisy(img *image.RGBA, seed uint8) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			v := random.Uint32()
			img.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 255})
		}
	}
}
