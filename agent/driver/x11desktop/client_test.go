//go:build x11

package x11desktop

import (
	"context"
	"image"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// client is a small X program: windows that record what they are told. Like
// every toolkit it looks up what a key means when it comes to the event, and
// asks for the keys again when it has been told that they changed.
type client struct {
	link  *link
	ended chan struct{}

	mu      sync.Mutex
	windows map[xproto.Window]*window
	board   layout
	stale   bool
	words   []chan struct{} // that the client has said to itself; closed once it has heard them
}

// window is one window of the client.
type window struct {
	client *client
	id     xproto.Window
	gc     xproto.Gcontext
	area   image.Rectangle
	seen   drivertest.Seen
	shown  chan struct{}
	once   sync.Once
	last   xproto.ButtonPressEvent
	clicks int
}

func newClient(t *testing.T, display string) *client {
	t.Helper()
	config, err := Config{Display: display}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	l, err := connectOnly(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{link: l, ended: make(chan struct{}), windows: map[xproto.Window]*window{}, stale: true}
	go c.serve()
	t.Cleanup(func() {
		_ = l.wire.Close()
		<-c.ended
	})
	return c
}

// connectOnly dials and prepares, but leaves the events to the caller.
func connectOnly(ctx context.Context, config Config) (*link, error) {
	d, err := parseDisplay(config.Display)
	if err != nil {
		return nil, err
	}
	l := &link{answer: config.Answer, ended: make(chan struct{})}
	if l.wire, err = new(net.Dialer).DialContext(ctx, d.network, d.address); err != nil {
		return nil, err
	}
	if l.conn, err = xgb.NewConnNet(&setupWire{Conn: l.wire, request: setupRequest(nil)}); err != nil {
		return nil, err
	}
	return l, l.prepare(0)
}

func (c *client) serve() {
	defer close(c.ended)
	for {
		event, xerr := c.link.conn.WaitForEvent()
		if event == nil && xerr == nil {
			return
		}
		c.mu.Lock()
		c.handle(event)
		c.mu.Unlock()
	}
}

func (c *client) handle(event xgb.Event) {
	switch e := event.(type) {
	case xproto.ClientMessageEvent:
		close(c.words[e.Data.Data32[0]])
	case xproto.MappingNotifyEvent:
		c.stale = true
	case xproto.ExposeEvent:
		w := c.windows[e.Window]
		w.draw()
		w.once.Do(func() { close(w.shown) })
	case xproto.KeyPressEvent:
		c.windows[e.Event].key(e, drivertest.KeyDown)
	case xproto.KeyReleaseEvent:
		c.windows[e.Event].key(xproto.KeyPressEvent(e), drivertest.KeyUp)
	case xproto.ButtonPressEvent:
		c.windows[e.Event].press(e)
	case xproto.ButtonReleaseEvent:
		c.windows[e.Event].release(e)
	case xproto.MotionNotifyEvent:
		c.windows[e.Event].add(drivertest.Event{Kind: drivertest.Move, At: image.Pt(int(e.RootX), int(e.RootY))})
	case xproto.SelectionNotifyEvent:
		w := c.windows[e.Requestor]
		w.seen.Text += c.take(e.Requestor, e.Property)
		w.draw()
	}
}

// openWindow maps the nth window and gives it the keyboard.
func (c *client) openWindow(t *testing.T, n int, title, class string) *window {
	t.Helper()
	conn := c.link.conn
	id, err := xproto.NewWindowId(conn)
	if err != nil {
		t.Fatal(err)
	}
	gc, err := xproto.NewGcontextId(conn)
	if err != nil {
		t.Fatal(err)
	}
	at := image.Pt(20+320*n, 40+30*n)
	w := &window{client: c, id: id, gc: gc, area: image.Rectangle{Min: at, Max: at.Add(image.Pt(300, 200))}, shown: make(chan struct{})}
	c.mu.Lock()
	c.windows[id] = w
	c.mu.Unlock()
	const events = xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease | xproto.EventMaskButtonPress |
		xproto.EventMaskButtonRelease | xproto.EventMaskPointerMotion | xproto.EventMaskExposure
	xproto.CreateWindow(conn, xproto.WindowClassCopyFromParent, id, c.link.root, int16(at.X), int16(at.Y), 300, 200, 0,
		xproto.WindowClassInputOutput, c.link.screen.RootVisual, xproto.CwBackPixel|xproto.CwEventMask,
		[]uint32{0x102030, events})
	xproto.CreateGC(conn, gc, xproto.Drawable(id), xproto.GcForeground, []uint32{0xffcc00})
	xproto.ChangeProperty(conn, xproto.PropModeReplace, id, c.link.atoms["_NET_WM_NAME"], c.link.atoms["UTF8_STRING"], 8, uint32(len(title)), []byte(title))
	class = "client\x00" + class + "\x00"
	xproto.ChangeProperty(conn, xproto.PropModeReplace, id, xproto.AtomWmClass, xproto.AtomString, 8, uint32(len(class)), []byte(class))
	xproto.MapWindow(conn, id)
	select {
	case <-w.shown:
	case <-time.After(patience):
		t.Fatalf("the window %q was not shown", title)
	}
	if err = xproto.SetInputFocusChecked(conn, xproto.InputFocusParent, id, xproto.TimeCurrentTime).Check(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *window) add(e drivertest.Event) { w.seen.Events = append(w.seen.Events, e) }

// draw shows one block per character.
func (w *window) draw() {
	var blocks []xproto.Rectangle
	for i, r := range []rune(w.seen.Text) {
		blocks = append(blocks, xproto.Rectangle{X: int16(4 + i%30*9), Y: int16(4 + i/30%14*14), Width: 7, Height: uint16(4 + r%8)})
	}
	for part := range slices.Chunk(blocks, 1000) {
		xproto.PolyFillRectangle(w.client.link.conn, xproto.Drawable(w.id), w.gc, part)
	}
}

func (w *window) key(e xproto.KeyPressEvent, kind drivertest.Kind) {
	sym := w.client.sym(e)
	w.add(drivertest.Event{Kind: kind, Key: symName(sym)})
	if kind == drivertest.KeyUp {
		return
	}
	switch control := e.State&xproto.ModMaskControl != 0; {
	case control && sym == 'v':
		xproto.ConvertSelection(w.client.link.conn, w.id, w.client.link.atoms["CLIPBOARD"],
			w.client.link.atoms["UTF8_STRING"], w.client.link.atoms["TEXT"], e.Time)
	case control:
	case sym == symReturn:
		w.seen.Text += "\n"
	case sym == symTab:
		w.seen.Text += "\t"
	default:
		if r := symRune(sym); r != 0 {
			w.seen.Text += string(r)
		}
	}
	w.draw()
}

// sym is what a key means in an event's state, caps lock included.
func (c *client) sym(e xproto.KeyPressEvent) xproto.Keysym {
	if c.stale {
		if k, err := c.link.keyboard(); err == nil {
			c.board, c.stale = k.layout, false
		}
	}
	syms := c.board.key(int(e.Detail - c.board.first))
	shift := e.State&xproto.ModMaskShift != 0
	if shift && syms[1] != 0 {
		return caps(syms[1], e.State, true)
	}
	return caps(syms[0], e.State, false)
}

func caps(sym xproto.Keysym, state uint16, shift bool) xproto.Keysym {
	letter := sym|0x20 >= 'a' && sym|0x20 <= 'z'
	if state&xproto.ModMaskLock != 0 && letter {
		if shift {
			return sym | 0x20
		}
		return sym &^ 0x20
	}
	return sym
}

func symRune(s xproto.Keysym) rune {
	switch {
	case s >= 0x20 && s <= 0x7e || s >= 0xa0 && s <= 0xff:
		return rune(s)
	case s > symUnicode && s <= symUnicode+0x10ffff:
		return rune(s - symUnicode)
	}
	return 0
}

func symName(s xproto.Keysym) string {
	for code, known := range keysyms {
		if known == s {
			return keyname.Key{Code: code}.String()
		}
	}
	if s >= symF1 && s < symF1+24 {
		return keyname.Key{Code: keyname.F1 + keyname.Code(s-symF1)}.String()
	}
	return string(symRune(s))
}

func (w *window) press(e xproto.ButtonPressEvent) {
	at := image.Pt(int(e.RootX), int(e.RootY))
	if notch, ok := map[xproto.Button]image.Point{4: {0, 1}, 5: {0, -1}, 6: {-1, 0}, 7: {1, 0}}[e.Detail]; ok {
		w.add(drivertest.Event{Kind: drivertest.Wheel, At: at, Notches: notch, Modifiers: modifiers(e.State)})
		return
	}
	near := distance(int(e.RootX), int(w.last.RootX)) <= 4 && distance(int(e.RootY), int(w.last.RootY)) <= 4
	if near && e.Detail == w.last.Detail && e.Time-w.last.Time < 400 {
		w.clicks++
	} else {
		w.clicks = 1
	}
	w.last = e
	w.add(drivertest.Event{Kind: drivertest.Press, At: at, Button: buttonName(e.Detail), Clicks: w.clicks, Modifiers: modifiers(e.State)})
}

func (w *window) release(e xproto.ButtonReleaseEvent) {
	if e.Detail <= 3 {
		w.add(drivertest.Event{Kind: drivertest.Release, At: image.Pt(int(e.RootX), int(e.RootY)), Button: buttonName(e.Detail)})
	}
}

func buttonName(b xproto.Button) driver.Button {
	return map[xproto.Button]driver.Button{1: driver.Left, 2: driver.Middle, 3: driver.Right}[b]
}

func modifiers(state uint16) []string {
	var names []string
	for _, m := range []struct {
		mask uint16
		name string
	}{{xproto.ModMask1, "alt"}, {xproto.ModMaskControl, "ctrl"}, {xproto.ModMaskShift, "shift"}, {xproto.ModMask4, "win"}} {
		if state&m.mask != 0 {
			names = append(names, m.name)
		}
	}
	return names
}

// take reads a pasted text, in pieces, and removes it.
func (c *client) take(w xproto.Window, name xproto.Atom) string {
	var text []byte
	for {
		part, err := xproto.GetProperty(c.link.conn, false, w, name, xproto.GetPropertyTypeAny, uint32(len(text)/4), 1<<12).Reply()
		if err != nil {
			return string(text)
		}
		text = append(text, part.Value...)
		if part.BytesAfter == 0 {
			xproto.DeleteProperty(c.link.conn, w, name)
			return string(text)
		}
	}
}
