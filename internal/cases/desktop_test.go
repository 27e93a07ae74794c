package cases

import (
	"context"
	"image"
	"image/color"
	"slices"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

// countingDesktop is a desktop in memory that counts what was done to it. Each
// gesture changes its picture, unless it swallows input.
type countingDesktop struct {
	mu       sync.Mutex
	effects  []driver.Input
	swallow  bool
	state    desktop.State
	hold     chan struct{} // a gesture waits until this is closed; nil: it does not
	held     chan struct{} // closed when a gesture waits
	look     chan struct{} // as hold, for a picture
	looked   chan struct{}
	released int
	shade    uint8
	noise    bool // its pictures are large files
	full     bool // its pictures have the screen's size; small ones are quicker
	windows  []driver.Window
	still    *image.RGBA // what every picture shows; nil: the shade
}

var screen = image.Rect(0, 0, 1280, 800)

func newDesktop() *countingDesktop {
	return &countingDesktop{
		state: desktop.State{Kind: desktop.Active}, held: make(chan struct{}),
		windows: []driver.Window{{ID: "w", Title: "Form", Bounds: screen, Active: true}},
	}
}

// freeze makes the desktop a remote viewer that has frozen: it swallows input and
// its picture stands still. Thawed it works again.
func (d *countingDesktop) freeze(frozen bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.swallow = frozen
}

// freezeOn makes the desktop show one picture, whatever is done to it.
func (d *countingDesktop) freezeOn(img *image.RGBA) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.still = img
}

// become puts the desktop into a state, such as locked.
func (d *countingDesktop) become(kind desktop.Kind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Kind = kind
}

// show replaces the windows by those with these titles and bounds, the first one
// active.
func (d *countingDesktop) show(windows ...driver.Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windows = windows
	for i := range windows {
		windows[i].ID, windows[i].Active = windows[i].Title, i == 0
	}
}

// holdNext makes the next gesture wait in the middle, after its effect counted.
func (d *countingDesktop) holdNext() (held <-chan struct{}, goOn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hold := make(chan struct{})
	d.hold, d.held = hold, make(chan struct{})
	return d.held, func() { close(hold) }
}

// holdLook makes the next picture wait, as holdNext does a gesture.
func (d *countingDesktop) holdLook() (held <-chan struct{}, goOn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	look := make(chan struct{})
	d.look, d.looked = look, make(chan struct{})
	return d.looked, func() { close(look) }
}

// Do implements driver.Hands.
func (d *countingDesktop) Do(ctx context.Context, in driver.Input) error {
	d.mu.Lock()
	if d.state.Kind != desktop.Active {
		d.mu.Unlock()
		return &driver.InputError{Err: driver.ErrUnavailable}
	}
	d.effects = append(d.effects, in)
	if !d.swallow {
		d.shade += 40
	}
	hold, held := d.hold, d.held
	d.hold = nil
	d.mu.Unlock()
	if hold == nil {
		return nil
	}
	close(held)
	select {
	case <-hold:
		return nil
	case <-ctx.Done():
		return &driver.InputError{Sent: 1, Err: context.Cause(ctx)}
	}
}

// Release implements driver.Hands.
func (d *countingDesktop) Release(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.released++
	return nil
}

// State implements driver.Eyes.
func (d *countingDesktop) State(context.Context) (desktop.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state, nil
}

// Monitors implements driver.Eyes.
func (d *countingDesktop) Monitors(context.Context) ([]driver.Monitor, error) {
	return []driver.Monitor{{Bounds: screen, Scale: 1, Primary: true}}, nil
}

// Windows implements driver.Eyes.
func (d *countingDesktop) Windows(context.Context) ([]driver.Window, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.windows), nil
}

// Capture implements driver.Eyes.
// CaptureWindow takes the screen: its one window fills it.
func (d *countingDesktop) CaptureWindow(ctx context.Context, _ string) (driver.Picture, error) {
	return d.Capture(ctx)
}

func (d *countingDesktop) Capture(ctx context.Context) (driver.Picture, error) {
	d.mu.Lock()
	look, looked := d.look, d.looked
	d.look = nil
	d.mu.Unlock()
	if look != nil {
		close(looked)
		select {
		case <-look:
		case <-ctx.Done():
			return driver.Picture{}, context.Cause(ctx)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.still != nil {
		return driver.Picture{Image: d.still, Taken: time.Now(), Method: "screen"}, nil
	}
	img := image.NewRGBA(image.Rect(0, 0, 64, 40))
	if d.full {
		img = image.NewRGBA(screen)
	}
	for i := range img.Pix {
		img.Pix[i] = d.shade
	}
	if d.noise {
		img = image.NewRGBA(image.Rect(0, 0, 700, 500))
		noisy(img, d.shade)
	}
	img.SetRGBA(0, 0, color.RGBA{255, 255, 255, 255}) // never of one colour
	return driver.Picture{Image: img, Taken: time.Now(), Method: "screen"}, nil
}

// inputs returns every gesture that the desktop took, in order.
func (d *countingDesktop) inputs() []driver.Input {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.effects)
}

// clicks returns where the desktop was clicked, in order, by the step's x.
func (d *countingDesktop) clicks() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	var at []int
	for _, in := range d.effects {
		if c, ok := in.(driver.Click); ok {
			at = append(at, c.At.X)
		}
	}
	return slices.Clone(at)
}
