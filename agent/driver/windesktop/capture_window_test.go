package windesktop

import (
	"context"
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

var (
	notesID     = windowID(notes, 0x9c4)
	notesBounds = image.Rect(20, 20, 120, 90)
)

func ofScreen(x, y int) color.RGBA { return pixel(x, y, 0) }

func ofWindow(x, y int) color.RGBA { return pixel(x, y, 100) }

func TestAWindowDrawsItselfWhateverLiesInFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEyes()
		f.windows[0].Bounds = image.Rect(-250, 20, 120, 90) // partly on no monitor
		f.paint = func(w winapi.Window) (*image.RGBA, error) {
			time.Sleep(30 * time.Millisecond)
			return pattern(w.Bounds, 100), nil
		}
		began := time.Now()
		p, err := newEyes(f, image.Point{}).CaptureWindow(t.Context(), notesID)
		if err != nil {
			t.Fatal(err)
		}
		if p.Image.Rect != f.windows[0].Bounds || !shows(p.Image, ofWindow) {
			t.Errorf("the picture spans %v; or shows something else", p.Image.Rect)
		}
		if p.Method != driver.MethodWindow || p.Note != "" || p.Taken.Sub(began) != 30*time.Millisecond {
			t.Errorf("by %q, odd: %q, taken after %v", p.Method, p.Note, p.Taken.Sub(began))
		}
		if screens, _ := f.counts(); screens != 0 {
			t.Errorf("%d pictures of the screen", screens)
		}
	})
}

// A window that can't draw itself is cut from the screen, and the picture says so.
func TestB12_AWindowThatDrawsNothingIsCutFromTheScreen(t *testing.T) {
	fill := func(c color.Color) func(winapi.Window) (*image.RGBA, error) {
		return func(w winapi.Window) (*image.RGBA, error) { return plain(w.Bounds, c), nil }
	}
	for _, c := range []struct {
		name string
		put  func(*fakeEyes)
		note string
	}{
		{"black", func(f *fakeEyes) { f.paint = fill(color.Black) }, errBlank.Error()},
		{"white", func(f *fakeEyes) { f.paint = fill(color.White) }, errBlank.Error()},
		{"refused", func(f *fakeEyes) {
			f.paint = func(winapi.Window) (*image.RGBA, error) { return nil, errDenied }
		}, errRefused.Error()},
		{"it hangs", func(f *fakeEyes) { f.hung[notes] = true }, winapi.ErrHung.Error()},
		{"it began to hang", func(f *fakeEyes) {
			f.paint = func(winapi.Window) (*image.RGBA, error) { return nil, errors.Join(winapi.ErrHung, errDenied) }
		}, winapi.ErrHung.Error()},
		{"drawn and cut of one colour", func(f *fakeEyes) {
			f.paint = fill(color.Black)
			f.screen = func(r image.Rectangle) (*image.RGBA, error) { return plain(r, color.Black), nil }
		}, errBlank.Error() + "; " + driver.NoteOneColour},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeEyes()
			c.put(f)
			p, err := newEyes(f, image.Point{}).CaptureWindow(t.Context(), notesID)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if p.Method != driver.MethodScreenCrop || p.Note != c.note || p.Image.Rect != notesBounds {
				t.Errorf("%s: %v by %q, odd: %q; want %q", c.name, p.Image.Rect, p.Method, p.Note, c.note)
			}
			if blank := strings.Contains(c.note, driver.NoteOneColour); shows(p.Image, ofScreen) == blank {
				t.Errorf("%s: the picture is not what the screen shows", c.name)
			}
			if _, paints := f.counts(); c.name == "it hangs" && paints != 0 {
				t.Error("a window that hangs was asked to draw itself")
			}
		})
	}
}

func TestB13_AWindowThatDoesNotAnswerHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEyes()
		answers := make(chan struct{})
		f.paint = func(w winapi.Window) (*image.RGBA, error) {
			<-answers
			return pattern(w.Bounds, 100), nil
		}
		e := newEyes(f, image.Point{})
		for range 3 {
			began := time.Now()
			p, err := e.CaptureWindow(t.Context(), notesID)
			if err != nil || p.Method != driver.MethodScreenCrop || p.Note != errSlow.Error() || !shows(p.Image, ofScreen) {
				t.Fatalf("by %q, odd: %q, %v", p.Method, p.Note, err)
			}
			if waited := time.Since(began); waited != paintBound {
				t.Errorf("waited %v, want %v", waited, paintBound)
			}
		}
		if _, paints := f.counts(); paints != 1 {
			t.Errorf("%d calls wait for the window, want one", paints)
		}
		ctx, cut := context.WithTimeoutCause(t.Context(), time.Second, errDenied)
		defer cut()
		if p, err := e.CaptureWindow(ctx, notesID); !errors.Is(err, errDenied) || p.Image != nil {
			t.Errorf("a look that is cut short: %v", err)
		}
		close(answers)
		synctest.Wait()
		if p, err := e.CaptureWindow(t.Context(), notesID); err != nil || p.Method != driver.MethodWindow {
			t.Errorf("after the program answers again: by %q, %v", p.Method, err)
		}
	})
}

