package person

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// stage is what shows on the screen, and keeps it out of pictures.
type stage struct {
	machine signs
	words   *words
	once    *faults
	turn    chan struct{} // held by who changes what shows
	shown   atomic.Bool   // a pause is

	// Guarded by turn.
	notice   driver.Notice   // the pause that is shown, if one is
	page     *winapi.Page    // as it is laid out; nil: it can't be
	work     image.Rectangle // where it was laid out
	dpi      int             // for which resolution
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
	if s.shown.Load() && s.notice.PauseID == n.PauseID {
		return nil
	}
	s.notice, s.page, s.work = n, nil, image.Rectangle{}
	s.shown.Store(true)
	s.fit()
	return nil
}

// fit lays the notice out where there is room for it now, and shows it there.
func (s *stage) fit() {
	err := s.layOut()
	if err == nil && s.page != nil && s.pictures == 0 {
		err = s.machine.ShowNotice(*s.page)
	}
	if err != nil {
		s.once.note("a pause can't be shown", err)
	}
}

func (s *stage) layOut() error {
	work, dpi, err := s.machine.WorkArea()
	if err != nil {
		return fmt.Errorf("work area: %w", err)
	}
	if s.page != nil && work == s.work && dpi == s.dpi {
		return nil
	}
	page, err := layout(s.words.page(s.notice), work, dpi, s.machine.Measure)
	if err != nil {
		return err
	}
	s.page, s.work, s.dpi = page, work, dpi
	return nil
}

// refit has a notice follow the work area when monitors have come or gone, and lifts it
// above windows that have come over it. It waits for nobody: there is a next time.
func (s *stage) refit() {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return
	}
	if s.shown.Load() {
		s.fit()
	}
}

// hidePause takes a pause away if it is the one that is shown.
func (s *stage) hidePause(ctx context.Context, id string) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if !s.shown.Load() || s.notice.PauseID != id {
		return nil
	}
	s.notice, s.page = driver.Notice{}, nil
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
	if err := wait.For(ctx, vanishTime); err != nil {
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
