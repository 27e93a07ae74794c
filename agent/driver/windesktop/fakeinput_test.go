package windesktop

import (
	"image"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// handle is what Windows does with an input event.
func (w *fakeWindows) handle(e winapi.Event) {
	switch e := e.(type) {
	case winapi.MouseEvent:
		w.mouse(e)
	case winapi.KeyEvent:
		w.key(e)
	}
}

func (w *fakeWindows) mouse(e winapi.MouseEvent) {
	if e.Flags&winapi.MouseMove != 0 {
		screen := w.VirtualScreen()
		at := screen.Min.Add(image.Pt(int(e.X)*screen.Dx()>>16, int(e.Y)*screen.Dy()>>16))
		if w.strays != nil {
			at = w.strays(at)
		}
		w.pointer = at
		w.tell(drivertest.Event{Kind: drivertest.Move, At: at})
	}
	for flag, vk := range map[uint32]uint16{
		winapi.MouseLeftDown: vkLeftButton, winapi.MouseRightDown: vkRightButton, winapi.MouseMiddleDown: vkMiddleButton,
	} {
		if e.Flags&flag != 0 {
			w.down[vk] = true
			w.press(w.logical(vk))
		}
		if e.Flags&(flag<<1) != 0 { // each button's up is next to its down
			delete(w.down, vk)
			w.tell(drivertest.Event{Kind: drivertest.Release, At: w.pointer, Button: w.logical(vk)})
		}
	}
	if e.Flags&mouseXUp != 0 {
		delete(w.down, uint16(vkXButton1+e.Data-1))
	}
	notches := int(e.Data) / winapi.WheelDelta
	if e.Flags&winapi.MouseWheel != 0 {
		w.tell(drivertest.Event{Kind: drivertest.Wheel, At: w.pointer, Notches: image.Pt(0, notches), Modifiers: w.modifiers()})
	}
	if e.Flags&winapi.MouseHWheel != 0 {
		w.tell(drivertest.Event{Kind: drivertest.Wheel, At: w.pointer, Notches: image.Pt(notches, 0), Modifiers: w.modifiers()})
	}
}

// logical is the button that a window is told of: Windows swaps them.
func (w *fakeWindows) logical(vk uint16) driver.Button {
	switch {
	case vk == vkMiddleButton:
		return driver.Middle
	case (vk == vkLeftButton) != w.swapped:
		return driver.Left
	}
	return driver.Right
}

func (w *fakeWindows) press(b driver.Button) {
	win := w.under()
	if win == nil {
		return
	}
	w.raise(win.hwnd)
	apart := w.pointer.Sub(win.last.at)
	row := win.last.clicks > 0 && win.last.button == int(b) && w.now.Sub(win.last.when) <= w.doubleClick &&
		distance(apart.X) <= 2 && distance(apart.Y) <= 2
	if !row {
		win.last.clicks = 0
	}
	win.last.at, win.last.button, win.last.when, win.last.clicks = w.pointer, int(b), w.now, win.last.clicks+1
	w.tell(drivertest.Event{Kind: drivertest.Press, At: w.pointer, Button: b, Clicks: win.last.clicks, Modifiers: w.modifiers()})
}

func (w *fakeWindows) under() *fakeWindow {
	for _, win := range w.windows {
		if w.pointer.In(win.area) {
			return win
		}
	}
	return nil
}

// tell tells the window under the pointer.
func (w *fakeWindows) tell(e drivertest.Event) {
	if win := w.under(); win != nil {
		win.seen.Events = append(win.seen.Events, e)
	}
}

func (w *fakeWindows) active() *fakeWindow {
	for _, win := range w.windows {
		if win.hwnd == w.front {
			return win
		}
	}
	return &fakeWindow{} // it goes nowhere
}

func (w *fakeWindows) key(e winapi.KeyEvent) {
	pressed := e.Flags&winapi.KeyUp == 0
	if e.Flags&winapi.KeyUnicode != 0 {
		w.unit(e.Scan, pressed)
		return
	}
	layout := fakeLayouts[w.layout]
	vk := e.Key
	if e.Flags&winapi.KeyScanCode != 0 {
		vk = layout.vkOf(e.Scan, e.Flags&winapi.KeyExtended != 0)
	}
	win := w.active()
	kind := drivertest.KeyUp
	if pressed {
		kind = drivertest.KeyDown
		w.down[vk] = true
		if vk == vkCapital {
			w.caps = !w.caps
		}
		win.seen.Text += w.typed(layout, vk)
	} else {
		delete(w.down, vk)
	}
	if vk != vkUnassigned {
		win.seen.Events = append(win.seen.Events, drivertest.Event{Kind: kind, Key: fakeName(layout, vk)})
	}
}

// unit is a character that comes as itself. One that is down already is repeated by
// no second press, and a lone half is nothing.
func (w *fakeWindows) unit(unit uint16, pressed bool) {
	if !pressed {
		delete(w.down, vkPacket)
		return
	}
	if w.down[vkPacket] {
		return
	}
	w.down[vkPacket] = true
	win := w.active()
	switch r := rune(unit); {
	case !utf16.IsSurrogate(r):
		win.seen.Text += string(r)
	case r < 0xDC00:
		w.half = r
		return
	case w.half != 0:
		win.seen.Text += string(utf16.DecodeRune(w.half, r))
	}
	w.half = 0
}

// typed is what a key adds to a text, with what is down and on.
func (w *fakeWindows) typed(layout fakeLayout, vk uint16) string {
	altGr := w.down[vkRMenu]
	if (w.pressed(vkControl) || w.down[vkLMenu] || w.down[vkLWin]) && !altGr {
		if vk == 'V' && w.pressed(vkControl) {
			return strings.ReplaceAll(w.text, "\r\n", "\n")
		}
		return ""
	}
	switch {
	case vk == vkReturn:
		return "\n"
	case vk == vkTab:
		return "\t"
	case altGr:
		return layout.types(vk, 2)
	}
	plain := layout.types(vk, 0)
	shift := w.pressed(vkShift)
	if r := []rune(plain); w.caps && len(r) == 1 && unicode.IsLetter(r[0]) {
		shift = !shift
	}
	if shift {
		return layout.types(vk, 1)
	}
	return plain
}

func (w *fakeWindows) modifiers() []string {
	var names []string
	for name, vk := range map[string]uint16{"alt": vkMenu, "ctrl": vkControl, "shift": vkShift, "win": vkLWin} {
		if w.pressed(vk) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fakeName is a key's name as the schema has it.
func fakeName(layout fakeLayout, vk uint16) string {
	for code, of := range named {
		if of == vk {
			return keyname.Key{Code: code}.String()
		}
	}
	if vk >= vkF1 && vk < vkF1+24 {
		return keyname.Key{Code: keyname.F1 + keyname.Code(vk-vkF1)}.String()
	}
	if vk == vkRMenu {
		return "altgr"
	}
	return layout.types(vk, 0)
}
