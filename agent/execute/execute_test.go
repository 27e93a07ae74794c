package execute_test

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

func point(x, y float64) *work.Target { return &work.Target{Point: &work.Point{X: x, Y: y}} }

func anchored() *work.Target { return &work.Target{Anchor: &work.Anchor{SHA256: "abc"}} }

// verdict is what an outcome says in short.
func verdict(o work.Outcome) string {
	code := string(o.Code)
	if o.Success() {
		code = "success"
	}
	parts := []string{code, string(o.Completion), string(o.Effect)}
	for _, w := range o.Warnings {
		parts = append(parts, string(w))
	}
	return strings.Join(parts, " ")
}

func TestEachKindSendsItsGestures(t *testing.T) {
	left := driver.Left
	for _, c := range []struct {
		name   string
		action work.Action
		want   []driver.Input
	}{
		{"click", work.Action{Do: work.Click{Button: work.Right, Count: 2, Modifiers: []string{"ctrl"}}, Target: point(0.5, 0.5)},
			[]driver.Input{driver.Click{At: image.Pt(200, 150), Button: driver.Right, Count: 2, Modifiers: []string{"ctrl"}}}},
		{"click without a count", work.Action{Do: work.Click{}, Target: point(0, 0)},
			[]driver.Input{driver.Click{At: image.Pt(0, 0), Count: 1}}},
		{"the last pixel", work.Action{Do: work.Move{}, Target: point(1, 1)}, []driver.Input{driver.Move{At: image.Pt(399, 299)}}},
		{"the other monitor", work.Action{Do: work.Move{}, Target: point(0.5, 0.5), Monitor: new(1)},
			[]driver.Input{driver.Move{At: image.Pt(-100, 100)}}},
		{"where a person showed it", work.Action{Do: work.Move{}, Target: point(0, 0), Corrected: &work.Point{X: 0.25, Y: 0.5}},
			[]driver.Input{driver.Move{At: image.Pt(100, 150)}}},
		{"a point of a window", work.Action{Do: work.Move{}, Target: &work.Target{Window: "editor", Point: &work.Point{X: 0, Y: 1}}},
			[]driver.Input{driver.Move{At: image.Pt(100, 199)}}},
		{"the middle of a window", work.Action{Do: work.Move{}, Target: &work.Target{Window: "EDITOR"}},
			[]driver.Input{driver.Move{At: image.Pt(200, 150)}}},
		{"click in a window, which must be the topmost there", work.Action{Do: work.Click{}, Target: &work.Target{Window: "EDITOR"}},
			[]driver.Input{driver.Click{At: image.Pt(200, 150), Count: 1, On: "1"}}},
		{"scroll in a window", work.Action{Do: work.Scroll{Vertical: 1}, Target: &work.Target{Window: "EDITOR"}},
			[]driver.Input{driver.Scroll{At: image.Pt(200, 150), Vertical: 1, On: "1"}}},
		{"drag from a window", work.Action{Do: work.Drag{To: *point(1, 0)}, Target: &work.Target{Window: "EDITOR"}},
			[]driver.Input{driver.Drag{From: image.Pt(200, 150), To: image.Pt(399, 0), Button: left, On: "1"}}},
		{"type in a window", work.Action{Do: work.Type{Text: "x"}, Target: &work.Target{Window: "EDITOR"}},
			[]driver.Input{driver.Click{At: image.Pt(200, 150), Count: 1, On: "1"}, driver.Type{Text: "x"}}},
		{"drag", work.Action{Do: work.Drag{To: *point(1, 0)}, Target: point(0, 0)},
			[]driver.Input{driver.Drag{From: image.Pt(0, 0), To: image.Pt(399, 0), Button: left}}},
		{"scroll", work.Action{Do: work.Scroll{Vertical: -3}, Target: point(0, 0)}, []driver.Input{driver.Scroll{Vertical: -3}}},
		{"type into the focus", work.Action{Do: work.Type{Text: "été"}}, []driver.Input{driver.Type{Text: "été"}}},
		{"type at a target", work.Action{Do: work.Type{Text: "x", ClearFirst: true}, Target: point(0, 0)},
			[]driver.Input{driver.Click{Count: 1}, driver.Combo{Keys: []string{"ctrl", "a"}}, driver.Type{Text: "x"}}},
		{"type a secret", work.Action{Do: work.Type{Secret: "door"}}, []driver.Input{driver.Type{Text: "sesame"}}},
		{"paste", work.Action{Do: work.Paste{Text: "select 1", ClearFirst: true}},
			[]driver.Input{driver.Combo{Keys: []string{"ctrl", "a"}}, driver.Paste{Text: "select 1"}}},
		{"combo", work.Action{Do: work.Combo{Keys: []string{"ctrl", "enter"}}}, []driver.Input{driver.Combo{Keys: []string{"ctrl", "enter"}}}},
		{"focus", work.Action{Do: work.FocusWindow{Window: work.WindowSelector{Title: "term"}}}, []driver.Input{driver.Focus{WindowID: "2"}}},
		{"wait", work.Action{Do: work.Wait{For: time.Minute}}, nil},
		{"screenshot", work.Action{Do: work.Screenshot{}}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			outcome := perform(t, s, c.action)
			if diff := cmp.Diff(c.want, s.inputs); diff != "" || !outcome.Success() || outcome.Completion != work.Completed {
				t.Errorf("%s: %s %s\n%s", c.name, verdict(outcome), outcome.Message, diff)
			}
		})
	}
}

