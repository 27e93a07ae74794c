package x11desktop

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// toplevel is a client's window and the child of the root that it lies in: the
// window manager's frame, or itself.
type toplevel struct{ client, frame xproto.Window }

// Windows implements driver.Eyes.
func (d *Driver) Windows(ctx context.Context) ([]driver.Window, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	windows, err := l.windows()
	if err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	return windows, nil
}

func (l *link) windows() ([]driver.Window, error) {
	defer l.guard()()
	tops, err := l.toplevels()
	if err != nil {
		return nil, err
	}
	active, err := l.active()
	if err != nil {
		return nil, err
	}
	var windows []driver.Window
	for _, top := range tops {
		// A window may close between two questions; then it is not listed.
		w, err := l.describe(top)
		if err != nil && !l.alive() {
			return nil, err
		}
		if err == nil {
			w.Active = active != 0 && (active == top.client || active == top.frame)
			windows = append(windows, w)
		}
	}
	return windows, nil
}

// toplevels lists the visible windows, the topmost first: as the window manager
// says, else the root's children.
func (l *link) toplevels() ([]toplevel, error) {
	tree, err := xproto.QueryTree(l.conn, l.root).Reply()
	if err != nil {
		return nil, err
	}
	var tops []toplevel
	if stacking := l.windowList("_NET_CLIENT_LIST_STACKING"); len(stacking) > 0 {
		for _, w := range stacking {
			tops = append(tops, toplevel{client: w, frame: l.frame(w)})
		}
	} else {
		for _, w := range tree.Children {
			tops = append(tops, toplevel{client: l.client(w, 2), frame: w})
		}
	}
	slices.Reverse(tops)
	return slices.DeleteFunc(tops, func(t toplevel) bool { return !l.shown(t) }), nil
}

// shown says whether a window is one for people: visible, drawn, and not a menu
// or a tooltip, which bypass the window manager.
func (l *link) shown(t toplevel) bool {
	a, err := xproto.GetWindowAttributes(l.conn, t.client).Reply()
	return err == nil && a.MapState == xproto.MapStateViewable && a.Class == xproto.WindowClassInputOutput && !a.OverrideRedirect
}

// client finds the client's window within a frame by its WM_STATE; without a
// window manager there is none, and it is the frame itself.
func (l *link) client(frame xproto.Window, depth int) xproto.Window {
	if w := l.withState(frame, depth); w != 0 {
		return w
	}
	return frame
}

func (l *link) withState(w xproto.Window, depth int) xproto.Window {
	if len(l.property(w, l.atoms["WM_STATE"]).Value) > 0 {
		return w
	}
	if depth == 0 {
		return 0
	}
	tree, err := xproto.QueryTree(l.conn, w).Reply()
	if err != nil {
		return 0
	}
	for _, child := range tree.Children {
		if found := l.withState(child, depth-1); found != 0 {
			return found
		}
	}
	return 0
}

// frame climbs from a window to the child of the root that it lies in.
func (l *link) frame(w xproto.Window) xproto.Window {
	for {
		tree, err := xproto.QueryTree(l.conn, w).Reply()
		if err != nil || tree.Parent == l.root || tree.Parent == 0 {
			return w
		}
		w = tree.Parent
	}
}

// active is the window that has the keyboard, 0 if none has. Where the focus
// follows the pointer it is the one under the pointer.
func (l *link) active() (xproto.Window, error) {
	if l.managed() {
		if named := l.windowList("_NET_ACTIVE_WINDOW"); len(named) > 0 {
			return named[0], nil
		}
		return 0, nil
	}
	focus, err := xproto.GetInputFocus(l.conn).Reply()
	if err != nil {
		return 0, err
	}
	if focus.Focus > xproto.InputFocusPointerRoot && focus.Focus != l.root {
		return l.frame(focus.Focus), nil
	}
	if focus.Focus == xproto.InputFocusNone {
		return 0, nil
	}
	pointer, err := xproto.QueryPointer(l.conn, l.root).Reply()
	if err != nil {
		return 0, err
	}
	return pointer.Child, nil
}

// managed says whether a window manager that speaks EWMH runs.
func (l *link) managed() bool {
	check := l.windowList("_NET_SUPPORTING_WM_CHECK")
	if len(check) == 0 {
		return false
	}
	// The property outlives a window manager that died; its window does not.
	_, err := xproto.GetGeometry(l.conn, xproto.Drawable(check[0])).Reply()
	return err == nil
}

func (l *link) windowList(name string) []xproto.Window {
	value := l.property(l.root, l.atoms[name]).Value
	var list []xproto.Window
	for ; len(value) >= 4; value = value[4:] {
		list = append(list, xproto.Window(binary.LittleEndian.Uint32(value)))
	}
	return list
}

// property reads up to 64 KB of a window's property; none is empty.
func (l *link) property(w xproto.Window, name xproto.Atom) *xproto.GetPropertyReply {
	reply, err := xproto.GetProperty(l.conn, false, w, name, xproto.GetPropertyTypeAny, 0, 1<<14).Reply()
	if err != nil {
		return &xproto.GetPropertyReply{}
	}
	return reply
}

func (l *link) describe(t toplevel) (driver.Window, error) {
	g, err := xproto.GetGeometry(l.conn, xproto.Drawable(t.client)).Reply()
	if err != nil {
		return driver.Window{}, err
	}
	at, err := xproto.TranslateCoordinates(l.conn, t.client, l.root, 0, 0).Reply()
	if err != nil {
		return driver.Window{}, err
	}
	corner := image.Pt(int(at.DstX), int(at.DstY))
	return driver.Window{
		ID:      windowID(t.client),
		Title:   l.title(t.client),
		Class:   decodeClass(l.property(t.client, xproto.AtomWmClass).Value),
		Process: l.process(t.client),
		Bounds:  image.Rectangle{Min: corner, Max: corner.Add(image.Pt(int(g.Width), int(g.Height)))},
	}, nil
}

func (l *link) title(w xproto.Window) string {
	if utf8 := l.property(w, l.atoms["_NET_WM_NAME"]); len(utf8.Value) > 0 {
		return decodeText(utf8.Value, false)
	}
	name := l.property(w, xproto.AtomWmName)
	return decodeText(name.Value, name.Type == xproto.AtomString)
}

// process is the name of the executable of a client on this machine.
func (l *link) process(w xproto.Window) string {
	pid := l.property(w, l.atoms["_NET_WM_PID"]).Value
	if len(pid) < 4 {
		return ""
	}
	if machine := latin1(l.property(w, xproto.AtomWmClientMachine).Value); machine != "" {
		if here, err := os.Hostname(); err != nil || machine != here {
			return ""
		}
	}
	dir := filepath.Join("/proc", strconv.FormatUint(uint64(binary.LittleEndian.Uint32(pid)), 10))
	if path, err := os.Readlink(filepath.Join(dir, "exe")); err == nil {
		return filepath.Base(strings.TrimSuffix(path, " (deleted)"))
	}
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
