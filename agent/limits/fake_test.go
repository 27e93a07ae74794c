package limits

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"sync"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

var (
	mail  = driver.Window{ID: "mail", Title: "Inbox", Class: "Mail", Process: "mail.exe", Bounds: image.Rect(0, 0, 100, 100)}
	vault = driver.Window{ID: "vault", Title: "Vault - KeePass", Class: "KeePassMain", Process: "KeePass.exe", Bounds: image.Rect(100, 0, 200, 100)}
)

// fake is a desktop that is white, and types a character each 5 ms.
type fake struct {
	mu        sync.Mutex
	windows   []driver.Window // the topmost first
	listed    error           // what listing them fails with
	sent      []driver.Input
	typed     int
	meanwhile func(typed int) // called before each character
	during    func()          // called while a picture is taken
	method    string
}

// show puts windows on the desktop; the first one is in front.
func (f *fake) show(windows ...driver.Window) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.windows = append([]driver.Window(nil), windows...)
	if len(windows) > 0 {
		f.windows[0].Active = true
	}
	return f
}

func (f *fake) Do(ctx context.Context, in driver.Input) error {
	f.mu.Lock()
	f.sent = append(f.sent, in)
	f.mu.Unlock()
	text, ok := in.(driver.Type)
	if !ok {
		return nil
	}
	for range text.Text {
		if f.meanwhile != nil {
			f.meanwhile(f.typed)
		}
		select {
		case <-time.After(5 * time.Millisecond):
			f.typed++
		case <-ctx.Done():
			return &driver.InputError{Sent: f.typed, Err: context.Cause(ctx)}
		}
	}
	return nil
}

func (*fake) Release(context.Context) error { return nil }

func (*fake) State(context.Context) (desktop.State, error) {
	return desktop.State{Kind: desktop.Active}, nil
}

func (*fake) Monitors(context.Context) ([]driver.Monitor, error) { return nil, nil }

func (f *fake) Windows(context.Context) ([]driver.Window, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]driver.Window(nil), f.windows...), f.listed
}

func (f *fake) Capture(context.Context) (driver.Picture, error) {
	if f.during != nil {
		f.during()
	}
	img := image.NewRGBA(image.Rect(-100, 0, 300, 200))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	method := f.method
	if method == "" {
		method = driver.MethodScreen
	}
	return driver.Picture{Image: img, Method: method, Note: "as it was"}, nil
}

func (f *fake) CaptureWindow(ctx context.Context, _ string) (driver.Picture, error) {
	return f.Capture(ctx)
}

// tree is a desktop with elements, and seat one at which a person sits.
type tree struct{ driver.Driver }

func (tree) Elements(context.Context, string, driver.Element) ([]driver.Found, error) {
	return make([]driver.Found, 7), nil
}

type seat struct{ driver.Driver }

func (seat) Attend(context.Context, func(driver.Act)) error                 { return nil }
func (seat) Hold(context.Context, driver.Act) error                         { return nil }
func (seat) GoOn(context.Context) error                                     { return driver.ErrStopped }
func (seat) ShowPause(context.Context, driver.Notice) error                 { return nil }
func (seat) ShowServer(context.Context, bool) error                         { return nil }
func (seat) HidePause(context.Context, string) error                        { return nil }
func (seat) Announce(context.Context, image.Rectangle, time.Duration) error { return nil }

// limited wraps a desktop with rules.
func limited(t *testing.T, d driver.Driver, typeInto, picture []Rule) driver.Driver {
	t.Helper()
	check := func(name string, rules []Rule) []Rule {
		checked := make([]Rule, len(rules))
		for i, r := range rules {
			var err error
			if checked[i], err = NewRule(name, r); err != nil {
				t.Fatal(err)
			}
		}
		return checked
	}
	return Wrap(d, Rules{NeverTypeInto: check("never-type-into", typeInto), NeverPicture: check("never-picture", picture)})
}

var keepass = []Rule{{Process: "keepass.exe"}}

// blackAt says whether a picture is black at a place, which white is not.
func blackAt(p driver.Picture, x, y int) bool {
	return p.Image.RGBAAt(x, y) == color.RGBA{A: 255}
}
