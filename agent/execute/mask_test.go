package execute_test

import (
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/work"
)

// hidden fails where an area of a kept picture is not black. Pictures begin at 0,0.
func hidden(t *testing.T, picture image.Image, origin image.Point, area image.Rectangle) {
	t.Helper()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if r, g, b, a := picture.At(x-origin.X, y-origin.Y).RGBA(); r|g|b != 0 || a != 0xffff {
				t.Fatalf("the pixel (%d,%d) of %v shows", x, y, area)
			}
		}
	}
}

// The action's effect is seen although it lies under a mask, and no picture of it
// shows what is there.
func TestWhatIsMaskedIsComparedAndNeverKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.windows[0].Bounds = image.Rect(0, 0, 300, 200)
		s.onInput = changes // at 10,10 to 70,70 of monitor 0
		kept := &shelf{kept: map[string][]byte{}}
		masks := []work.Mask{{Width: 0.25, Height: 0.25}, {Monitor: 1, Left: 0.5, Top: 0.5, Width: 0.5, Height: 0.5}}
		outcome := performWith(t.Context(), s, kept, work.Action{Do: work.Combo{Keys: []string{"a"}}, Effect: work.RequireChange, Masks: masks}, nil)
		if !outcome.Success() || outcome.Effect != work.Seen {
			t.Fatalf("%s %s", verdict(outcome), outcome.Message)
		}
		for _, p := range []*work.Picture{outcome.Before, outcome.After} {
			if p.Masks != 2 || p.Note != driver.NoteOneColour && p == outcome.Before {
				t.Errorf("picture %+v", p)
			}
			picture := decode(t, kept.kept[p.SHA256])
			hidden(t, picture, s.picture.Rect.Min, image.Rect(0, 0, 100, 75))
			hidden(t, picture, s.picture.Rect.Min, image.Rect(-100, 100, 0, 200))
			if r, _, _, _ := picture.At(350, 250).RGBA(); r>>8 != 40 {
				t.Errorf("what no mask covers is %d", r>>8)
			}
		}
		if outcome.Before.SHA256 != outcome.After.SHA256 {
			t.Error("what changed under a mask shows in the digest")
		}
	})
}

// The first of two equal screens is remembered; with other masks it is another
// picture.
func TestOtherMasksMakeAnotherPictureOfTheSameScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		kept := &shelf{kept: map[string][]byte{}}
		e := execute.New(execute.Config{Driver: s, Evidence: kept})
		take := func(masks ...work.Mask) *work.Picture {
			return e.Execute(t.Context(), work.Job{
				Dispatch: work.Dispatch{Action: work.Action{Do: work.Screenshot{}, Masks: masks}},
				Settings: work.Settings{}.WithDefaults(), Begin: func() error { return nil }, Doing: func(string) {},
			}).After
		}
		bare := take()
		one := work.Mask{Width: 0.5, Height: 0.5}
		masked := take(one)
		if bare.SHA256 == masked.SHA256 || bare.Masks != 0 || masked.Masks != 1 {
			t.Errorf("bare %+v, masked %+v", bare, masked)
		}
		hidden(t, decode(t, kept.kept[masked.SHA256]), s.picture.Rect.Min, image.Rect(0, 0, 200, 150))
		if again := take(one); again.SHA256 != masked.SHA256 {
			t.Errorf("again %+v", again)
		}
	})
}

func TestAPictureWhoseMonitorsAreInDoubtShowsNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*screen)
		mask   work.Mask
		why    string
	}{
		{"a monitor that is not there", func(*screen) {}, work.Mask{Monitor: 5, Width: 1, Height: 1}, "no monitor 5"},
		{"monitors that change meanwhile", func(s *screen) {
			s.onLook = func(s *screen) {
				s.monitors = slices.Clone(s.monitors)
				s.monitors[1].Bounds = s.monitors[1].Bounds.Add(image.Pt(0, 1))
			}
		}, work.Mask{Width: 1, Height: 1}, "changed while"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.put(icon(), image.Pt(20, 20))
			c.change(s)
			kept := &shelf{kept: map[string][]byte{}}
			outcome := performWith(t.Context(), s, kept, work.Action{Do: work.Screenshot{}, Masks: []work.Mask{c.mask}}, nil)
			if outcome.After == nil || !strings.Contains(outcome.After.Note, c.why) {
				t.Fatalf("%s: %s %+v", c.name, verdict(outcome), outcome.After)
			}
			hidden(t, decode(t, kept.kept[outcome.After.SHA256]), s.picture.Rect.Min, s.picture.Rect)
		})
	}
}