// iconise makes an icon of the editor.
func iconise(s *screen) {
	s.put(icon(), image.Pt(0, 0))
	s.windows[0].Bounds, s.windows[0].Active = image.Rectangle{}, false
}

func TestAWindowThatComesBackFromBeingAnIconIsWorkedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		bounds, due := s.windows[0].Bounds, time.Now().Add(time.Second)
		iconise(s)
		s.onLook = func(s *screen) {
			if !time.Now().Before(due) {
				s.windows[0].Bounds = bounds
			}
		}
		outcome := perform(t, s, work.Action{Do: work.Click{}, Target: &work.Target{Window: "editor"}})
		if len(s.inputs) != 1 || s.inputs[0].(driver.Click).At != image.Pt(200, 150) {
			t.Errorf("%s, inputs %v", verdict(outcome), s.inputs)
		}
	})
}

func TestWhatKeepsAnActionFromSendingInput(t *testing.T) {
	click := work.Click{}
	for _, c := range []struct {
		name   string
		change func(*screen)
		action work.Action
		want   string
	}{
		{"a locked desktop", func(s *screen) { s.state.Kind = desktop.Locked }, work.Action{Do: click, Target: point(0, 0)}, "desktop_unavailable"},
		{"a desktop locked while it was looked for", func(s *screen) { s.onLook = func(s *screen) { s.state.Kind = desktop.Locked } },
			work.Action{Do: click, Target: anchored()}, "desktop_unavailable"},
		{"another window in front", nil, work.Action{Do: click, Target: point(0, 0), WindowBefore: "terminal"}, "wrong_window"},
		{"a title that is not equal", nil, work.Action{Do: click, Target: point(0, 0), WindowBefore: "editor", Strict: true}, "wrong_window"},
		{"an anchor that is not there", nil, work.Action{Do: click, Target: anchored()}, "target_not_found"},
		{"an anchor that is there twice", func(s *screen) { s.put(icon(), image.Pt(10, 10)); s.put(icon(), image.Pt(200, 10)) },
			work.Action{Do: click, Target: anchored()}, "target_not_found"},
		{"a text, which this agent can't read", nil, work.Action{Do: click, Target: &work.Target{ByText: "OK"}}, "unsupported"},
		{"a text in a window is not the window's middle", nil, work.Action{Do: click, Target: &work.Target{ByText: "OK", Window: "editor"}}, "unsupported"},
		{"a window under another one", func(s *screen) { s.raise("2"); s.windows[0].Bounds = image.Rect(150, 120, 400, 290) },
			work.Action{Do: click, Target: &work.Target{Window: "editor"}}, "target_off_screen"},
		{"a window that is not there", nil, work.Action{Do: click, Target: &work.Target{Window: "browser"}}, "target_not_found"},
		{"a place in a window off the screen", nil, work.Action{Do: click, Target: &work.Target{Window: "terminal", Point: &work.Point{X: 0.9, Y: 0.9}}},
			"target_off_screen"},
		{"a window off the screen altogether", func(s *screen) { s.windows[1].Bounds = image.Rect(500, 400, 600, 500) },
			work.Action{Do: click, Target: &work.Target{Window: "terminal", Anchor: &work.Anchor{SHA256: "abc"}}}, "target_off_screen"},
		{"the middle of a window that is an icon", iconise, work.Action{Do: click, Target: &work.Target{Window: "editor"}}, "target_off_screen"},
		{"a point of a window that is an icon", iconise, work.Action{Do: click, Target: &work.Target{Window: "editor", Point: &work.Point{X: 0.5, Y: 0.5}}}, "target_off_screen"},
		{"a picture in a window that is an icon", iconise, work.Action{Do: click, Target: &work.Target{Window: "editor", Anchor: &work.Anchor{SHA256: "abc"}}}, "target_off_screen"},
		{"a drag to a window that is an icon", iconise, work.Action{Do: work.Drag{To: work.Target{Window: "editor"}}, Target: point(0, 0)}, "target_off_screen"},
		{"a monitor that is not there", nil, work.Action{Do: click, Target: point(0, 0), Monitor: new(2)}, "target_off_screen"},
		{"no place", nil, work.Action{Do: click}, "invalid_action"},
		{"a target without a place", nil, work.Action{Do: click, Target: &work.Target{}}, "invalid_action"},
		{"a kind of another executor", nil, work.Action{Do: nil, Kind: "decision"}, "unsupported"},
		{"an unknown secret", nil, work.Action{Do: work.Type{Secret: "window"}}, "invalid_action"},
		{"a title that is no expression", nil, work.Action{Do: work.FocusWindow{Window: work.WindowSelector{Title: "(", Match: work.Regexp}}}, "invalid_action"},
		{"two windows, none in front", func(s *screen) { s.windows[1].Title = "Editor - other"; s.windows[0].Active = false },
			work.Action{Do: work.FocusWindow{Window: work.WindowSelector{Title: "editor"}}}, "target_not_found"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			if c.change != nil {
				c.change(s)
			}
			outcome := perform(t, s, c.action)
			if len(s.inputs) != 0 || string(outcome.Code) != c.want || outcome.Completion != work.NotStarted || outcome.Message == "" {
				t.Errorf("%s: %s, %d inputs, message %q; want %s", c.name, verdict(outcome), len(s.inputs), outcome.Message, c.want)
			}
		})
	}
}

func TestNothingIsSentUnlessItCouldBeWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		refuse := func() error { return errors.New("the disk is full") }
		outcome := performWith(t.Context(), s, &shelf{}, work.Action{Do: work.Click{}, Target: point(0, 0)}, refuse)
		if len(s.inputs) != 0 || verdict(outcome) != "desktop_unavailable not_started not_checked" || !strings.Contains(outcome.Message, "disk is full") {
			t.Errorf("%s %q, %d inputs", verdict(outcome), outcome.Message, len(s.inputs))
		}
	})
}

func TestAStopEndsEveryWaitAndSaysHowFarItCame(t *testing.T) {
	for _, c := range []struct {
		name   string
		action work.Action
		cause  error
		want   string
	}{
		{"a wait", work.Action{Do: work.Wait{For: time.Hour}}, work.ErrInterrupted, "interrupted not_started not_checked"},
		{"a search", work.Action{Do: work.Click{}, Target: anchored()}, work.ErrTimedOut, "timeout not_started not_checked"},
		{"a wait for a target", work.Action{Do: work.WaitForTarget{}, Target: anchored()}, work.ErrTimedOut, "timeout not_started not_checked"},
		{"a wait for a window", work.Action{Do: work.WaitForWindow{Window: work.WindowSelector{Title: "x"}}}, work.ErrTimedOut, "timeout not_started not_checked"},
		{"the look at the effect", work.Action{Do: work.Combo{Keys: []string{"a"}}, Effect: work.ExpectChange}, work.ErrInterrupted, "interrupted completed not_checked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(900*time.Millisecond, func() { stop(c.cause) })
			began := time.Now()
			outcome := performWith(ctx, newScreen(), &shelf{}, c.action, nil)
			if got := verdict(outcome); got != c.want {
				t.Errorf("%s: %s %q, want %s", c.name, got, outcome.Message, c.want)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s: stopped after %v", c.name, took)
			}
		})
	}
}

