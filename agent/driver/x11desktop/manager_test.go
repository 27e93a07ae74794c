//go:build x11

package x11desktop

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
)

// manager is as much of a window manager as a client can tell: it says that it
// is there, lists the windows and does what it is asked, or refuses.
type manager struct {
	link  *link
	obeys bool
	ended chan struct{}
}

func startManager(t *testing.T, display string, obeys bool, stacking ...*window) {
	t.Helper()
	config, err := Config{Display: display}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	l, err := connectOnly(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{link: l, obeys: obeys, ended: make(chan struct{})}
	err = xproto.ChangeWindowAttributesChecked(l.conn, l.root, xproto.CwEventMask, []uint32{xproto.EventMaskSubstructureRedirect}).Check()
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]xproto.Window, len(stacking))
	for i, w := range stacking {
		ids[i] = w.id
	}
	m.say("_NET_SUPPORTING_WM_CHECK", l.clip.window)
	m.say("_NET_CLIENT_LIST_STACKING", ids...)
	m.say("_NET_ACTIVE_WINDOW", ids[len(ids)-1])
	if err = l.sync(); err != nil {
		t.Fatal(err)
	}
	go m.serve()
	t.Cleanup(func() {
		_ = l.wire.Close()
		<-m.ended
	})
}

func (m *manager) say(name string, windows ...xproto.Window) {
	var value []byte
	for _, w := range windows {
		value = binary.LittleEndian.AppendUint32(value, uint32(w))
	}
	xproto.ChangeProperty(m.link.conn, xproto.PropModeReplace, m.link.root, m.link.atoms[name], xproto.AtomWindow, 32, uint32(len(windows)), value)
}

func (m *manager) serve() {
	defer close(m.ended)
	for {
		event, xerr := m.link.conn.WaitForEvent()
		if event == nil && xerr == nil {
			return
		}
		if e, ok := event.(xproto.ClientMessageEvent); ok && m.obeys && e.Type == m.link.atoms["_NET_ACTIVE_WINDOW"] && e.Data.Data32[0] == fromPager {
			xproto.SetInputFocus(m.link.conn, xproto.InputFocusParent, e.Window, xproto.TimeCurrentTime)
			m.say("_NET_ACTIVE_WINDOW", e.Window)
		}
	}
}

func TestFocusAsksTheWindowManager(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	c := newClient(t, display)
	lower, upper := c.openWindow(t, 0, "lower", "Client"), c.openWindow(t, 1, "upper", "Client")
	startManager(t, display, true, lower, upper)
	windows, err := d.Windows(t.Context())
	if err != nil || len(windows) != 2 || windows[0].Title != "upper" || !windows[0].Active || windows[1].Active {
		t.Fatalf("windows = %+v, %v; want the manager's order and choice", windows, err)
	}
	do(t, d, driver.Focus{WindowID: windows[1].ID}, driver.Type{Text: "for the lower"})
	if got := lower.awaitText(t, "for the lower"); got != "for the lower" {
		t.Errorf("arrived: %q", got)
	}
}

func TestFocusThatTheWindowManagerRefusesIsNotBelieved(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display})
	c := newClient(t, display)
	lower, upper := c.openWindow(t, 0, "lower", "Client"), c.openWindow(t, 1, "upper", "Client")
	startManager(t, display, false, lower, upper)
	err := d.Do(t.Context(), driver.Focus{WindowID: windowID(lower.id)})
	if !errors.Is(err, driver.ErrNotInFront) || !driver.NothingSent(err) || !strings.Contains(err.Error(), "upper") {
		t.Errorf("focus: %v; want %v and the title that has the keyboard", err, driver.ErrNotInFront)
	}
}

func TestPasteKeyFollowsTheWindowsClass(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display, TerminalClasses: []string{"Terminal"}})
	c := newClient(t, display)
	c.openWindow(t, 0, "editor", "Client")
	l, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ctrl v", "shift insert"} {
		keys, err := d.pasteKeys(l)
		if err != nil || strings.Join(keys, " ") != want {
			t.Errorf("paste keys = %v, %v; want %s", keys, err, want)
		}
		c.openWindow(t, 1, "terminal", "Terminal")
	}
}
