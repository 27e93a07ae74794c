package winapitest

import (
	"testing"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// settle waits until Wine has heard from X that a window has the keyboard, which is
// some time after it is in front. Of the modifier keys Wine then takes up what X does
// not have down, such as all that SendInput pressed, and writes the state of all keys
// and buttons that it read before: one that went up meanwhile is down again. So a
// modifier is pressed here, and Wine takes it up, or has done so before.
func settle(t testing.TB) {
	t.Helper()
	const rightCtrl, scan, looks = 0xA3, 0x1D, 15
	var system winapi.System
	send := func(flags uint32) {
		_, err := system.SendInput([]winapi.Event{winapi.KeyEvent{Key: rightCtrl, Scan: scan, Flags: winapi.KeyExtended | flags}})
		if err != nil {
			t.Fatal(err)
		}
	}
	send(0)
	look := 0
	Await(t, "the keyboard is the window's", func() bool {
		look++
		return look == looks || look > 1 && !system.Pressed(rightCtrl)
	})
	send(winapi.KeyUp)
	Await(t, "no key is down", func() bool { return !system.Pressed(rightCtrl) })
}
