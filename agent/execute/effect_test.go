package execute_test

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

// blind can't be looked at after the first input, until it can.
type blind struct {
	*screen
	until time.Time
}

func (b blind) Capture(ctx context.Context) (driver.Picture, error) {
	if len(b.inputs) > 0 && time.Now().Before(b.until) {
		return driver.Picture{}, errors.New("capture: a mode switch")
	}
	return b.screen.Capture(ctx)
}

func (b breaks) KeepFirst(sha256 string, png []byte) string { return b.Keep(sha256, png) }

// executed executes an action at a desktop, with a shelf for its pictures.
func executed(t *testing.T, cfg execute.Config, a work.Action) work.Outcome {
	t.Helper()
	return execute.New(cfg).Execute(t.Context(), work.Job{
		Dispatch: work.Dispatch{Ref: work.Ref{ActionID: "a"}, Action: a},
		Settings: work.Settings{}.WithDefaults(), Begin: func() error { return nil }, Doing: func(string) {},
	})
}

func TestAScreenThatCannotBeLookedAtIsNotOneWithoutChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		blind  time.Duration
		effect work.Expectation
		want   string
	}{
		{"for good, and required", time.Hour, work.RequireChange, "outcome_unknown completed not_checked"},
		{"for good", time.Hour, work.ExpectChange, "success completed not_checked"},
		{"for a moment", 300 * time.Millisecond, work.RequireChange, "success completed seen"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.onInput = func(s *screen, _ int) error { s.put(icon(), image.Pt(150, 120)); return nil }
			o := executed(t, execute.Config{Driver: blind{s, time.Now().Add(c.blind)}}, work.Action{Do: press, Effect: c.effect})
			if got := verdict(o); got != c.want || strings.Contains(o.Message, "nothing changed") {
				t.Errorf("%s: %s: %q", c.name, got, o.Message)
			}
		})
	}
}

func TestWhatIsRestlessKeepsNoPictureFromSettling(t *testing.T) {
	for _, c := range []struct {
		name     string
		restless []work.Mask
		do       work.Gesture
		want     bool
	}{
		{"after input", []work.Mask{{Left: 0.8, Width: 0.2, Height: 0.3}}, press, true},
		{"a picture asked for", []work.Mask{{Left: 0.8, Width: 0.2, Height: 0.3}}, work.Screenshot{}, true},
		{"elsewhere", []work.Mask{{Left: 0, Width: 0.2, Height: 0.3}}, press, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, n := newScreen(), 0
			s.onLook = func(s *screen) {
				n++
				box := image.NewRGBA(image.Rect(0, 0, 60, 60))
				for i := range box.Pix {
					box.Pix[i] = uint8(n * 40)
				}
				s.put(box, image.Pt(340, 0))
			}
			h := &shelf{kept: map[string][]byte{}}
			o := executed(t, execute.Config{Driver: s, Evidence: h, Restless: c.restless}, work.Action{Do: c.do, Effect: work.ExpectNothing})
			if o.After == nil || o.After.Settled != c.want {
				t.Errorf("%s: %+v", c.name, o.After)
			}
		})
	}
}

// breaks is evidence that panics: with which picture, from 1.
type breaks struct {
	*shelf
	n  *int
	at int
}

func (b breaks) Keep(sha256 string, png []byte) string {
	if *b.n++; *b.n == b.at {
		panic("the disk's fault")
	}
	return b.shelf.Keep(sha256, png)
}

func TestAPanicWhileAPictureIsPackedCostsThePictureAlone(t *testing.T) {
	for _, at := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.onInput = changes
			e := breaks{&shelf{kept: map[string][]byte{}}, new(int), at}
			o := executed(t, execute.Config{Driver: s, Evidence: e}, work.Action{Do: press, Effect: work.ExpectChange})
			if !o.Success() || (o.Before == nil) == (o.After == nil) || len(s.inputs) != 1 {
				t.Errorf("picture %d: %s, before %v, after %v", at, verdict(o), o.Before, o.After)
			}
		})
	}
}

func TestAPanicOverAPictureThatSomebodyWaitsForIsItsAnswer(t *testing.T) {
	e := execute.New(execute.Config{Driver: newScreen(), Evidence: breaks{&shelf{kept: map[string][]byte{}}, new(int), 1}})
	if o := e.Picture(t.Context(), nil); o.Code != work.Internal || o.After != nil || strings.Contains(o.Message, "goroutine") {
		t.Errorf("%s: %q", verdict(o), o.Message)
	}
	if o := e.Picture(t.Context(), nil); o.After == nil {
		t.Errorf("the next one: %s: %q", verdict(o), o.Message)
	}
}
