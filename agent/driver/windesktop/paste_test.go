package windesktop

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestB26_NothingOfATextIsInErrorsOrLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newFake()
		w.copied(needle, true)
		d, _ := open(t, w, Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		paste(t, d, needle+" pasted")
		w.onClipboard(func(string) error { return winapi.ErrBusy })
		time.Sleep(time.Minute)
		synctest.Wait()
		w.takes = func([]winapi.Event) int { return 0 }
		for _, in := range []driver.Input{driver.Paste{Text: needle}, driver.Type{Text: needle}, driver.Paste{Text: needle + "\x00"}} {
			err := d.Do(t.Context(), in)
			if err == nil || strings.Contains(err.Error(), needle) {
				t.Errorf("%T: %v", in, err)
			}
		}
		w.onClipboard(nil)
		if got := log.String(); !strings.Contains(got, "was not put back") || strings.Contains(got, needle) {
			t.Errorf("log: %s", got)
		}
	})
}

func TestPastedLinesEndAsWindowsHasThem(t *testing.T) {
	for text, want := range map[string]string{"a\nb": "a\r\nb", "a\r\nb\n": "a\r\nb\r\n", "": "", "é\t€": "é\t€"} {
		if got, err := clipboardText(text); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	d, win := open(t, newFake(), Config{RestoreClipboard: Never})
	for _, text := range []string{"a\x00b", "a\xff"} {
		if err := d.Do(t.Context(), driver.Paste{Text: text}); !errors.Is(err, driver.ErrUnsupported) || !driver.NothingSent(err) {
			t.Errorf("%q: %v; want %v with nothing sent", text, err, driver.ErrUnsupported)
		}
	}
	paste(t, d, "stays")
	if got := win.of.on(); got != "stays" {
		t.Errorf("with Never there is %q", got)
	}
}

func TestTypingThroughTheClipboardArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{TypeMode: Clipboard, PasteKeys: []string{"ctrl", "v"}})
		if err := d.Do(t.Context(), driver.Type{Text: "Grüße 😀\n漢"}); err != nil {
			t.Fatal(err)
		}
		if got := win.told().Text; got != "Grüße 😀\n漢" {
			t.Errorf("arrived: %q", got)
		}
	})
}
