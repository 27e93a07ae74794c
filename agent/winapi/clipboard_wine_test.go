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
	for _, text := range []string{"Déjà vu: œ € 😀\r\nÀÉ\t.", "", "second"} {
		withClipboard(t, func() error { return system.SetClipboardText(text, 7) })
		if got, found := clipboardText(t); !found || got != text {
			t.Errorf("%q came back as %q, %v", text, got, found)
		}
		for _, format := range []string{"ExcludeClipboardContentFromMonitorProcessing", "CanIncludeInClipboardHistory", "CanUploadToCloudClipboard"} {
			if !winapitest.ClipboardHas(t, format) {
				t.Errorf("%q is there without %s", text, format)
			}
		}
	}
}

func mark(t *testing.T) (mark uint64) {
	t.Helper()
	withClipboard(t, func() (err error) { mark, err = system.ClipboardMark(); return err })
	return mark
}

func replace(t *testing.T, mark uint64, text string, has bool) (replaced bool) {
	t.Helper()
	withClipboard(t, func() (err error) { replaced, err = system.ReplaceClipboard(mark, text, has); return err })
	return replaced
}

func TestB08_WhatLiesUnderAMarkIsReplacedAndNothingElse(t *testing.T) {
	const ours, next = 0x0123456789abcdef, 0x11
	withClipboard(t, func() error { return system.SetClipboardText("ours", ours) })
	if got := mark(t); got != ours {
		t.Errorf("the mark is %x", got)
	}
	if replace(t, next, "another", true) {
		t.Error("a text under another mark is replaced")
	}
	if got, _ := clipboardText(t); got != "ours" {
		t.Errorf("it holds %q", got)
	}
	if !replace(t, ours, "the user's é", true) {
		t.Error("our own text is not replaced")
	}
	if got, found := clipboardText(t); !found || got != "the user's é" || mark(t) != 0 {
		t.Errorf("it holds %q, %v, under the mark %x", got, found, mark(t))
	}
	withClipboard(t, func() error { return system.SetClipboardText("ours", next) })
	if !replace(t, next, "", false) {
		t.Error("our own text is not taken off")
	}
	if got, found := clipboardText(t); found || got != "" {
		t.Errorf("a cleared clipboard holds %q, %v", got, found)
	}
}

func TestB08_AClipboardThatAnotherHoldsIsBusyAndThenFree(t *testing.T) {
	release := winapitest.HoldClipboard(t)
	if err := system.SetClipboardText("too early", 7); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("set: %v", err)
	}
	if _, _, err := system.ClipboardText(); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("get: %v", err)
	}
	if _, err := system.ReplaceClipboard(7, "", false); !errors.Is(err, winapi.ErrBusy) {
		t.Errorf("replace: %v", err)
	}
	over := time.AfterFunc(300*time.Millisecond, release)
	defer over.Stop()
	withClipboard(t, func() error { return system.SetClipboardText("in time", 7) })
	if got, _ := clipboardText(t); got != "in time" {
		t.Errorf("it holds %q", got)
	}
}

func TestAPastedTextArrives(t *testing.T) {
	w := winapitest.Open(t, "takes pastes", place)
	withClipboard(t, func() error { return system.SetClipboardText("pasted é€😀", 7) })
	send(t,
		winapi.KeyEvent{Key: 0x11, Scan: 0x1d}, winapi.KeyEvent{Key: 'V', Scan: 0x2f},
		winapi.KeyEvent{Key: 'V', Scan: 0x2f, Flags: winapi.KeyUp}, winapi.KeyEvent{Key: 0x11, Scan: 0x1d, Flags: winapi.KeyUp})
	w.AwaitText(t, "pasted é€😀")
}
