//go:build windows && wine

package winapi_test

import (
	"runtime"
	"testing"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// Windows keeps lock keys for each thread apart, and Go asks from any.
func TestB07_OnWineCapsLockIsTheSameFromEveryThread(t *testing.T) {
	winapitest.Open(t, "has the keyboard", place)
	was := system.Toggled(vkCapital)
	for _, want := range []bool{!was, was} {
		send(t, winapi.KeyEvent{Key: vkCapital, Scan: 0x3a}, winapi.KeyEvent{Key: vkCapital, Scan: 0x3a, Flags: winapi.KeyUp})
		winapitest.Await(t, "caps lock has changed", func() bool { return system.Toggled(vkCapital) == want })
		const threads = 8
		answers := make(chan bool, threads)
		for range threads {
			go func() {
				runtime.LockOSThread() // never unlocked: each has a thread of its own
				answers <- system.Toggled(vkCapital)
			}()
		}
		for range threads {
			if <-answers != want {
				t.Errorf("a thread says %v, want %v", !want, want)
			}
		}
	}
}