// Whatever the monitors and masks are, no pixel under a mask shows in a picture
// that is kept, whoever asks for it and whoever hides it; and the screen that the
// driver gave is not written to.
func TestNoPictureShowsWhatIsUnderAMask(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen()
		s.monitors, s.picture = nil, nil
		bounds := image.Rectangle{}
		x := rapid.IntRange(-60, 0).Draw(rt, "x")
		for i := range rapid.IntRange(1, 3).Draw(rt, "monitors") {
			at := image.Pt(x, rapid.IntRange(-9, 9).Draw(rt, "y"))
			size := image.Pt(rapid.IntRange(1, 24).Draw(rt, "width"), rapid.IntRange(1, 24).Draw(rt, "height"))
			s.monitors = append(s.monitors, driver.Monitor{Index: i, Bounds: image.Rectangle{Min: at, Max: at.Add(size)}, Scale: 1.25 * float64(i+1)})
			bounds, x = bounds.Union(s.monitors[i].Bounds), x+size.X
		}
		s.picture = image.NewRGBA(bounds)
		for i := range s.picture.Pix {
			s.picture.Pix[i] = uint8(i%200 + 55)
		}
		before := slices.Clone(s.picture.Pix)
		draw := rapid.Custom(func(t *rapid.T) work.Mask {
			at, size := rapid.Float64Range(0, 1), rapid.Float64Range(1e-6, 1)
			return work.Mask{
				Monitor: rapid.IntRange(0, len(s.monitors)-1).Draw(t, "monitor"), Left: at.Draw(t, "left"), Top: at.Draw(t, "top"),
				Width: size.Draw(t, "width"), Height: size.Draw(t, "height"),
			}
		})
		some := rapid.SliceOfN(draw, 0, 2)
		own, asked := some.Draw(rt, "own"), some.Draw(rt, "asked")
		left, late := some.Draw(rt, "left"), some.Draw(rt, "late")
		kept := &shelf{kept: map[string][]byte{}}
		e := execute.New(execute.Config{Driver: s, Evidence: kept, Masks: own, Begun: []work.Begun{{Masks: left}}})
		s.onLook = func(*screen) { e.Received(late) } // a dispatch comes while the frame is taken
		if o := e.Picture(t.Context(), asked); o.After == nil {
			rt.Fatalf("%s %s", verdict(o), o.Message)
		}
		for _, data := range kept.kept {
			picture := decode(t, data)
			for _, m := range slices.Concat(own, asked, left, late) {
				hidden(t, picture, bounds.Min, mask.Area(m, s.monitors[m.Monitor].Bounds))
			}
		}
		if !slices.Equal(before, s.picture.Pix) {
			rt.Fatal("the driver's picture was written to")
		}
	})
}

func TestAPictureIsTakenBesideAnActionAndBroughtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(20, 20))
		kept := &shelf{kept: map[string][]byte{}, refusal: "too large"}
		e := execute.New(execute.Config{Driver: s, Evidence: kept})
		waiting := make(chan work.Outcome)
		go func() {
			waiting <- e.Execute(t.Context(), work.Job{
				Dispatch: work.Dispatch{Action: work.Action{Do: work.WaitForTarget{}, Target: &work.Target{Window: "none"}}, Timeout: 1},
				Settings: work.Settings{}.WithDefaults(), Begin: func() error { return nil }, Doing: func(string) {},
			})
		}()
		synctest.Wait()
		o := e.Picture(t.Context(), nil)
		if o.After == nil || len(kept.first) != 1 || kept.first[0] != o.After.SHA256 || o.After.Note != "too large" || len(s.inputs) != 0 {
			t.Errorf("%s %+v, brought first %v, %d inputs", verdict(o), o.After, kept.first, len(s.inputs))
		}
		s.mu.Lock()
		s.windows = append(s.windows, driver.Window{ID: "9", Title: "none", Bounds: image.Rect(0, 0, 9, 9)})
		s.mu.Unlock()
		if o := <-waiting; !o.Success() {
			t.Errorf("the action beside it: %s %s", verdict(o), o.Message)
		}
		s.state.Kind = desktop.Locked
		if o := e.Picture(t.Context(), nil); o.Code != work.DesktopUnavailable || o.After != nil || !strings.Contains(o.Message, "locked") {
			t.Errorf("of a locked desktop: %s %s", verdict(o), o.Message)
		}
	})
}
