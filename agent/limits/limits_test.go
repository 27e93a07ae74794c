package limits

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// refused fails unless err says that a rule kept a gesture from sending anything.
func refused(t *testing.T, err error) {
	t.Helper()
	told, ok := driver.Telling(err)
	if !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) || !ok || !strings.Contains(told, "never-type-into") {
		t.Errorf("got %v, telling %q", err, told)
	}
}

func TestNoGestureGoesIntoAForbiddenWindow(t *testing.T) {
	in, beside := image.Pt(150, 50), image.Pt(50, 50)
	for name, tt := range map[string]struct {
		front   driver.Window
		gesture driver.Input
		refused bool
	}{
		"text in front":      {vault, driver.Type{Text: "x"}, true},
		"paste in front":     {vault, driver.Paste{Text: "x"}, true},
		"combo in front":     {vault, driver.Combo{Keys: []string{"enter"}}, true},
		"click":              {mail, driver.Click{At: in, Count: 1}, true},
		"drag from":          {mail, driver.Drag{From: in, To: beside}, true},
		"drag to":            {mail, driver.Drag{From: beside, To: in}, true},
		"wheel":              {mail, driver.Scroll{At: in, Vertical: 1}, true},
		"text elsewhere":     {mail, driver.Type{Text: "x"}, false},
		"paste elsewhere":    {mail, driver.Paste{Text: "x"}, false},
		"combo elsewhere":    {mail, driver.Combo{Keys: []string{"enter"}}, false},
		"click beside":       {vault, driver.Click{At: beside, Count: 1}, false},
		"click on no window": {vault, driver.Click{At: image.Pt(250, 150), Count: 1}, false},
		"move":               {vault, driver.Move{At: in}, false},
		"focus":              {mail, driver.Focus{WindowID: "vault"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				f.show(tt.front, mail, vault)
				err := limited(t, f, keepass, nil).Do(t.Context(), tt.gesture)
				if !tt.refused {
					if err != nil || len(f.sent) != 1 {
						t.Errorf("%v, %d gestures sent", err, len(f.sent))
					}
					return
				}
				refused(t, err)
				if len(f.sent) != 0 {
					t.Errorf("sent %v", f.sent)
				}
			})
		})
	}
}

func TestAWindowThatCoversAForbiddenOneMayBeClicked(t *testing.T) {
	over := mail
	over.Bounds = vault.Bounds
	f := (&fake{}).show(over, vault)
	if err := limited(t, f, keepass, nil).Do(t.Context(), driver.Click{At: image.Pt(150, 50), Count: 1}); err != nil {
		t.Error(err)
	}
}

func TestB05_TypingStopsWhenAForbiddenWindowComesToTheFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const after = 40
		f := (&fake{}).show(mail, vault)
		f.meanwhile = func(typed int) {
			if typed == after {
				f.show(vault, mail)
			}
		}
		err := limited(t, f, keepass, nil).Do(t.Context(), driver.Type{Text: strings.Repeat("x", 400)})
		var in *driver.InputError
		if !errors.As(err, &in) || !errors.Is(err, driver.ErrBlocked) || in.Sent != f.typed {
			t.Fatalf("Do = %v with %d typed", err, f.typed)
		}
		if late := f.typed - after; late < 0 || late > int(lookEvery/(5*time.Millisecond))+1 {
			t.Errorf("%d characters were typed after the window came", late)
		}
		if told, _ := driver.Telling(err); !strings.Contains(told, "never-type-into") {
			t.Errorf("the error tells %q", told)
		}
	})
}

func TestAnEndOfTheContextStaysWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the server cancels")
		ctx, stop := context.WithCancelCause(t.Context())
		f := (&fake{}).show(mail)
		f.meanwhile = func(typed int) {
			if typed == 3 {
				stop(cause)
			}
		}
		err := limited(t, f, keepass, nil).Do(ctx, driver.Type{Text: "abcdefgh"})
		if !errors.Is(err, cause) || errors.Is(err, driver.ErrBlocked) {
			t.Errorf("Do = %v", err)
		}
	})
}

func TestNothingIsTypedWhileNobodyKnowsIntoWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := (&fake{}).show()
		d := limited(t, f, keepass, nil)
		err := d.Do(t.Context(), driver.Type{Text: "x"})
		if !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) || len(f.sent) != 0 {
			t.Errorf("with no window in front: %v, sent %v", err, f.sent)
		}
		go func() { time.Sleep(time.Second); f.show(mail) }()
		if err := d.Do(t.Context(), driver.Type{Text: "x"}); err != nil {
			t.Errorf("with a window that comes after 1 s: %v", err)
		}
		f.listed = errors.New("no windows")
		for _, in := range []driver.Input{driver.Type{Text: "x"}, driver.Click{Count: 1}} {
			if err := d.Do(t.Context(), in); !errors.Is(err, f.listed) || !driver.NothingSent(err) {
				t.Errorf("without a list of windows: %v", err)
			}
		}
	})
}

