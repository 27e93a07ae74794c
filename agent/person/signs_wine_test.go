//go:build windows && wine

package person

import (
	"errors"
	"image"
	"image/color"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

func TestOnWineStopNowOfTheIconsMenuStops(t *testing.T) {
	g, _ := openReal(t, Settings{StopKey: NoStopKey})
	told := attend(t, g)
	click := func(what string, is func(winapi.Window) bool, at func(image.Rectangle) image.Point) {
		t.Helper()
		var found winapi.Window
		winapitest.Await(t, what+" is there", func() bool {
			windows, err := system.Windows()
			i := slices.IndexFunc(windows, is)
			if err == nil && i >= 0 {
				found = windows[i]
			}
			return i >= 0
		})
		p := at(found.Bounds).Sub(system.VirtualScreen().Min)
		hand(t, "mousemove", strconv.Itoa(p.X), strconv.Itoa(p.Y), "click", "1")
	}
	click("the notification area", func(w winapi.Window) bool { return w.Title == "Wine System Tray" },
		func(r image.Rectangle) image.Point { return image.Pt(r.Min.X+14, r.Max.Y-10) })
	click("the menu", func(w winapi.Window) bool { return w.Class == "#32768" },
		func(r image.Rectangle) image.Point { return image.Pt(r.Min.X+20, r.Max.Y-10) })
	select {
	case act := <-told:
		if act.Kind != driver.Stopped || act.By != "tray icon" {
			t.Errorf("told of %+v", act)
		}
	case <-time.After(winapitest.Patience):
		t.Fatal("nobody was told of a stop")
	}
	if err := g.Do(t.Context(), driver.Type{Text: "X"}); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
		t.Errorf("after the stop: %v", err)
	}
}

func notice(t *testing.T, g *Guard, n driver.Notice) image.Rectangle {
	t.Helper()
	if err := g.ShowPause(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if g.stage.page == nil {
		t.Fatal("it was not laid out")
	}
	return g.stage.page.Bounds
}

func has(t *testing.T, area image.Rectangle, c color.RGBA) int {
	t.Helper()
	img, err := system.CaptureScreen(area)
	if err != nil {
		t.Fatal(err)
	}
	return count(img, area, c)
}

func count(img *image.RGBA, area image.Rectangle, c color.RGBA) (n int) {
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 16 } // the notice lets a little through
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if p := img.RGBAAt(x, y); near(p.R, c.R) && near(p.G, c.G) && near(p.B, c.B) {
				n++
			}
		}
	}
	return n
}

func TestOnWineANoticeShowsTakesNoFocusAndIsInNoPicture(t *testing.T) {
	g, _ := openReal(t, Settings{Language: French})
	work, _, err := g.machine.WorkArea()
	if err != nil {
		t.Fatal(err)
	}
	w := winapitest.Open(t, "lies below", image.Rect(0, 0, 540, 440).Add(work.Max).Sub(image.Pt(560, 460)))
	front := system.Foreground()
	at := notice(t, g, driver.Notice{
		PauseID: "p", Reason: "system_dialog", Message: "Validez la facture de l'été : œ, € & é",
		Checks: []string{"le montant est de 1 200 €", "le fournisseur est le bon"},
	})
	winapitest.Await(t, "it shows", func() bool { return has(t, at, backColour) > at.Dx()*at.Dy()/3 && has(t, at, stripeColour) > at.Dy() })
	if now := system.Foreground(); now != front || now != w.HWND() {
		t.Errorf("window %#x has the keyboard, before it was %#x", now, front)
	}
	p, err := g.Capture(t.Context())
	if err != nil || p.Note != "" {
		t.Fatalf("captured: %q, %v", p.Note, err)
	}
	if n := count(p.Image, at, backColour) + count(p.Image, at, stripeColour); n > 0 {
		t.Errorf("the picture shows %d pixels of it", n)
	}
	if n := count(p.Image, at, winapitest.Quarters[3]) + count(p.Image, at, winapitest.Quarters[0]); n < 1000 {
		t.Errorf("the picture shows %d pixels of the window below", n)
	}
	winapitest.Await(t, "it shows again", func() bool { return has(t, at, backColour) > at.Dx()*at.Dy()/3 })
	is := func(class string) bool { return class == g.machine.Class() }
	all, err := system.Windows()
	if err != nil || !slices.ContainsFunc(all, func(w winapi.Window) bool { return is(w.Class) }) {
		t.Errorf("the notice is not among the windows of Windows: %+v, %v", all, err)
	}
	windows, err := g.Windows(t.Context())
	if err != nil || len(windows) == 0 || slices.ContainsFunc(windows, func(w driver.Window) bool { return is(w.Class) }) {
		t.Errorf("windows %+v, %v", windows, err)
	}
	givesWay(t, g, w, at)
	if err := g.HidePause(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "it is gone", func() bool { return has(t, at, backColour) == 0 })
}

// givesWay sees to it that what a notice covers takes clicks and keys.
func givesWay(t *testing.T, g *Guard, w *winapitest.Window, at image.Rectangle) {
	t.Helper()
	under := at.Intersect(w.Area())
	middle := under.Min.Add(under.Size().Div(2))
	if under.Empty() || system.WindowAt(middle) != w.HWND() {
		t.Errorf("at %v is window %#x, want the one below it, %#x", middle, system.WindowAt(middle), w.HWND())
	}
	before := len(w.Messages())
	if err := g.Do(t.Context(), driver.Click{At: middle, Count: 1}); err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "the click has come to the window below", func() bool {
		for _, m := range w.Messages()[before:] {
			if m.ID == 0x0201 && m.At == middle {
				return true
			}
		}
		return false
	})
	if err := g.Do(t.Context(), driver.Type{Text: "typed below"}); err != nil {
		t.Fatal(err)
	}
	w.AwaitText(t, "typed below")
}

func TestOnWineAPlaceIsOutlinedForItsTime(t *testing.T) {
	g, _ := openReal(t, Settings{})
	w := winapitest.Open(t, "is outlined", place)
	target := w.Area().Inset(60)
	ended := make(chan error, 1)
	go func() { ended <- g.Announce(t.Context(), target, 2*time.Second) }()
	outer := target.Inset(-3)
	winapitest.Await(t, "it shows", func() bool { return has(t, outer, outlineColour) >= 2*3*(outer.Dx()+target.Dy()) })
	if has(t, target, outlineColour) > 0 {
		t.Error("it covers the target")
	}
	p, err := g.Capture(t.Context())
	if err != nil || count(p.Image, outer, outlineColour) > 0 {
		t.Errorf("the picture shows it, %v", err)
	}
	if system.Foreground() != w.HWND() {
		t.Error("it has taken the keyboard")
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "it is gone", func() bool { return has(t, outer, outlineColour) == 0 })
}
