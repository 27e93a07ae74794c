package windesktop

import (
	"errors"
	"image"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// errAccess is what Windows says to input that it does not take.
var errAccess = errors.New("access is denied")

// fakeWindows is a Windows whose windows are told what is done, as its own are. All
// settings may be changed before it is used.
type fakeWindows struct {
	screens     []image.Rectangle // the primary one first
	layout      winapi.HKL        // of the window in front; that of the agent is another
	swapped     bool
	threshold   image.Point
	doubleClick time.Duration
	ime         bool
	aware       bool                             // AwareOfDPI was called
	unaware     error                            // what it answers
	obeys       bool                             // false: BringToFront changes nothing
	claims      func(hwnd winapi.HWND) error     // what ClaimFront does; nil: nothing
	before      func(events []winapi.Event)      // called before a call is taken
	after       func()                           // called after a call was taken
	takes       func(events []winapi.Event) int  // how many of a call are taken; nil: all
	strays      func(at image.Point) image.Point // where the pointer goes instead; nil: where it should
	behindUs    func()                           // called once a text is on the clipboard and that is closed again

	mu       sync.Mutex
	calls    [][]winapi.Event // what was taken, call by call
	now      time.Time        // when the last call was: its events come at once
	down     map[uint16]bool
	caps     bool
	stuck    map[uint16]bool // stays down, whatever is sent
	pointer  image.Point
	windows  []*fakeWindow // the topmost first
	front    winapi.HWND
	elevated winapi.HWND // has more rights than the agent; 0: none
	locked   bool
	secure   bool // another desktop gets the input, and what is down here does not show
	half     rune // first half of a surrogate pair
	text     string
	hasText  bool
	mark     uint64                  // of that text; 0: it has none
	refuses  func(call string) error // what the clipboard answers; nil: nothing is wrong
}

type fakeWindow struct {
	of    *fakeWindows
	hwnd  winapi.HWND
	title string
	pid   uint32 // 0: fakePID
	area  image.Rectangle
	seen  drivertest.Seen
	last  struct {
		at     image.Point
		button int
		when   time.Time
		clicks int
	}
}

// wholeCalls skips a test of what is one call where nothing is.
func wholeCalls(t *testing.T) {
	t.Helper()
	if faultpoint.Enabled {
		t.Skip("a build with fault points sends every event by itself")
	}
}

// fakePID is the process of all windows.
const fakePID = 77

func newFake() *fakeWindows {
	return &fakeWindows{
		screens: []image.Rectangle{image.Rect(0, 0, 1280, 800)}, layout: layoutUS,
		threshold: image.Pt(4, 4), doubleClick: 500 * time.Millisecond, obeys: true,
		down: map[uint16]bool{}, stuck: map[uint16]bool{},
	}
}

// open makes a driver on the fake, and one window in front.
func open(t *testing.T, w *fakeWindows, config Config) (*Driver, *fakeWindow) {
	t.Helper()
	d, err := newDriver(config, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, w.open("in front", image.Rect(100, 100, 500, 400))
}

func (w *fakeWindows) open(title string, area image.Rectangle) *fakeWindow {
	w.mu.Lock()
	defer w.mu.Unlock()
	win := &fakeWindow{of: w, hwnd: winapi.HWND(0x100 + len(w.windows)), title: title, area: area}
	w.windows = append([]*fakeWindow{win}, w.windows...)
	w.front = win.hwnd
	return win
}

// bring puts a window in front, as a person does.
func (w *fakeWindows) bring(hwnd winapi.HWND) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raise(hwnd)
}

func (w *fakeWindows) raise(hwnd winapi.HWND) {
	w.front = hwnd
	if i := slices.IndexFunc(w.windows, func(win *fakeWindow) bool { return win.hwnd == hwnd }); i >= 0 {
		win := w.windows[i]
		w.windows = append([]*fakeWindow{win}, slices.Delete(w.windows, i, i+1)...)
	}
}

// taken is what was taken so far, as one list.
func (w *fakeWindows) taken() []winapi.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Concat(w.calls...)
}

func (w *fakeWindows) SendInput(events []winapi.Event) (int, error) {
	if w.before != nil {
		w.before(events)
	}
	if w.after != nil {
		defer w.after()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(events)
	if w.takes != nil {
		n = min(n, w.takes(events))
	}
	if w.secure {
		n = 0
	}
	if n > 0 {
		w.calls = append(w.calls, slices.Clone(events[:n]))
	}
	w.now = time.Now()
	for _, e := range events[:n] {
		w.handle(e)
	}
	if n < len(events) {
		return n, errAccess
	}
	return n, nil
}

func (w *fakeWindows) Pointer() (image.Point, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pointer, nil
}

func (w *fakeWindows) VirtualScreen() image.Rectangle {
	var all image.Rectangle
	for _, s := range w.screens {
		all = all.Union(s)
	}
	return all
}

func (w *fakeWindows) Pressed(vk uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.secure && w.pressed(vk)
}

func (w *fakeWindows) pressed(vk uint16) bool {
	if sides, both := either[vk]; both {
		return w.pressed(sides[0]) || w.pressed(sides[1])
	}
	return w.down[vk] || w.stuck[vk]
}

func (w *fakeWindows) Toggled(vk uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return vk == vkCapital && w.caps
}

func (w *fakeWindows) Layout(hwnd winapi.HWND) winapi.HKL {
	w.mu.Lock()
	defer w.mu.Unlock()
	if hwnd != 0 && hwnd == w.front {
		return w.layout
	}
	return layoutUS // the agent's own
}

func (w *fakeWindows) KeyOf(r rune, layout winapi.HKL) (winapi.Key, bool) {
	return fakeLayouts[layout].keyOf(r)
}

func (w *fakeWindows) ScanCode(vk uint16, layout winapi.HKL) (uint16, bool) {
	return fakeLayouts[layout].scanOf(vk), vk == vkRMenu || vk == vkRControl
}

func (w *fakeWindows) IMEOpen(winapi.HWND) bool       { return w.ime }
func (w *fakeWindows) ButtonsSwapped() bool           { return w.swapped }
func (w *fakeWindows) DragThreshold() image.Point     { return w.threshold }
func (w *fakeWindows) DoubleClickTime() time.Duration { return w.doubleClick }

func (w *fakeWindows) Foreground() winapi.HWND {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.front
}

func (w *fakeWindows) BringToFront(hwnd winapi.HWND) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.obeys {
		w.raise(hwnd)
	}
	return nil
}

func (w *fakeWindows) ClaimFront(hwnd winapi.HWND) error {
	if w.claims == nil {
		return nil
	}
	return w.claims(hwnd)
}
