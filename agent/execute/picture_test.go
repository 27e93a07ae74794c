package execute_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	xdraw "golang.org/x/image/draw"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

// on is a click at a pixel of a picture.
func on(p *work.Picture, x, y int) work.Action {
	return work.Action{Do: work.Click{Count: 1}, Target: &work.Target{OnPicture: &work.PicturePoint{
		X: x, Y: y, Origin: p.Origin, Scale: p.Scale, Geometry: p.Geometry,
	}}}
}

// B03: each picture says where and how large it was taken, so that a place on it means
// one place of the desktop, also when it was shrunk, and none when the monitors changed.
func TestB03_APlaceOnAPictureMeansThatPlaceOfTheDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		noise(s.picture)
		kept := &shelf{kept: map[string][]byte{}}
		e := execute.New(execute.Config{Driver: s, Anchors: kept, Evidence: kept})
		job := func(a work.Action, most int64) work.Outcome {
			settings := work.Settings{}.WithDefaults()
			settings.MaxPicture = most
			return e.Execute(t.Context(), work.Job{
				Dispatch: work.Dispatch{Ref: work.Ref{ActionID: "a"}, Action: a}, Settings: settings,
				Begin: func() error { return nil }, Doing: func(string) {},
			})
		}
		whole := job(work.Action{Do: work.Screenshot{}}, 1<<20).After
		if whole.Scale != 1 || whole.Width != 600 || whole.Height != 300 || whole.Origin != (work.Position{X: -200}) || whole.Monitor != nil {
			t.Errorf("the picture is %+v", whole)
		}
		shrunk := job(work.Action{Do: work.Screenshot{}}, 200_000).After
		img := decode(t, kept.kept[shrunk.SHA256])
		if shrunk.Scale != 2 || shrunk.Width != 300 || img.Bounds().Dx() != 300 || len(kept.kept[shrunk.SHA256]) > 200_000 {
			t.Errorf("the shrunk picture is %+v, %v, %d bytes", shrunk, img.Bounds(), len(kept.kept[shrunk.SHA256]))
		}
		for _, c := range []struct {
			picture *work.Picture
			x, y    int
			want    image.Point
		}{
			{whole, 0, 0, image.Pt(-200, 0)}, {whole, 250, 100, image.Pt(50, 100)}, {whole, 599, 299, image.Pt(399, 299)},
			{shrunk, 0, 0, image.Pt(-199, 1)}, {shrunk, 150, 50, image.Pt(101, 101)}, {shrunk, 299, 149, image.Pt(399, 299)},
		} {
			s.inputs = nil
			o := job(on(c.picture, c.x, c.y), 1<<20)
			if !o.Success() || len(s.inputs) != 1 || s.inputs[0].(driver.Click).At != c.want || o.Method != "picture_point" {
				t.Errorf("pixel %d, %d at scale %v: %s %s, %v, want %v", c.x, c.y, c.picture.Scale, verdict(o), o.Message, s.inputs, c.want)
			}
		}
		for _, far := range []*work.Picture{
			whole, {Origin: whole.Origin, Scale: 64, Geometry: whole.Geometry},
			{Origin: work.Position{X: math.MinInt32 + 50}, Scale: 64, Geometry: whole.Geometry}, // in 32 bits the sum is a place on the screen
		} {
			for _, x := range []int{600, 1 << 26, math.MaxInt32} {
				s.inputs = nil
				if o := job(on(far, x, 1), 1<<20); o.Code != work.TargetOffScreen || len(s.inputs) != 0 {
					t.Errorf("pixel %d at scale %v: %s %s, %v", x, far.Scale, verdict(o), o.Message, s.inputs)
				}
			}
		}
		s.inputs = nil
		s.monitors = []driver.Monitor{{Index: 0, Bounds: image.Rect(0, 0, 400, 300), Primary: true, Scale: 1.5}}
		o := job(on(whole, 250, 100), 1<<20)
		if o.Code != work.TargetOffScreen || o.Completion != work.NotStarted || len(s.inputs) != 0 || !strings.Contains(o.Message, "monitors have changed") {
			t.Errorf("on other monitors: %s %s, %v", verdict(o), o.Message, s.inputs)
		}
	})
}

// noise is a picture that no packing makes small.
func noise(img *image.RGBA) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.IntN(256)) | 0x01
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
}

