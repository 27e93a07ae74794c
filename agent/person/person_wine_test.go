//go:build windows && wine

// Here the person is xdotool: what it does comes from the X display as a hand's would,
// and not from a program of Windows.

package person

import (
	"bytes"
	"context"
	"errors"
	"image"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/windesktop"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

var system winapi.System

// place is where the tests open windows, on the primary monitor.
var place = image.Rect(60, 60, 560, 460)

// hand moves the mouse and presses keys at the X display.
func hand(t *testing.T, does ...string) {
	t.Helper()
	unix(t, "/usr/bin/xdotool", does...)
}

// unix runs a program of the system below Wine.
func unix(t *testing.T, program string, args ...string) {
	t.Helper()
	if _, err := os.Stat("Z:" + strings.ReplaceAll(program, "/", `\`)); err != nil {
		t.Skipf("%s is not installed: nobody can play the person (%v)", program, err)
	}
	out, err := exec.CommandContext(t.Context(), "start.exe", append([]string{"/wait", "/unix", program}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
}

// opened is a window that the person has clicked into, so that it has the keyboard of the
// X display as well: that Windows gives it one says nothing about where a hand's keys go.
func opened(t *testing.T, title string, bounds image.Rectangle) *winapitest.Window {
	t.Helper()
	w := winapitest.Open(t, title, bounds)
	at := w.Area().Min.Add(image.Pt(30, 30)).Sub(system.VirtualScreen().Min)
	hand(t, "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "1", "key", "q")
	w.AwaitText(t, "q")
	return w
}

// openReal makes a guard around the desktop of this Windows.
func openReal(t *testing.T, s Settings) (*Guard, *bytes.Buffer) {
	t.Helper()
	d, err := windesktop.New(windesktop.Config{RestoreClipboard: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	g, err := New(Config{Driver: d, Settings: s, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if g.machine == nil {
		t.Fatalf("there is no person's side: %s", log)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Release(context.WithoutCancel(t.Context())), g.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		t.Logf("log: %s", log)
	})
	return g, log
}

// down are the keys and buttons that Windows holds to be down.
func downNow() (vks []uint16) {
	for vk := uint16(1); vk < 0xE8; vk++ {
		if vk != 0x15 && system.Pressed(vk) {
			vks = append(vks, vk)
		}
	}
	return vks
}

func TestB19_OnWineTheStopKeyStopsTypingInTheMiddleAndNothingStaysDown(t *testing.T) {
	g, _ := openReal(t, Settings{})
	w := opened(t, "is typed into", place)
	told := attend(t, g)
	ended := make(chan error, 1)
	text := strings.Repeat("abcdefghij", 300)
	go func() { ended <- g.Do(t.Context(), driver.Type{Text: text}) }()
	winapitest.Await(t, "some of it is there", func() bool { return len(w.Text()) > 30 })
	hand(t, "keydown", "ctrl", "keydown", "alt", "keydown", "BackSpace")
	err := <-ended
	if !errors.Is(err, driver.ErrStopped) {
		t.Fatalf("typing ended with %v", err)
	}
	sent := sentBefore(t, err)
	if err := g.Do(t.Context(), driver.Type{Text: "X"}); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
		t.Errorf("after the stop: %v", err)
	}
	hand(t, "keyup", "BackSpace", "keyup", "alt", "keyup", "ctrl")
	winapitest.Await(t, "nothing is down", func() bool { return len(downNow()) == 0 })
	if act := <-told; act.Kind != driver.Stopped || act.By != "stop key" {
		t.Errorf("told of %+v", act)
	}
	got := w.Text()
	// While the person holds ctrl and alt, a letter is another character.
	whole := strings.TrimRightFunc(got, func(r rune) bool { return r > 'z' })
	if letters := len([]rune(got)) - 1; 2*letters != sent || letters >= len(text) || !strings.HasPrefix("q"+text, whole) || len(whole) < 30 {
		t.Errorf("%d letters were typed, %d events sent: %q", letters, sent, got)
	}
	for _, m := range w.Messages() {
		if m.ID == 0x0100 && m.WParam == vkBackspace || m.ID == 0x0104 && m.WParam == vkBackspace {
			t.Error("the window got the stop key")
		}
	}
	if err := g.GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Do(t.Context(), driver.Type{Text: "!"}); err != nil {
		t.Errorf("after GoOn: %v", err)
	}
	w.AwaitText(t, got+"!")
}

// An event that is on its way when the stop comes: what SendInput takes, no window gets.
func TestB19_OnWineTheHooksKeepTheAgentsInputAfterAStop(t *testing.T) {
	g, _ := openReal(t, Settings{})
	w := opened(t, "gets nothing", place)
	at := w.Area().Min.Add(image.Pt(40, 40))
	if err := g.Do(t.Context(), driver.Move{At: at}); err != nil {
		t.Fatal(err)
	}
	hand(t, "key", "ctrl+alt+BackSpace")
	winapitest.Await(t, "it is stopped", func() bool { _, is := g.brake.stopped(); return is })
	before := len(w.Messages())
	send := func(events ...winapi.Event) {
		if _, err := system.SendInput(events); err != nil {
			t.Logf("SendInput: %v", err)
		}
	}
	send(winapi.KeyEvent{Key: vkA, Scan: 0x1e}, winapi.KeyEvent{Key: vkA, Scan: 0x1e, Flags: winapi.KeyUp},
		winapi.MouseEvent{Flags: winapi.MouseLeftDown}, winapi.MouseEvent{Flags: winapi.MouseLeftUp},
		winapi.MouseEvent{X: 100, Y: 100, Flags: winapi.MouseMove | winapi.MouseAbsolute | winapi.MouseVirtualDesk})
	if err := g.GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Do(t.Context(), driver.Type{Text: "!"}); err != nil {
		t.Fatal(err)
	}
	w.AwaitText(t, "q!")
	for _, m := range w.Messages()[before:] {
		if m.ID == 0x0201 || m.ID == 0x0100 && m.WParam == vkA {
			t.Errorf("the window got message %#x, %#x", m.ID, m.WParam)
		}
	}
	if len(downNow()) > 0 {
		t.Errorf("%v are down", downNow())
	}
}

func TestOnWineThePersonsInputIsToldAndTheAgentsIsNot(t *testing.T) {
	g, _ := openReal(t, Settings{OwnInput: true})
	w := opened(t, "is used", place)
	told := attend(t, g)
	at := w.Area().Min.Add(image.Pt(40, 40))
	for _, in := range []driver.Input{
		driver.Move{At: at}, driver.Click{At: at.Add(image.Pt(100, 100)), Count: 2}, driver.Type{Text: "abc é"},
		driver.Combo{Keys: []string{"ctrl", "a"}}, driver.Scroll{At: at, Vertical: -2},
		driver.Drag{From: at, To: at.Add(image.Pt(200, 100))},
	} {
		if err := g.Do(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(by string) {
		t.Helper()
		select {
		case act := <-told:
			if act.Kind != driver.Used || act.By != by {
				t.Errorf("told of %+v, want the %s", act, by)
			}
		case <-time.After(winapitest.Patience):
			t.Errorf("not told of the %s", by)
		}
	}
	hand(t, "mousemove_relative", "20", "10", "sleep", "0.06", "mousemove_relative", "20", "10", "sleep", "0.06", "mousemove_relative", "20", "20", "sleep", "0.06", "mousemove_relative", "20", "20") // after whatever the agent's own would have been told as
	heard("mouse")
	hand(t, "key", "z")
	heard("keyboard")
	if len(told) > 0 {
		t.Errorf("told as well of %+v", <-told)
	}
}

// Wine shows the notification area in a window of its own.
// notice is a pause in the user's way, with a window below it.
// has says how many pixels of a colour there are in an area of the screen as it is seen.
