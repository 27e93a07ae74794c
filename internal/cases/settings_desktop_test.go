package cases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"time"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

var desktopEffects = []effect{
	{
		setting: "min-score-template", other: "0.8", with: []string{"--max-retries=0"},
		play: func(s *scenario) any {
			looks := noisyPicture(200, 120, 1, 0)
			w := s.worldOn(func(d *countingDesktop) driver.Driver { return &still{d, looks} })
			anchor := noisyPicture(200, 120, 1, 40).SubImage(image.Rect(40, 40, 104, 80))
			id := w.createWith(&reprisev1.Action{
				Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
				Target: &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: w.store(anchor)}},
			})
			return w.ended(id)
		},
		byDef: "TARGET_NOT_FOUND", changed: "COMPLETED",
	},
	{
		setting: "effect-timeout", other: "4s",
		play: func(s *scenario) any {
			w := s.worldOn(func(d *countingDesktop) driver.Driver { return &slow{countingDesktop: d, by: 3 * time.Second} })
			w.completed(w.create(1))
			return w.relay.reports()[0].GetEffect()
		},
		byDef: "EFFECT_NONE_SEEN", changed: "EFFECT_SEEN",
	},
	{
		setting: "resolve-timeout", other: "12s", with: []string{"--max-retries=0"},
		play: func(s *scenario) any {
			w := s.world()
			w.await(w.createWith(nowhere()), paused)
			return took(w.relay.reports()[0])
		},
		byDef: "30s", changed: "12s",
	},
	{
		setting: "swallowed-input-actions", other: "2",
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.swallow = true
			r := w.await(w.create(4), paused)
			return fmt.Sprintf("%s after %d actions", reasonOf(r), len(w.relay.dispatches()))
		},
		byDef: "INPUT_SWALLOWED after 3 actions", changed: "INPUT_SWALLOWED after 2 actions",
	},
	{
		setting: "min-display", agent: func(c *agent.Config) { c.MinDisplay = screen.Size().Add(image.Pt(1, 0)) },
		play: func(s *scenario) any {
			w := s.world()
			id := w.create(1)
			time.Sleep(time.Minute)
			return fmt.Sprintf("%s, %d clicks", w.get(id).GetState(), len(w.desktop.clicks()))
		},
		byDef: "REPLAY_STATE_COMPLETED, 1 clicks", changed: "REPLAY_STATE_QUEUED, 0 clicks",
	},
	{
		setting: "masks", agent: func(c *agent.Config) { c.Masks = []work.Mask{{Width: 0.5, Height: 0.5}} },
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.full, w.desktop.shade = true, 100
			w.opened(1)
			res, err := w.fleet.CaptureScreen(w.ctx, &reprisev1.CaptureScreenRequest{MachineId: machineID})
			w.must(err)
			shown := w.picture(res.GetPicture())
			at := func(x, y int) string {
				if r, _, _, _ := shown.At(x, y).RGBA(); r == 0 {
					return "black"
				}
				return "shown"
			}
			return at(100, 100) + " inside, " + at(screen.Dx()-100, screen.Dy()-100) + " outside"
		},
		byDef: "shown inside, shown outside", changed: "black inside, shown outside",
	},
}

// worldOn is a world whose agent drives what is made of the counting desktop.
func (s *scenario) worldOn(wrap func(*countingDesktop) driver.Driver) *world {
	s.Helper()
	return newWorld(s.T, s.change, func(with *setup) {
		before := with.agent
		with.agent = func(c *agent.Config) {
			c.Driver = wrap(c.Driver.(*countingDesktop))
			if before != nil {
				before(c)
			}
		}
	})
}

// still is a desktop that looks the same whatever is done to it.
type still struct {
	*countingDesktop
	looks *image.RGBA
}

// Capture implements driver.Eyes.
func (d *still) Capture(context.Context) (driver.Picture, error) {
	return driver.Picture{Image: d.looks, Taken: time.Now(), Method: "screen"}, nil
}

// slow is a desktop that shows what was done to it later.
type slow struct {
	*countingDesktop
	by   time.Duration
	done []time.Time // when each input was done; one goroutine drives the desktop
}

// Do implements driver.Hands.
func (d *slow) Do(ctx context.Context, in driver.Input) error {
	err := d.countingDesktop.Do(ctx, in)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, time.Now())
	return err
}

// Capture implements driver.Eyes.
func (d *slow) Capture(context.Context) (driver.Picture, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var shown uint64
	for _, at := range d.done {
		if time.Since(at) >= d.by {
			shown++
		}
	}
	return driver.Picture{Image: noisyPicture(64, 40, shown, 0), Taken: time.Now(), Method: "screen"}, nil
}

// noisyPicture is a picture that looks like no other with another seed. Each of its
// values is off by up to spread.
func noisyPicture(width, height int, seed uint64, spread int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	looks, off := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
	for i := range img.Pix {
		v := 60 + looks.IntN(136)
		if spread > 0 {
			v += off.IntN(2*spread+1) - spread
		}
		img.Pix[i] = uint8(v)
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

// store brings a picture to the server and returns its digest.
func (w *world) store(img image.Image) string {
	w.t.Helper()
	own := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(own, own.Rect, img, img.Bounds().Min, draw.Src)
	var b bytes.Buffer
	w.must(png.Encode(&b, own))
	sum := sha256.Sum256(b.Bytes())
	digest := hex.EncodeToString(sum[:])
	upload, err := w.evidence.Upload(w.ctx)
	w.must(err)
	w.must(upload.Send(&reprisev1.UploadRequest{Sha256: digest, Data: b.Bytes()}))
	_, err = upload.CloseAndRecv()
	w.must(err)
	return digest
}

// ended waits until a replay is over or paused, and says which, or why.
func (w *world) ended(id string) string {
	w.t.Helper()
	for {
		r := w.get(id)
		switch r.GetState() {
		case paused:
			return reasonOf(r)
		case reprisev1.ReplayState_REPLAY_STATE_COMPLETED:
			return "COMPLETED"
		}
		time.Sleep(time.Second)
	}
}
