//go:build x11

package x11desktop

import (
	"errors"
	"image"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
)

func TestStateSaysWhetherTheDisplayIsThereAndLargeEnough(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	for _, c := range []struct {
		name   string
		config Config
		want   desktop.Kind
	}{
		{"there", Config{Display: display, MinSize: image.Pt(1280, 800)}, desktop.Active},
		{"too small", Config{Display: display, MinSize: image.Pt(1280, 801)}, desktop.DisplayTooSmall},
		{"not there", Config{Display: ":4711"}, desktop.Disconnected},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, c.config)
			state, err := d.State(t.Context())
			if err != nil || state.Kind != c.want {
				t.Errorf("state = %v (%s), %v; want %v", state.Kind, state.Detail, err, c.want)
			}
			err = d.Do(t.Context(), driver.Type{Text: "x"})
			if state.Usable() != (err == nil) || err != nil && !driver.NothingSent(err) {
				t.Errorf("typing: %v", err)
			}
		})
	}
}

func TestCapsLockDoesNotChangeWhatIsTyped(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	c := newClient(t, display)
	c.settles(d)
	w := c.openWindow(t, 0, "caps", "Client")
	l, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.keyboard()
	if err != nil {
		t.Fatal(err)
	}
	lock, ok := k.layout.find(symCapsLock)
	if !ok {
		t.Fatal("the layout has no caps lock")
	}
	l.fake(xproto.KeyPress, byte(lock.code), image.Point{})
	l.fake(xproto.KeyRelease, byte(lock.code), image.Point{})
	do(t, d, driver.Type{Text: "Hello, é World"})
	seen := w.awaitText(t, "Hello, é World")
	if seen != "Hello, é World" {
		t.Errorf("arrived: %q", seen)
	}
	if k, err = l.keyboard(); err != nil || k.caps == 0 {
		t.Errorf("caps lock is off after typing, was on before (%v)", err)
	}
}

func TestReleaseTakesAwayWhatADeadDriverLeftBound(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	dying, err := dial(t.Context(), d.config)
	if err != nil {
		t.Fatal(err)
	}
	k, err := dying.keyboard()
	if err != nil {
		t.Fatal(err)
	}
	spare := k.layout.spare()
	syms := make([]xproto.Keysym, len(spare))
	for i := range syms {
		syms[i] = runeSym('α' + rune(i))
	}
	if err = dying.bind(spare, syms, k.layout.width); err != nil {
		t.Fatal(err)
	}
	dying.close()
	l, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if k, err = l.keyboard(); err != nil || !slices.Equal(k.layout.left(), spare) || !slices.Equal(k.layout.spare(), spare) {
		t.Errorf("left bound: %v, spare: %v, %v; want %v", k.layout.left(), k.layout.spare(), err, spare)
	}
	if err = d.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k, err = l.keyboard(); err != nil || len(k.layout.left()) != 0 || !slices.Equal(k.layout.spare(), spare) {
		t.Errorf("left bound: %v, spare: %v, %v", k.layout.left(), k.layout.spare(), err)
	}
}

func TestMoreForeignCharactersThanSpareKeysAllArrive(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	c := newClient(t, display)
	c.settles(d)
	w := c.openWindow(t, 0, "greek", "Client")
	var text strings.Builder
	for r := 'α'; r <= 'ω'; r++ {
		text.WriteRune(r)
		text.WriteRune(r - 0x20)
	}
	do(t, d, driver.Type{Text: text.String()})
	if got := w.awaitText(t, text.String()); got != text.String() {
		t.Errorf("arrived: %q, want %q", got, text.String())
	}
	l, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if k, err := l.keyboard(); err != nil || len(k.layout.left()) != 0 {
		t.Errorf("left bound: %v, %v", k.layout.left(), err)
	}
}

func TestLongTextIsPastedInPieces(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	w := newClient(t, display).openWindow(t, 0, "long", "Client")
	text := strings.Repeat("INSERT INTO séjours VALUES (1, 'é€');\n", 10000)
	do(t, d, driver.Paste{Text: text})
	if got := w.awaitText(t, text); got != text {
		t.Errorf("%d bytes arrived, want %d", len(got), len(text))
	}
}

func TestDriverComesBackAfterTheDisplayWasAway(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	l, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = l.wire.Close()
	<-l.ended
	if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Active {
		t.Errorf("state = %v, %v; want active", state, err)
	}
	if _, err = d.Capture(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDisplayThatDoesNotAnswerHoldsNothingUp(t *testing.T) {
	display, server := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	if _, err := d.Monitors(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer := d.config.Answer
	d.config.Answer, d.link.answer = 300*time.Millisecond, 300*time.Millisecond // while nothing answers
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 2 { // on the old connection, and while making a new one
		if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Disconnected {
			t.Errorf("state of a stopped display = %v, %v", state, err)
		}
	}
	err := d.Do(t.Context(), driver.Type{Text: "x"})
	if !errors.Is(err, driver.ErrUnavailable) || !driver.NothingSent(err) {
		t.Errorf("typing on a stopped display: %v", err)
	}
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.config.Answer = answer
	if state, err := d.State(t.Context()); err != nil || state.Kind != desktop.Active {
		t.Errorf("state of the display when it goes on = %v, %v", state, err)
	}
}
