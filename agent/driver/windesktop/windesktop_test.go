package windesktop

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestConfigReportsAllFaultsAtOnce(t *testing.T) {
	_, err := newDriver(Config{
		TypeMode: 9, TypePace: -1, PasteKeys: []string{"hyper"}, ClipboardRetry: -1, RestoreClipboard: -5, FocusTime: -1, MinSize: image.Pt(-1, 0),
	}, newFake())
	for _, field := range []string{"TypeMode", "TypePace", "PasteKeys", "ClipboardRetry", "RestoreClipboard", "FocusTime", "MinSize"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	if _, err := newDriver(Config{PasteKeys: []string{}}, newFake()); err == nil {
		t.Error("no paste key is accepted")
	}
	d, err := newDriver(Config{}, newFake())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(d.config.TypeMode, d.config.TypePace, d.config.PasteKeys, d.config.ClipboardRetry, d.config.RestoreClipboard, d.config.FocusTime)
	if want := "0 5ms [ctrl v] 2s 1s 2s"; got != want {
		t.Errorf("defaults: %s, want %s", got, want)
	}
}

// Without it Windows stretches what a program built without a manifest sees and sends.
func TestB03_ADriverMakesItsProcessSpeakOfPhysicalPixelsOrSaysThatItDoesNot(t *testing.T) {
	for _, unaware := range []error{nil, errors.New("access is denied")} {
		var said bytes.Buffer
		w := newFake()
		w.unaware = unaware
		if _, err := newDriver(Config{Log: slog.New(slog.NewTextHandler(&said, nil))}, w); err != nil || !w.aware {
			t.Errorf("%v; asked for: %v", err, w.aware)
		}
		if got := strings.Contains(said.String(), "access is denied"); got != (unaware != nil) {
			t.Errorf("with %v it says %q", unaware, said.String())
		}
	}
}

func TestGesturesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, win := open(t, w, Config{})
		done := make(chan error)
		for range 3 {
			go func() { done <- d.Do(t.Context(), driver.Type{Text: "abcdefgh "}) }()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := win.told().Text; got != strings.Repeat("abcdefgh ", 3) {
			t.Errorf("arrived: %q", got)
		}
	})
}

// A menu, a list or a tooltip is part of its window; a dialog over it is not, though it is
// of the same program.
func TestB05_AClickForAWindowGoesToItOrToAPartOfItAlone(t *testing.T) {
	over := image.Rect(150, 150, 300, 300)
	for name, c := range map[string]struct {
		title string
		pid   uint32
		goes  bool
	}{
		"a menu of its program":    {"", 0, true},
		"a dialog of its program":  {"Save as", 0, false},
		"another program's window": {"Mail", 99, false},
		"another program's menu":   {"", 99, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				d, meant := open(t, w, Config{})
				w.open(c.title, over).pid = c.pid
				in := driver.Click{At: image.Pt(200, 200), Count: 1, On: windowID(meant.hwnd, fakePID)}
				err := d.Do(t.Context(), in)
				if (err == nil) != c.goes || !c.goes && (!errors.Is(err, driver.ErrOffScreen) || !driver.NothingSent(err) || len(w.taken()) > 0) {
					t.Errorf("%v, sent %v", err, w.taken())
				}
				in.At = image.Pt(110, 110) // beside it
				if err := d.Do(t.Context(), in); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
