//go:build windows && wine

package windesktop

import (
	"errors"
	"image"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// copied puts a text on the clipboard as a person does.
func copied(t *testing.T, text string) {
	t.Helper()
	winapitest.Await(t, "the text is on the clipboard", func() bool { return winapi.System{}.SetClipboardText(text, 0) == nil })
}

func awaitClipboard(t *testing.T, want string) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(winapitest.Patience)
	for {
		got, _, err := winapi.System{}.ClipboardText()
		if err == nil && got == want {
			return
		}
		select {
		case <-again.C:
		case <-bound:
			t.Fatalf("the clipboard holds %q, %v; want %q", got, err, want)
		}
	}
}

// takenWithin is what a window gets to take a paste, on a machine that has much else to do.
const takenWithin = 3 * time.Second

func TestB08_AClipboardThatIsHeldForAMomentDoesNotStopAPaste(t *testing.T) {
	d := openReal(t, Config{RestoreClipboard: takenWithin, ClipboardRetry: winapitest.Patience})
	w := winapitest.Open(t, "is pasted into", image.Rect(40, 60, 440, 360))
	copied(t, "the user's")
	release, free := winapitest.HoldClipboard(t), atomic.Bool{}
	over := time.AfterFunc(300*time.Millisecond, func() {
		free.Store(true)
		release()
	})
	defer over.Stop()
	if err := d.Do(t.Context(), driver.Paste{Text: "pasted é 😀"}); err != nil {
		t.Fatal(err)
	}
	if !free.Load() {
		t.Error("pasted while another program held the clipboard")
	}
	w.AwaitText(t, "pasted é 😀")
	awaitClipboard(t, "the user's")
}

func TestB08_AClipboardThatStaysHeldIsAnErrorWithNothingTyped(t *testing.T) {
	d := openReal(t, Config{ClipboardRetry: 400 * time.Millisecond, RestoreClipboard: takenWithin})
	w := winapitest.Open(t, "is pasted into", image.Rect(40, 60, 440, 360))
	copied(t, "the user's")
	release := winapitest.HoldClipboard(t)
	began := time.Now()
	err := d.Do(t.Context(), driver.Paste{Text: "never"})
	if !errors.Is(err, driver.ErrBlocked) || !errors.Is(err, winapi.ErrBusy) || !driver.NothingSent(err) {
		t.Errorf("%v; want %v with nothing sent", err, driver.ErrBlocked)
	}
	if took := time.Since(began); took < 400*time.Millisecond || took > winapitest.Patience {
		t.Errorf("tried for %v", took)
	}
	release()
	awaitClipboard(t, "the user's")
	if err := d.Do(t.Context(), driver.Paste{Text: "afterwards"}); err != nil {
		t.Fatal(err)
	}
	w.AwaitText(t, "afterwards")
}

func TestB08_ALongTextIsPastedIntoAControlOfWindows(t *testing.T) {
	d := openReal(t, Config{TypeMode: Clipboard})
	edit := winapitest.OpenEdit(t, "is pasted into", image.Rect(40, 60, 440, 360))
	text := mixed(1, 20_000)
	if err := d.Do(t.Context(), driver.Type{Text: text}); err != nil {
		t.Fatal(err)
	}
	awaitAll(t, "pasted", edit, text)
}
