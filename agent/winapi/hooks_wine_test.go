//go:build windows && wine

package winapi

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// hooksPatience is how long the tests wait for what hooks see.
const hooksPatience = time.Minute

// nothingKey is unassigned: it does nothing anywhere.
const nothingKey = 0xE8

// startHooked starts a Loop whose hooks tell of nothingKey.
func startHooked(t *testing.T) (*Loop, <-chan Seen) {
	t.Helper()
	l, err := StartLoop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, hook(t, l)
}

// hook sets hooks and returns what they see of nothingKey.
func hook(t *testing.T, l *Loop) <-chan Seen {
	t.Helper()
	seen := make(chan Seen, 8)
	err := l.Hook(func(s Seen) bool {
		if s.Key == nothingKey && len(seen) < cap(seen) {
			seen <- s
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func press(t *testing.T) {
	t.Helper()
	if _, err := (System{}).SendInput([]Event{KeyEvent{Key: nothingKey}, KeyEvent{Key: nothingKey, Flags: KeyUp}}); err != nil {
		t.Fatal(err)
	}
}

// Shell_NotifyIcon waits some seconds for an Explorer that hangs.
func TestB19_OnWineTheHooksSeeWhileTheThreadOfTheIconWaits(t *testing.T) {
	l, seen := startHooked(t)
	waits, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- l.run(func() {
			close(waits)
			<-release
		})
	}()
	<-waits
	press(t)
	for _, up := range []bool{false, true} {
		select {
		case s := <-seen:
			if s.Up != up || !s.Own {
				t.Errorf("saw %+v, want up %v", s, up)
			}
		case <-time.After(hooksPatience):
			t.Error("the hook has seen nothing")
		}
	}
	close(release) // so long it waited
	if err := <-ended; err != nil && !errors.Is(err, ErrHung) {
		t.Error(err)
	}
}

func TestB19_OnWineHooksThatAreSetAgainSeeEachKeyOnce(t *testing.T) {
	l, first := startHooked(t)
	seen := hook(t, l)
	press(t)
	for range 2 {
		select {
		case <-seen:
		case <-time.After(hooksPatience):
			t.Fatal("the new hook sees nothing")
		}
	}
	if len(first) > 0 || len(seen) > 0 {
		t.Errorf("the old hook saw %d events, the new one %d more", len(first), len(seen))
	}
}

func TestOnWineAClosedLoopLeavesNoThread(t *testing.T) {
	l, seen := startHooked(t)
	icons, err := windows.GetWindowThreadProcessId(windows.HWND(l.hidden), nil)
	if err != nil {
		t.Fatal(err)
	}
	if icons == l.watch.id {
		t.Fatal("there is one thread for both")
	}
	var threads []windows.Handle
	for _, id := range []uint32{icons, l.watch.id} {
		h, err := windows.OpenThread(windows.SYNCHRONIZE, false, id)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = windows.CloseHandle(h) }()
		threads = append(threads, h)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, h := range threads {
		if is, err := windows.WaitForSingleObject(h, 5000); err != nil || is != windows.WAIT_OBJECT_0 {
			t.Errorf("a thread lives on: %#x, %v", is, err)
		}
	}
	press(t)
	if len(seen) > 0 {
		t.Error("a hook is still there")
	}
	if err := l.Hook(func(Seen) bool { return false }); !errors.Is(err, errLoopEnded) {
		t.Errorf("Hook on a closed one: %v", err)
	}
}
