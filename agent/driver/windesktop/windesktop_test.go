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