func TestARuleMeansTheWindowsThatMatchAllThatItSays(t *testing.T) {
	unknown := vault
	unknown.Process = ""
	for name, tt := range map[string]struct {
		rule   Rule
		window driver.Window
		want   bool
	}{
		"process in any case":      {Rule{Process: "KEEPASS.EXE"}, vault, true},
		"another process":          {Rule{Process: "pass.exe"}, vault, false},
		"a process nobody knows":   {Rule{Process: "keepass.exe"}, unknown, true},
		"title contained":          {Rule{Title: "keepass"}, vault, true},
		"title not contained":      {Rule{Title: "bitwarden"}, vault, false},
		"title exact":              {Rule{Title: "Vault - KeePass", Match: Exact}, vault, true},
		"title exact in parts":     {Rule{Title: "Vault", Match: Exact}, vault, false},
		"regexp":                   {Rule{Title: "^Vault", Match: Regexp}, vault, true},
		"regexp that fails":        {Rule{Title: "^KeePass", Match: Regexp}, vault, false},
		"a dot is a dot":           {Rule{Title: "V.ult"}, vault, false},
		"class":                    {Rule{Class: "keepassmain"}, vault, true},
		"one of two does not fit":  {Rule{Class: "KeePassMain", Title: "Inbox"}, vault, false},
		"unknown, but wrong title": {Rule{Process: "keepass.exe", Title: "Inbox"}, unknown, false},
	} {
		r, err := NewRule(name, tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.means(tt.window); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEachLimitLeavesTheOtherAlone(t *testing.T) {
	f := (&fake{}).show(vault)
	if err := limited(t, f, nil, keepass).Do(t.Context(), driver.Paste{Text: "x"}); err != nil {
		t.Error(err)
	}
	if p, err := limited(t, f, keepass, nil).Capture(t.Context()); err != nil || blackAt(p, 150, 50) {
		t.Errorf("a picture: %v", err)
	}
}

func TestALimitedDesktopHasWhatTheDesktopHas(t *testing.T) {
	f := (&fake{}).show(mail)
	for name, tt := range map[string]struct {
		desktop            driver.Driver
		elements, attended bool
	}{
		"bare": {f, false, false}, "tree": {tree{f}, true, false}, "seat": {seat{f}, false, true},
		"both": {struct {
			driver.Driver
			finder
			driver.Attended
		}{f, finder{tree{f}}, seat{f}}, true, true},
	} {
		d := limited(t, tt.desktop, keepass, keepass)
		e, elements := d.(driver.Elements)
		a, attended := d.(driver.Attended)
		if elements != tt.elements || attended != tt.attended {
			t.Errorf("%s: elements %v, attended %v", name, elements, attended)
			continue
		}
		if elements {
			if found, err := e.Elements(t.Context(), "", driver.Element{}); len(found) != 7 || err != nil {
				t.Errorf("%s: %v, %v", name, found, err)
			}
		}
		if attended && !errors.Is(a.GoOn(t.Context()), driver.ErrStopped) {
			t.Errorf("%s: GoOn does not reach the desktop", name)
		}
		f.show(vault)
		refused(t, d.Do(t.Context(), driver.Paste{Text: "x"}))
		f.show(mail)
	}
	if d := Wrap(f, Rules{}); d != driver.Driver(f) {
		t.Error("a desktop without limits is wrapped")
	}
}

// Whatever windows there are and whatever is clicked, no click reaches a forbidden one.
func TestNoClickReachesAForbiddenWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		place := func(name string) image.Point {
			return image.Pt(rapid.IntRange(-50, 50).Draw(rt, name+" x"), rapid.IntRange(-50, 50).Draw(rt, name+" y"))
		}
		var windows []driver.Window
		for i := range rapid.IntRange(0, 6).Draw(rt, "windows") {
			w := []driver.Window{mail, vault}[rapid.IntRange(0, 1).Draw(rt, "kind")]
			w.ID += string(rune('a' + i))
			w.Bounds = image.Rectangle{Min: place("a"), Max: place("b")}.Canon()
			windows = append(windows, w)
		}
		at := place("click")
		f := (&fake{}).show(windows...)
		err := limited(t, f, keepass, nil).Do(t.Context(), driver.Click{At: at, Count: 1})
		hit := ""
		for i := len(windows) - 1; i >= 0; i-- { // the topmost last
			if at.In(windows[i].Bounds) {
				hit = windows[i].Process
			}
		}
		if forbidden := hit == vault.Process; forbidden != (err != nil) || forbidden == (len(f.sent) == 1) {
			rt.Fatalf("a click at %v into %q: %v, sent %v", at, hit, err, f.sent)
		}
	})
}
