package windesktop

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

const needle = "S3cr3t-needle-42"

// pasting is a driver on a clipboard that holds a text of the user.
func pasting(t *testing.T, config Config) (*Driver, *fakeWindow) {
	t.Helper()
	w := newFake()
	w.copied("the user's", true)
	return open(t, w, config)
}

// on is the text on the clipboard; "-" if there is none.
func (w *fakeWindows) on() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hasText {
		return "-"
	}
	return w.text
}

func paste(t *testing.T, d *Driver, text string) {
	t.Helper()
	if err := d.Do(t.Context(), driver.Paste{Text: text}); err != nil {
		t.Fatal(err)
	}
}

func TestB08_TheFormerTextComesBackOnceTheTargetHadItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		began := time.Now()
		paste(t, d, "ours")
		if took := time.Since(began); took != 0 {
			t.Errorf("the paste waits %v", took)
		}
		time.Sleep(time.Second - 1)
		synctest.Wait()
		if got := win.of.on(); got != "ours" {
			t.Errorf("just before its time there is %q", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := win.of.on(); got != "the user's" || win.told().Text != "ours" {
			t.Errorf("after its time there is %q, and %q arrived", got, win.told().Text)
		}
	})
}

func TestB08_ATextThatSomebodyCopiedSinceIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		paste(t, d, "ours")
		time.Sleep(time.Millisecond)
		win.of.copied("copied since", true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "copied since" {
			t.Errorf("there is %q", got)
		}
	})
}

func TestB08_TwoPastesKeepTheFirstOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		paste(t, d, "one")
		began := time.Now()
		paste(t, d, "two")
		if gap := time.Since(began); gap != pasteGap {
			t.Errorf("the second paste comes after %v: the target must have taken the first one, and no more", gap)
		}
		time.Sleep(time.Second - 1) // past the first paste's restore
		synctest.Wait()
		if got := win.of.on(); got != "two" {
			t.Errorf("while the second one has its time there is %q", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := win.of.on(); got != "the user's" || win.told().Text != "onetwo" {
			t.Errorf("in the end there is %q, and %q arrived", got, win.told().Text)
		}
	})
}

func TestB08_ATextCopiedBetweenTwoPastesIsTheNextOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		paste(t, d, "one")
		win.of.copied("copied between", true)
		paste(t, d, "two")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "copied between" {
			t.Errorf("in the end there is %q", got)
		}
	})
}

func TestB08_AClipboardWithoutTextIsEmptyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := open(t, newFake(), Config{})
		paste(t, d, "ours")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := win.of.on(); got != "-" {
			t.Errorf("there is %q", got)
		}
	})
}

func TestB08_ABusyClipboardIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		free := time.Now().Add(300 * time.Millisecond)
		win.of.onClipboard(func(string) error {
			if time.Now().Before(free) {
				return winapi.ErrBusy
			}
			return nil
		})
		paste(t, d, "ours")
		if got := win.told().Text; got != "ours" {
			t.Errorf("arrived: %q", got)
		}
	})
}

func TestB08_AClipboardThatStaysBusyIsAnErrorInTime(t *testing.T) {
	for _, call := range []string{"read", "set"} {
		synctest.Test(t, func(t *testing.T) {
			d, win := pasting(t, Config{})
			win.of.onClipboard(func(c string) error {
				if c == call {
					return fmt.Errorf("open clipboard: %w", winapi.ErrBusy)
				}
				return nil
			})
			began := time.Now()
			err := d.Do(t.Context(), driver.Paste{Text: needle})
			if !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) || strings.Contains(err.Error(), needle) {
				t.Errorf("%v; want %v with nothing sent", err, driver.ErrBlocked)
			}
			if took := time.Since(began); took < 2*time.Second || took > 2*time.Second+busyPause {
				t.Errorf("after %v, want 2 s", took)
			}
			if win.told().Text != "" || win.of.on() != "the user's" {
				t.Errorf("arrived: %q; there is %q", win.told().Text, win.of.on())
			}
		})
	}
}

func TestB08_APasteThatFailsStillPutsTheFormerTextBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		paste(t, d, "one")
		win.of.onClipboard(func(c string) error {
			if c == "set" {
				return winapi.ErrBusy
			}
			return nil
		})
		if err := d.Do(t.Context(), driver.Paste{Text: "two"}); !errors.Is(err, driver.ErrBlocked) {
			t.Fatal(err)
		}
		win.of.onClipboard(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "the user's" {
			t.Errorf("a second paste that never began: there is %q", got)
		}
		win.of.takes = func([]winapi.Event) int { return 0 }
		if err := d.Do(t.Context(), driver.Paste{Text: "three"}); !errors.Is(err, driver.ErrBlocked) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "the user's" {
			t.Errorf("a paste key that was refused: there is %q", got)
		}
	})
}

func TestB08_ARestoreUnderWayDelaysNoGesture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{ClipboardRetry: time.Minute})
		paste(t, d, "one")
		busy := true
		win.of.onClipboard(func(string) error {
			if busy {
				return winapi.ErrBusy
			}
			return nil
		})
		time.Sleep(5 * time.Second) // the restore is being tried
		began := time.Now()
		if err := d.Do(t.Context(), driver.Combo{Keys: []string{"f2"}}); err != nil || time.Since(began) != 0 {
			t.Errorf("a combo after %v: %v", time.Since(began), err)
		}
		time.AfterFunc(busyPause/2, func() {
			win.of.mu.Lock()
			defer win.of.mu.Unlock()
			busy = false
		})
		paste(t, d, "two")
		if took := time.Since(began); took > 2*busyPause {
			t.Errorf("a paste after %v", took)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "the user's" {
			t.Errorf("in the end there is %q", got)
		}
	})
}

func TestCloseWaitsForTheClipboardAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.copied("the user's", true)
		w.open("in front", w.screens[0])
		d, err := newDriver(Config{}, w)
		if err != nil {
			t.Fatal(err)
		}
		paste(t, d, "ours")
		began := time.Now()
		if err := d.Close(); err != nil || time.Since(began) != time.Second || w.on() != "the user's" {
			t.Errorf("closed after %v: %v; there is %q", time.Since(began), err, w.on())
		}
		if err := d.Do(t.Context(), driver.Combo{Keys: []string{"f2"}}); !errors.Is(err, errClosed) || !driver.NothingSent(err) {
			t.Errorf("a gesture after closing: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	})
}
