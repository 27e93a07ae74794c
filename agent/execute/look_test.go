package execute_test

import (
	"image"
	"image/draw"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

func TestAnAnchorIsClickedWhereItIsAlsoWhenItComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		due := time.Now().Add(12 * time.Second)
		s.onLook = func(s *screen) {
			if !time.Now().Before(due) {
				s.onLook = nil
				s.put(icon(), image.Pt(-150, 50))
			}
		}
		target := anchored()
		target.Anchor.Offset = &work.Point{X: 0.5, Y: 0}
		outcome := perform(t, s, work.Action{Do: work.Click{}, Target: target})
		want := image.Pt(-138, 50)
		if len(s.inputs) != 1 || s.inputs[0].(driver.Click).At != want {
			t.Fatalf("inputs %v, want a click at %v; %s", s.inputs, want, outcome.Message)
		}
		if outcome.Method != "template" || outcome.Score < 0.99 || outcome.ResolveElapsed < 12*time.Second || outcome.ResolveElapsed > 13*time.Second {
			t.Errorf("found by %s with %.2f after %v", outcome.Method, outcome.Score, outcome.ResolveElapsed)
		}
		if *outcome.Position != (work.Position{X: want.X, Y: want.Y}) {
			t.Errorf("position %v", outcome.Position)
		}
	})
}

func TestAnAnchorWithinAWindowIsLookedForThereOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(20, 20))
		s.put(icon(), image.Pt(120, 120))
		target := anchored()
		target.Window = "editor"
		outcome := perform(t, s, work.Action{Do: work.Move{}, Target: target})
		if len(s.inputs) != 1 || s.inputs[0].(driver.Move).At != image.Pt(132, 132) {
			t.Errorf("inputs %v; %s", s.inputs, outcome.Message)
		}
	})
}

func TestAPointIsTakenWithAWarningWhenTheAnchorIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		target := anchored()
		target.Point = &work.Point{X: 0.5, Y: 0.5}
		target.ByText = "OK"
		began := time.Now()
		outcome := perform(t, s, work.Action{Do: work.Move{}, Target: target})
		if got := verdict(outcome); got != "success completed not_checked visual_resolve_failed" || outcome.Method != "point" {
			t.Errorf("%s by %s", got, outcome.Method)
		}
		if waited := time.Since(began); waited < 30*time.Second {
			t.Errorf("gave up after %v", waited)
		}
	})
}

func TestAnAnchorThatCanNotBeFetchedYetIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(20, 20))
		outcome := performWith(t.Context(), s, &shelf{offline: 3}, work.Action{Do: work.Move{}, Target: anchored()}, nil)
		if !outcome.Success() || outcome.ResolveElapsed < 3*time.Second {
			t.Errorf("%s %q after %v", verdict(outcome), outcome.Message, outcome.ResolveElapsed)
		}
		outcome = performWith(t.Context(), newScreen(), &shelf{offline: 1 << 20}, work.Action{Do: work.Move{}, Target: anchored()}, nil)
		if outcome.Code != work.TargetNotFound || !strings.Contains(outcome.Message, "connection is away") {
			t.Errorf("%s %q", verdict(outcome), outcome.Message)
		}
	})
}

func TestAWaitForATargetIsNotContentWithItsPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &work.Target{ByText: "Ready", Point: &work.Point{}}
		outcome := perform(t, newScreen(), work.Action{Do: work.WaitForTarget{}, Target: target})
		if outcome.Code != work.Unsupported || outcome.Target == nil || outcome.Target.Point == nil {
			t.Errorf("%s, target %+v", verdict(outcome), outcome.Target)
		}
	})
}