func TestAWaitForAWindowNamesTheWindowsThatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(work.ErrTimedOut) })
		a := work.Action{Do: work.WaitForWindow{Window: work.WindowSelector{Title: "browser"}}}
		outcome := performWith(ctx, newScreen(), &shelf{}, a, nil)
		if !strings.Contains(outcome.Message, `"Editor - notes", "Terminal"`) {
			t.Errorf("message %q", outcome.Message)
		}
	})
}

func TestAWaitForAWindowThatIsThereSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := work.Action{Do: work.WaitForWindow{Window: work.WindowSelector{Title: "terminal"}}}
		outcome := performWith(t.Context(), newScreen(), &shelf{}, a, nil)
		if !outcome.Success() {
			t.Errorf("%s: %s", verdict(outcome), outcome.Message)
		}
	})
}

func TestTooSmallADisplayIsUnusable(t *testing.T) {
	e := execute.New(execute.Config{Driver: newScreen(), MinDisplay: image.Pt(401, 300)})
	if got := e.Desktop(t.Context()); got.Kind != desktop.DisplayTooSmall || !strings.Contains(got.Detail, "400×300") {
		t.Errorf("state %v: %s", got.Kind, got.Detail)
	}
	e = execute.New(execute.Config{Driver: newScreen(), MinDisplay: image.Pt(400, 300)})
	if got := e.Desktop(t.Context()); !got.Usable() {
		t.Errorf("state %v: %s", got.Kind, got.Detail)
	}
}

func TestEveryWayToNameAWindow(t *testing.T) {
	for _, c := range []struct {
		window work.WindowSelector
		want   string
	}{
		{work.WindowSelector{Title: "TERM"}, "2"},
		{work.WindowSelector{Title: "Terminal", Match: work.Exact}, "2"},
		{work.WindowSelector{Title: "terminal", Match: work.Exact}, ""},
		{work.WindowSelector{Title: "^T.*l$", Match: work.Regexp}, "2"},
		{work.WindowSelector{Title: "T.*l$", Match: work.Contains}, ""},
		{work.WindowSelector{Process: "EDITOR.EXE"}, "1"},
		{work.WindowSelector{Process: "editor.exe", Title: "terminal"}, ""},
		{work.WindowSelector{Class: "x"}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			outcome := perform(t, s, work.Action{Do: work.FocusWindow{Window: c.window}})
			got := ""
			if len(s.inputs) == 1 {
				got = s.inputs[0].(driver.Focus).WindowID
			}
			if got != c.want || outcome.Success() != (c.want != "") {
				t.Errorf("%+v: window %q (%s), want %q", c.window, got, outcome.Message, c.want)
			}
		})
	}
}