func TestAScreenshotOfAWindowShowsThatWindowAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(150, 150))
		kept := &shelf{kept: map[string][]byte{}}
		shoot := func(title string, masks ...work.Mask) work.Outcome {
			return performWith(t.Context(), s, kept, work.Action{
				Do: work.Screenshot{Window: &work.WindowSelector{Title: title}}, Masks: masks,
			}, nil)
		}
		o := shoot("Editor")
		p := o.After
		if !o.Success() || p.Origin != (work.Position{X: 100, Y: 100}) || p.Width != 200 || p.Height != 100 || p.Method != driver.MethodWindow || p.Monitor == nil || *p.Monitor != 0 {
			t.Fatalf("%s %s %+v", verdict(o), o.Message, p)
		}
		// A mask of the left third of the monitor covers what of it lies in the window.
		masked := decode(t, kept.kept[shoot("Editor", work.Mask{Width: 1.0 / 3, Height: 1}).After.SHA256])
		hidden(t, masked, image.Pt(100, 100), image.Rect(100, 100, 133, 200))
		if r, _, _, _ := masked.At(100, 10).RGBA(); r == 0 {
			t.Error("what no mask covers is black")
		}
		if o := shoot("Nowhere"); o.Code != work.TargetNotFound || o.After != nil {
			t.Errorf("a window that is not there: %s", verdict(o))
		}
		s.forbidden = fmt.Errorf("%w: the machine's owner forbids it", driver.ErrBlocked)
		if o := shoot("Editor"); o.Code != work.InputBlocked || o.After != nil || !strings.Contains(o.Message, "owner") {
			t.Errorf("a window that is kept from pictures: %s %s", verdict(o), o.Message)
		}
	})
}

// What changes elsewhere, or by itself, is no effect of the action; what its program
// shows anywhere is, and a window that comes or goes.
func TestTheEffectIsLookedForWhereTheInputGoes(t *testing.T) {
	clock := work.Mask{Left: 0.25, Top: 1.0 / 3, Width: 0.2, Height: 0.2} // 100,100 to 180,160
	box := func(at image.Point) func(*screen, int) error {
		return func(s *screen, _ int) error {
			img := image.NewRGBA(image.Rect(0, 0, 60, 40))
			draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{200, 0, 0, 255}), image.Point{}, draw.Src)
			s.put(img, at)
			return nil
		}
	}
	toolbar := driver.Window{ID: "3", Title: "Tools", Bounds: image.Rect(0, 250, 100, 300), Process: "editor.exe"}
	click := work.Action{Do: work.Click{Count: 1}, Target: &work.Target{Point: &work.Point{X: 0.1, Y: 0.9}}, Effect: work.ExpectChange} // into the toolbar
	keys := work.Action{Do: press, Effect: work.ExpectChange}
	for name, c := range map[string]struct {
		action work.Action
		input  func(*screen, int) error
		want   work.Effect
	}{
		"in the window in front":             {keys, box(image.Pt(200, 150)), work.Seen},
		"elsewhere":                          {keys, box(image.Pt(320, 10)), work.NoneSeen},
		"what changes by itself":             {keys, box(image.Pt(110, 110)), work.NoneSeen},
		"under the pointer":                  {click, box(image.Pt(10, 255)), work.Seen},
		"in another window of its program":   {click, box(image.Pt(200, 150)), work.Seen},
		"in the window of another program":   {click, box(image.Pt(355, 255)), work.NoneSeen},
		"a window that comes to the front":   {keys, func(s *screen, _ int) error { s.pop(update); return nil }, work.Seen},
		"the window in front goes":           {keys, func(s *screen, _ int) error { s.shut("1"); return nil }, work.Seen},
		"a title somewhere that has a clock": {keys, func(s *screen, _ int) error { s.windows[2].Title = "12:01"; return nil }, work.NoneSeen},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.windows = append(s.windows, toolbar)
			s.onInput = c.input
			e := execute.New(execute.Config{Driver: s, Restless: []work.Mask{clock}})
			o := e.Execute(t.Context(), work.Job{
				Dispatch: work.Dispatch{Action: c.action}, Settings: work.Settings{}.WithDefaults(),
				Begin: func() error { return nil }, Doing: func(string) {},
			})
			if !o.Success() || o.Effect != c.want {
				t.Errorf("%s: %s, want %s", name, verdict(o), c.want)
			}
		})
	}
}

// An anchor says at which scaling it was cut; on a monitor of another one it is looked
// for in the size that it has there.
func TestAnAnchorIsFoundOnAMonitorOfAnotherScaling(t *testing.T) {
	for recorded, want := range map[float64]work.Code{0: work.TargetNotFound, 1: "", 2: work.TargetNotFound} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			for i := range s.monitors {
				s.monitors[i].Scale = 1.5
			}
			s.put(enlarged(icon(), 36), image.Pt(150, 120))
			o := performWith(t.Context(), s, &shelf{}, work.Action{
				Do: work.Click{Count: 1}, Target: &work.Target{Anchor: &work.Anchor{SHA256: "icon", RecordedScale: recorded, MinScore: 0.9}},
			}, nil)
			if o.Code != want {
				t.Errorf("recorded at %v: %s %s", recorded, verdict(o), o.Message)
			}
			if want == "" && s.inputs[0].(driver.Click).At != image.Pt(168, 138) {
				t.Errorf("clicked at %v", s.inputs)
			}
		})
	}
}

// enlarged is a picture in another size.
func enlarged(from image.Image, size int) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, size, size))
	xdraw.CatmullRom.Scale(to, to.Rect, from, from.Bounds(), xdraw.Src, nil)
	return to
}
