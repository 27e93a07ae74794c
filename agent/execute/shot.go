package execute

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/work"
)

// shot is a picture of the screen as it is, masked nowhere, with the monitors that
// it shows. What leaves the machine of it is masked.
type shot struct {
	driver.Picture
	monitors []driver.Monitor
	unknown  error // why the monitors are not known; nil: they are
}

// errMoved says that a mask may have been meant for another place of the picture.
var errMoved = errors.New("the monitors changed while it was taken")

// shoot takes a picture. The masks that it may get, and the places on it that somebody
// may name, need the monitors as they were at that moment, so they are looked at before
// and after.
func (e *Executor) shoot(ctx context.Context, take func(context.Context) (driver.Picture, error)) (shot, error) {
	if e.cfg.Evidence == nil {
		frame, err := take(ctx)
		return shot{Picture: frame}, err
	}
	monitors, unknown := e.cfg.Driver.Monitors(ctx)
	frame, err := take(ctx)
	if err != nil || unknown != nil {
		return shot{Picture: frame, unknown: unknown}, err
	}
	after, unknown := e.cfg.Driver.Monitors(ctx)
	if unknown == nil && !slices.Equal(monitors, after) {
		unknown = errMoved
	}
	return shot{frame, monitors, unknown}, nil
}

// masked returns the part of the picture that may leave the machine.
func (s shot) masked(masks []work.Mask) mask.Masked {
	switch {
	case len(masks) > 0 && s.unknown != nil:
		return mask.Black(s.Image, "where its masks lie is not known: "+s.unknown.Error())
	case s.Method != driver.MethodScreen:
		return mask.ApplyToWindow(s.Image, s.monitors, masks)
	}
	return mask.Apply(s.Image, s.monitors, masks)
}

// delivery is how a picture leaves: packed, small enough, to whom.
type delivery struct {
	pack func(*image.RGBA) (packed, error)
	most int64 // bytes that the server takes
	keep func(sha256 string, png []byte) (refusal string)
}

// named masks and packs the picture, hands it over, and names it.
func (s shot) named(masks []work.Mask, d delivery) (*work.Picture, error) {
	m := s.masked(masks)
	p, scale, err := fit(m.Image, d)
	if err != nil {
		return nil, err
	}
	notes := []string{s.Note, m.Why, d.keep(p.sha256, p.png)}
	if !strings.Contains(s.Note, driver.NoteOneColour) && vision.Uniform(s.Image) {
		notes = append(notes, driver.NoteOneColour)
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	bounds := s.Image.Bounds()
	out := &work.Picture{
		SHA256: p.sha256, TakenAt: s.Taken, Method: s.Method, Note: strings.Join(notes, "; "), Masks: m.Count,
		Origin: work.Position{X: bounds.Min.X, Y: bounds.Min.Y}, Width: p.size.X, Height: p.size.Y, Scale: float64(scale),
	}
	if s.unknown == nil {
		out.Geometry, out.Monitor = driver.Geometry(s.monitors), s.monitor()
	}
	return out, nil
}

// monitor is the index of the one that all of the picture lies on; nil: it shows more.
func (s shot) monitor() *int {
	for _, m := range s.monitors {
		if s.Method != driver.MethodScreen && s.Image.Rect.In(m.Bounds) {
			return &m.Index
		}
	}
	return nil
}

// Received says what no picture of the newest dispatch shows. It is called before
// anything of that dispatch is done.
func (e *Executor) Received(masks []work.Mask) { e.veil.receive(masks) }

// shoot takes a picture of the screen.
func (r *run) shoot(ctx context.Context) (shot, error) {
	return r.Executor.shoot(ctx, r.cfg.Driver.Capture)
}

// Picture takes a picture of the screen as it is, beside whatever is executing,
// and hands it over to be brought first. No input is sent. The outcome holds the
// picture as After, or says why there is none. To the masks that are asked for come
// those of all that may be on the screen when it is taken, whatever whoever asks
// knew of it: the newest dispatch, what has begun, what another replay left.
func (e *Executor) Picture(ctx context.Context, masks []work.Mask) work.Outcome {
	r := &run{Executor: e, masks: union(e.cfg.Masks, masks)}
	var picture *work.Picture
	err := r.guarded(func() (err error) {
		picture, err = r.picture(ctx)
		return err
	})
	if err != nil {
		code, message := codeOf(ctx, err)
		return work.Failure(code, work.NotStarted, message)
	}
	return work.Outcome{Completion: work.Completed, Effect: work.NotChecked, After: picture}
}

func (r *run) picture(ctx context.Context) (*work.Picture, error) {
	if r.cfg.Evidence == nil {
		return nil, faultf(work.Unsupported, "this agent keeps no screenshots")
	}
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	frame, err := r.shoot(ctx)
	if err != nil {
		return nil, err
	}
	r.masks = union(r.masks, r.veil.all())
	// Packed apart: an action under way is not made to wait, and finds the last
	// screen of its own in its packer.
	return frame.named(r.masks, delivery{pack, r.most.Load(), r.cfg.Evidence.KeepFirst})
}