func TestTheEffectIsLookedFor(t *testing.T) {
	late := func(after time.Duration) func(*screen, int) error {
		return func(s *screen, n int) error {
			due := time.Now().Add(after)
			s.onLook = func(s *screen) {
				if !time.Now().Before(due) {
					s.onLook = nil
					_ = changes(s, n)
				}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		effect work.Expectation
		input  func(*screen, int) error
		want   string
	}{
		{"at once", work.ExpectChange, changes, "success completed seen"},
		{"late", work.ExpectChange, late(800 * time.Millisecond), "success completed seen"},
		{"too late", work.ExpectChange, late(2 * time.Second), "success completed none_seen no_screen_change"},
		{"never", work.ExpectChange, nil, "success completed none_seen no_screen_change"},
		{"a blinking caret is none", work.ExpectChange, blink, "success completed none_seen no_screen_change"},
		{"never, and required", work.RequireChange, nil, "verify_failed completed none_seen"},
		{"required and there", work.RequireChange, changes, "success completed seen"},
		{"nothing expected", work.ExpectNothing, nil, "success completed not_checked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.windows[0].Bounds = image.Rect(0, 0, 300, 200) // what changes is in the window in front
			s.onInput = c.input
			outcome := perform(t, s, work.Action{Do: work.Combo{Keys: []string{"a"}}, Effect: c.effect})
			if got := verdict(outcome); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		})
	}
}

// blink draws a caret.
func blink(s *screen, _ int) error {
	caret := image.NewRGBA(image.Rect(0, 0, 2, 16))
	draw.Draw(caret, caret.Bounds(), image.White, image.Point{}, draw.Src)
	s.put(caret, image.Pt(50, 50))
	return nil
}

func TestTheTitleAfterMustComeInTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  time.Duration
		strict bool
		want   string
	}{
		{"in time", 700 * time.Millisecond, false, "success completed not_checked"},
		{"too late", 1500 * time.Millisecond, false, "verify_failed completed not_checked"},
		{"in time but not to the letter", 700 * time.Millisecond, true, "verify_failed completed not_checked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.onInput = func(s *screen, _ int) error {
				due := time.Now().Add(c.after + 50*time.Millisecond) // what the pictures take
				s.onLook = func(s *screen) {
					if !time.Now().Before(due) {
						s.windows = []driver.Window{{ID: "3", Title: "Saved - Editor", Active: true}}
					}
				}
				return nil
			}
			a := work.Action{Do: work.Combo{Keys: []string{"ctrl", "s"}}, WindowAfter: "saved", Strict: c.strict}
			if got := perform(t, s, a); verdict(got) != c.want {
				t.Errorf("%s: %s %q, want %s", c.name, verdict(got), got.Message, c.want)
			}
		})
	}
}

func TestScreenshotsShowTheMomentsThatTheyClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.put(icon(), image.Pt(20, 20))
		s.onInput = changes
		kept := &shelf{kept: map[string][]byte{}}
		outcome := performWith(t.Context(), s, kept, work.Action{Do: work.Combo{Keys: []string{"a"}}, Effect: work.ExpectChange}, nil)
		if outcome.Before == nil || outcome.After == nil || outcome.Before.SHA256 == outcome.After.SHA256 {
			t.Fatalf("before %+v, after %+v", outcome.Before, outcome.After)
		}
		before, after := decode(t, kept.kept[outcome.Before.SHA256]), decode(t, kept.kept[outcome.After.SHA256])
		if r, _, _, _ := before.At(215, 15).RGBA(); r>>8 != 40 {
			t.Errorf("the picture before shows the change: %d", r>>8)
		}
		if r, _, _, _ := after.At(215, 15).RGBA(); r>>8 != 200 {
			t.Errorf("the picture after does not show the change: %d", r>>8)
		}
		if !outcome.After.Settled || outcome.After.Method != "screen" || outcome.After.TakenAt.Before(outcome.StartedAt) || outcome.EndedAt.IsZero() {
			t.Errorf("after %+v, ended %v", outcome.After, outcome.EndedAt)
		}
	})
}

func TestAScreenThatNeverStandsStillAndOneOfOneColourSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		frame := 0
		s.onLook = func(s *screen) { frame++; _ = changes(s, frame%2*50) }
		outcome := perform(t, s, work.Action{Do: work.Screenshot{}})
		if outcome.After == nil || outcome.After.Settled || outcome.After.Note != "" {
			t.Errorf("restless: %+v", outcome.After)
		}
		outcome = perform(t, newScreen(), work.Action{Do: work.Screenshot{}})
		if outcome.After == nil || !outcome.After.Settled || !strings.Contains(outcome.After.Note, "one colour") {
			t.Errorf("blank: %+v", outcome.After)
		}
	})
}

func TestTheSameScreenIsTheSamePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		h := &shelf{kept: map[string][]byte{}}
		first := performWith(t.Context(), s, h, work.Action{Do: work.Screenshot{}}, nil)
		second := performWith(t.Context(), s, h, work.Action{Do: work.Screenshot{}}, nil)
		if first.After.SHA256 != second.After.SHA256 || len(h.kept) != 1 {
			t.Errorf("%d pictures of one screen", len(h.kept))
		}
		_ = changes(s, 0)
		third := performWith(t.Context(), s, h, work.Action{Do: work.Screenshot{}}, nil)
		if third.After.SHA256 == second.After.SHA256 || third.After.Note != "" {
			t.Errorf("a changed screen has the old picture: %+v", third.After)
		}
	})
}
