package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// link is one connection to the display.
type link struct {
	conn   *xgb.Conn
	wire   net.Conn
	answer time.Duration
	setup  *xproto.SetupInfo
	screen *xproto.ScreenInfo
	root   xproto.Window
	atoms  map[string]xproto.Atom
	randr  bool // monitors can be asked for
	clip   clipboard

	ended chan struct{} // closed when the connection has ended
	end   sync.Once
}

// atomNames are the atoms that the driver uses beside the predefined ones.
var atomNames = []string{
	"_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "_NET_WM_PID",
	"WM_STATE", "UTF8_STRING", "CLIPBOARD", "TARGETS", "TEXT", "text/plain;charset=utf-8",
}

// setupWire sends our own setup request in place of xgb's, which cannot know
// the display's cookie on a connection that it has not dialled.
type setupWire struct {
	net.Conn
	request []byte
}

func (w *setupWire) Write(b []byte) (int, error) {
	if w.request == nil {
		return w.Conn.Write(b)
	}
	request := w.request
	w.request = nil
	if _, err := w.Conn.Write(request); err != nil {
		return 0, err
	}
	return len(b), nil
}

func dial(ctx context.Context, config Config) (*link, error) {
	d, err := parseDisplay(config.Display)
	if err != nil {
		return nil, err
	}
	cookie, err := d.cookie()
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: config.Answer}
	wire, err := dialer.DialContext(ctx, d.network, d.address)
	if err != nil {
		return nil, err
	}
	l := &link{wire: wire, answer: config.Answer, ended: make(chan struct{})}
	defer l.guard()()
	if l.conn, err = xgb.NewConnNet(&setupWire{Conn: wire, request: setupRequest(cookie)}); err != nil {
		_ = wire.Close()
		return nil, err
	}
	go l.serve()
	if err = l.prepare(d.screen); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// guard cuts the connection if the display has not answered in time, so that no
// call hangs on a display that does. The caller calls what it returns when it
// has its answers.
func (l *link) guard() (answered func() bool) {
	return time.AfterFunc(l.answer, func() { _ = l.wire.Close() }).Stop
}

func (l *link) prepare(screen int) error {
	l.setup = xproto.Setup(l.conn)
	if screen >= len(l.setup.Roots) {
		return fmt.Errorf("no screen %d", screen)
	}
	l.screen = &l.setup.Roots[screen]
	l.root = l.screen.Root
	cookies := make([]xproto.InternAtomCookie, len(atomNames))
	for i, name := range atomNames {
		cookies[i] = xproto.InternAtom(l.conn, false, uint16(len(name)), name)
	}
	l.atoms = make(map[string]xproto.Atom, len(atomNames))
	for i, cookie := range cookies {
		reply, err := cookie.Reply()
		if err != nil {
			return err
		}
		l.atoms[atomNames[i]] = reply.Atom
	}
	found, err := l.extension("XTEST")
	if err != nil {
		return err
	}
	if !found {
		return errors.New("the display lacks the extension XTEST")
	}
	if err = l.prepareMonitors(); err != nil {
		return err
	}
	return l.prepareClipboard()
}

func (l *link) prepareMonitors() error {
	found, err := l.extension("RANDR")
	if err != nil || !found {
		return err
	}
	version, err := randr.QueryVersion(l.conn, 1, 5).Reply()
	if err != nil {
		return err
	}
	l.randr = version.MajorVersion > 1 || version.MinorVersion >= 5
	return nil
}

// extension makes an extension's requests usable. The extensions' own Init
// would also write to maps that the readers of other connections read.
func (l *link) extension(name string) (bool, error) {
	reply, err := xproto.QueryExtension(l.conn, uint16(len(name)), name).Reply()
	if err != nil || !reply.Present {
		return false, err
	}
	l.conn.ExtLock.Lock()
	defer l.conn.ExtLock.Unlock()
	l.conn.Extensions[name] = reply.MajorOpcode
	return true, nil
}

// serve takes events off the connection until it ends. Errors that arrive here
// belong to requests that nobody waits for.
func (l *link) serve() {
	defer close(l.ended)
	for {
		event, xerr := l.conn.WaitForEvent()
		switch e := event.(type) {
		case xproto.SelectionRequestEvent:
			l.serveSelection(e)
		case xproto.SelectionClearEvent:
			l.clip.lost(e.Selection)
		case nil:
			if xerr == nil {
				return
			}
		}
	}
}

func (l *link) alive() bool {
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}

// close ends the connection and waits for its reader.
func (l *link) close() {
	l.end.Do(func() { _ = l.wire.Close() })
	<-l.ended
}

// sync returns when the display has handled all that was sent to it.
func (l *link) sync() error {
	defer l.guard()()
	_, err := xproto.GetInputFocus(l.conn).Reply()
	return err
}

// pause waits, no longer than ctx lives.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
