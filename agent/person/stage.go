package person

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// stage is what shows on the screen, and keeps it out of pictures.
type stage struct {
	machine signs
	words   *words
	once    *faults
	turn    chan struct{} // held by who changes what shows
	shown   atomic.Bool   // a pause is

	// Guarded by turn.
	pause    string       // id of the pause that is shown; empty: none is
	page     *winapi.Page // its notice; nil: it can't be shown
	bars     *[4]image.Rectangle
	outlines int // how many outlines there were: who made the last one takes it away
	pictures int // how many are being taken of which the signs have to be kept out
}

// vanishTime is how long the windows below get to draw what a sign has covered.
const vanishTime = 60 * time.Millisecond

// maybeSeen is the note of a picture from which the signs could not be kept.
const maybeSeen = "a notice of the agent may show"

// hold waits for the turn and returns what ends it.
func (s *stage) hold(ctx context.Context) (func(), error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// showPause shows a pause unless it is shown already.
func (s *stage) showPause(ctx context.Context, n driver.Notice) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if s.shown.Load() && s.pause == n.PauseID {
		return nil
	}
	page, err := s.laidOut(n)
	s.pause, s.page = n.PauseID, page
	s.shown.Store(true)
	if err == nil && s.pictures == 0 {
		err = s.machine.ShowNotice(*page)
	}
	if err != nil {
		s.once.note("a pause can't be shown", err)
	}
	return nil
}

func (s *stage) laidOut(n driver.Notice) (*winapi.Page, error) {
	work, dpi, err := s.machine.WorkArea()
	if err != nil {
		return nil, fmt.Errorf("work area: %w", err)
	}
	return layout(s.words.page(n), work, dpi, s.machine.Measure)
}

// hidePause takes a pause away if it is the one that is shown.
func (s *stage) hidePause(ctx context.Context, id string) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if !s.shown.Load() || s.pause != id {
		return nil
	}
	s.pause, s.page = "", nil
	s.shown.Store(false)
	if err := s.machine.HideNotice(); err != nil {
		s.once.note("a pause can't be taken away", err)
	}
	return nil
}

// outline shows an outline, and returns what takes it away again. False: it can't be
// shown.
func (s *stage) outline(ctx context.Context, around image.Rectangle) (func(), bool, error) {
	release, err := s.hold(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	_, dpi, err := s.machine.WorkArea()
	if err == nil {
		bars := barsAround(around, dpi)
		s.bars = &bars
		s.outlines++
		if s.pictures == 0 {
			err = s.machine.ShowOutline(bars, outlineColour)
		}
	}
	if err != nil {
		s.bars = nil
		s.once.note("a place can't be outlined", err)
		return nil, false, nil
	}
	mine := s.outlines
	return func() {
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
		if s.outlines != mine {
			return
		}
		s.bars = nil
		if err := s.machine.HideOutline(); err != nil {
			s.once.note("an outline can't be taken away", err)
		}
	}, true, nil
}

// veil keeps the signs out of a picture until what it returns is called. False: it
// could not.
func (s *stage) veil(ctx context.Context) (func(), bool, error) {
	if s.machine.OutOfPictures() {
		return func() {}, true, nil
	}
	release, err := s.hold(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	s.pictures++
	if s.pictures > 1 || s.page == nil && s.bars == nil {
		return s.unveil, true, nil
	}
	if err := s.hide(); err != nil {
		s.once.note("notices can't be kept out of pictures", err)
		return s.unveil, false, nil
	}
	if err := pause(ctx, vanishTime); err != nil {
		s.pictures--
		s.show()
		return nil, false, err
	}
	return s.unveil, true, nil
}

func (s *stage) hide() error {
	if s.page != nil {
		if err := s.machine.HideNotice(); err != nil {
			return err
		}
	}
	if s.bars != nil {
		if err := s.machine.HideOutline(); err != nil {
			return err
		}
	}
	s.machine.Composed()
	return nil
}

func (s *stage) unveil() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.pictures--
	s.show()
}

// show shows what is wanted, unless a picture is being taken.
func (s *stage) show() {
	if s.pictures > 0 {
		return
	}
	if s.page != nil {
		if err := s.machine.ShowNotice(*s.page); err != nil {
			s.once.note("a pause can't be shown", err)
		}
	}
	if s.bars != nil {
		if err := s.machine.ShowOutline(*s.bars, outlineColour); err != nil {
			s.once.note("a place can't be outlined", err)
		}
	}
}

var outlineColour = color.RGBA{R: 0xff, G: 0x6a, A: 0xff}

// barsAround are four bars just outside a rectangle: above, below, left and right of it.
func barsAround(r image.Rectangle, dpi int) [4]image.Rectangle {
	w := scaled(3, dpi)
	o := r.Inset(-w)
	return [4]image.Rectangle{
		image.Rect(o.Min.X, o.Min.Y, o.Max.X, r.Min.Y), image.Rect(o.Min.X, r.Max.Y, o.Max.X, o.Max.Y),
		image.Rect(o.Min.X, r.Min.Y, r.Min.X, r.Max.Y), image.Rect(r.Max.X, r.Min.Y, o.Max.X, r.Max.Y),
	}
}

// ShowPause implements driver.Attended.
func (g *Guard) ShowPause(ctx context.Context, n driver.Notice) error {
	if g.machine == nil {
		return nil
	}
	defer g.acts.stir()
	return g.stage.showPause(ctx, n)
}

// HidePause implements driver.Attended.
func (g *Guard) HidePause(ctx context.Context, pauseID string) error {
	if g.machine == nil {
		return nil
	}
	defer g.acts.stir()
	return g.stage.hidePause(ctx, pauseID)
}

// Announce implements driver.Attended. A stop of the person ends it, with
// driver.ErrStopped.
func (g *Guard) Announce(ctx context.Context, around image.Rectangle, d time.Duration) error {
	if g.machine == nil {
		return nil
	}
	braked, leave, err := g.brake.enter(ctx)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer leave()
	remove, shown, err := g.stage.outline(braked, around.Canon())
	if err != nil || !shown {
		return err
	}
	defer remove()
	return pause(braked, d)
}

// Capture implements driver.Eyes.
func (g *Guard) Capture(ctx context.Context) (driver.Picture, error) {
	return g.picture(ctx, g.driver.Capture)
}

// CaptureWindow implements driver.WindowEyes.
func (g *Guard) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	return g.picture(ctx, func(ctx context.Context) (driver.Picture, error) { return g.driver.CaptureWindow(ctx, id) })
}

func (g *Guard) picture(ctx context.Context, take func(context.Context) (driver.Picture, error)) (driver.Picture, error) {
	if g.machine == nil {
		return take(ctx)
	}
	unveil, veiled, err := g.stage.veil(ctx)
	if err != nil {
		return driver.Picture{}, fmt.Errorf("capture: %w", err)
	}
	defer unveil()
	p, err := take(ctx)
	if err == nil && !veiled {
		p.Note = joined(p.Note, maybeSeen)
	}
	return p, err
}

func joined(note, more string) string {
	if note == "" {
		return more
	}
	return note + "; " + more
}

// Windows implements driver.Eyes: without those of the signs.
func (g *Guard) Windows(ctx context.Context) ([]driver.Window, error) {
	windows, err := g.driver.Windows(ctx)
	if g.machine == nil {
		return windows, err
	}
	class := g.machine.Class()
	return slices.DeleteFunc(windows, func(w driver.Window) bool { return w.Class == class }), err
}

// pause waits, or says why it ended early.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
