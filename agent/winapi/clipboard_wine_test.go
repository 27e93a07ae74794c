//go:build windows && wine

package winapi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// withClipboard tries until the clipboard is free: programs of the display look at it
// whenever it changes.
func withClipboard(t *testing.T, use func() error) {
	t.Helper()
	winapitest.Await(t, "the clipboard is free", func() bool {
		err := use()
		if err != nil && !errors.Is(err, winapi.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
}

func clipboardText(t *testing.T) (text string, found bool) {
	t.Helper()
	withClipboard(t, func() (err error) { text, found, err = system.ClipboardText(); return err })
	return text, found
}

func TestB08_TextGoesOntoTheClipboardAndComesBack(t *testing.T) {
	before := system.ClipboardSequence()
	for _, text := range []string{"Déjà vu: œ € 😀\r\nÀÉ\t.", "", "second"} {
		withClipboard(t, func() error { return system.SetClipboardText(text) })
		if got, found := clipboardText(t); !found || got != text {
			t.Errorf("%q came back as %q, %v", text, got, found)
		}
		for _, format := range []string{"ExcludeClipboardContentFromMonitorProcessing", "CanIncludeInClipboardHistory", "CanUploadToCloudClipboard"} {
			if !winapitest.ClipboardHas(t, format) {
				t.Errorf("%q is there without %s", text, format)
			}
		}
	}
	if after := system.ClipboardSequence(); after == before {
		t.Errorf("the clipboard changed and its count is still %d", after)
	}
	withClipboard(t, system.ClearClipboard)
	if got, found := clipboardText(t); found || got != "" {
		t.Errorf("a cleared clipboard holds %q, %v", got, found)
	}
}

func TestB08_AClipboardThatAnotherHoldsIsBusyAndThenFree(t *testing.T) {
	release := winapitest.HoldClipboard(t)
	over := time.AfterFunc(300*time.Millisecond, release)
	defer over.Stop()
	if err := system.SetClipboardText("too early"); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("set: %v", err)
	}
	if _, _, err := system.ClipboardText(); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("get: %v", err)
	}
	if err := system.ClearClipboard(); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("clear: %v", err)
	}
	withClipboard(t, func() error { return system.SetClipboardText("in time") })
	if got, _ := clipboardText(t); got != "in time" {
		t.Errorf("it holds %q", got)
	}
}

func TestAPastedTextArrives(t *testing.T) {
	w := winapitest.Open(t, "takes pastes", place)
	withClipboard(t, func() error { return system.SetClipboardText("pasted é€😀") })
	send(t,
		winapi.KeyEvent{Key: 0x11, Scan: 0x1d}, winapi.KeyEvent{Key: 'V', Scan: 0x2f},
		winapi.KeyEvent{Key: 'V', Scan: 0x2f, Flags: winapi.KeyUp}, winapi.KeyEvent{Key: 0x11, Scan: 0x1d, Flags: winapi.KeyUp})
	w.AwaitText(t, "pasted é€😀")
}