func TestALookThatIsCutShortWhileAWindowDrawsItselfEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEyes()
		answers := make(chan struct{})
		f.paint = func(w winapi.Window) (*image.RGBA, error) {
			<-answers
			return pattern(w.Bounds, 100), nil
		}
		ctx, cut := context.WithTimeoutCause(t.Context(), time.Second, errDenied)
		defer cut()
		began := time.Now()
		if p, err := newEyes(f, image.Point{}).CaptureWindow(ctx, notesID); !errors.Is(err, errDenied) || p.Image != nil {
			t.Errorf("cut short: %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("ended after %v", took)
		}
		if screens, _ := f.counts(); screens != 0 {
			t.Errorf("%d pictures of the screen", screens)
		}
		close(answers)
	})
}

func TestAWindowThatMovesIsPicturedWhereItIsNow(t *testing.T) {
	to := notesBounds.Add(image.Pt(50, 40))
	for method, draw := range map[string]func(image.Rectangle) *image.RGBA{
		driver.MethodWindow:     func(r image.Rectangle) *image.RGBA { return pattern(r, 100) },
		driver.MethodScreenCrop: func(r image.Rectangle) *image.RGBA { return plain(r, color.Black) },
	} {
		f := newFakeEyes()
		f.paint = func(winapi.Window) (*image.RGBA, error) {
			f.change(func(f *fakeEyes) { f.windows[0].Bounds = to })
			return draw(to), nil
		}
		p, err := newEyes(f, image.Point{}).CaptureWindow(t.Context(), notesID)
		if err != nil || p.Method != method || p.Image.Rect != to {
			t.Errorf("by %q, %v; want it at %v by %q", p.Method, err, to, method)
		}
	}
}

func TestAWindowThatIsGoneOrOffTheScreenHasNoPicture(t *testing.T) {
	for _, c := range []struct {
		name string
		put  func(*fakeEyes)
		want error
	}{
		{"closed", func(f *fakeEyes) { f.windows = f.windows[1:] }, driver.ErrGone},
		{"its handle is another program's", func(f *fakeEyes) { f.windows[0].PID++ }, driver.ErrGone},
		{"an icon", func(f *fakeEyes) { f.windows[0].Bounds = image.Rect(-32000, -32000, -31840, -31972) }, driver.ErrOffScreen},
		{"between the monitors", func(f *fakeEyes) { f.windows[0].Bounds = image.Rect(-150, 100, -20, 180) }, driver.ErrOffScreen},
		{"closes while it draws itself", func(f *fakeEyes) {
			f.paint = func(winapi.Window) (*image.RGBA, error) {
				f.change(func(f *fakeEyes) { f.windows = f.windows[1:] })
				return nil, winapi.ErrGone
			}
		}, driver.ErrGone},
		{"closes, and its drawing is black", func(f *fakeEyes) {
			f.paint = func(w winapi.Window) (*image.RGBA, error) {
				f.change(func(f *fakeEyes) { f.windows = f.windows[1:] })
				return plain(w.Bounds, color.Black), nil
			}
		}, driver.ErrGone},
		{"the windows can't be listed", func(f *fakeEyes) { f.windowsErr = errDenied }, errDenied},
		{"the monitors can't be listed", func(f *fakeEyes) { f.monitorsErr = errDenied }, errDenied},
	} {
		f := newFakeEyes()
		c.put(f)
		if p, err := newEyes(f, image.Point{}).CaptureWindow(t.Context(), notesID); !errors.Is(err, c.want) || p.Image != nil {
			t.Errorf("%s: %v; want %v", c.name, err, c.want)
		}
	}
}

// The terminal reaches over two monitors and a hole between them, and is cut at the
// edge of the desktop.
func TestAWindowIsCutFromWhatTheMonitorsShowOfIt(t *testing.T) {
	f := newFakeEyes()
	f.windows[1].Bounds = image.Rect(-100, 30, 60, 230)
	f.paint = func(w winapi.Window) (*image.RGBA, error) { return plain(w.Bounds, color.Black), nil }
	p, err := newEyes(f, image.Point{}).CaptureWindow(t.Context(), windowID(terminal, 0x38))
	if err != nil {
		t.Fatal(err)
	}
	want := func(x, y int) color.RGBA {
		if onMonitor(x, y) {
			return ofScreen(x, y)
		}
		return color.RGBA{A: 255}
	}
	if p.Image.Rect != image.Rect(-100, 30, 60, 200) || !shows(p.Image, want) {
		t.Errorf("the picture spans %v; or shows something else", p.Image.Rect)
	}
}
