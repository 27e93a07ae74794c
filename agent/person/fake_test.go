package person

import (
	"context"
	"errors"
	"image"
	"image/color"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Virtual-key codes of winuser.h.
const (
	vkBackspace = 0x08
	vkCapital   = 0x14
	vkA         = 'A'
	vkLShift    = 0xA0
	vkLCtrl     = 0xA2
	vkRCtrl     = 0xA3
	vkLAlt      = 0xA4
	vkRAlt      = 0xA5
)

// fakeMachine is a machine whose person is the test.
type fakeMachine struct {
	language uint16
	unseen   bool
	dpi      int
	work     image.Rectangle

	mu       sync.Mutex
	refuses  map[string]error // by the call's name
	see      func(winapi.Seen) bool
	hooked   int
	last     uint32
	pressed  map[uint16]bool
	notice   *winapi.Page // what shows
	notices  int          // how often one came up
	bars     *[4]image.Rectangle
	tray     winapi.Tray
	chosen   func(int)
	trays    []string // the tips, one after the other
	closed   bool
	composed int
}

func newFake() *fakeMachine {
	return &fakeMachine{dpi: 96, work: image.Rect(0, 0, 1280, 760), unseen: true, pressed: map[uint16]bool{}, refuses: map[string]error{}}
}

func (m *fakeMachine) answer(call string) error {
	return m.refuses[call]
}

func (m *fakeMachine) locked(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *fakeMachine) Hook(see func(winapi.Seen) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hooked++
	m.see = see
	return m.answer("hook")
}

func (m *fakeMachine) LastInput() (uint32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.answer("last")
}

func (m *fakeMachine) Pressed(vk uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pressed[vk]
}

func (m *fakeMachine) WorkArea() (image.Rectangle, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.work, m.dpi, m.answer("work")
}

// Measure takes 10 pixels a letter.
func (m *fakeMachine) Measure(text string, font winapi.Font, width int) (int, error) {
	lines := 0
	for _, line := range strings.Split(text, "\n") {
		lines += 1 + 10*len([]rune(line))/width
	}
	return lines * font.Height * 4 / 3, m.refuses["measure"]
}

func (m *fakeMachine) OutOfPictures() bool { return m.unseen }

func (m *fakeMachine) ShowNotice(p winapi.Page) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.answer("notice"); err != nil {
		return err
	}
	m.notice, m.notices = &p, m.notices+1
	return nil
}

func (m *fakeMachine) HideNotice() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.answer("hide"); err != nil {
		return err
	}
	m.notice = nil
	return nil
}

func (m *fakeMachine) ShowOutline(bars [4]image.Rectangle, _ color.RGBA) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.answer("outline"); err != nil {
		return err
	}
	m.bars = &bars
	return nil
}

func (m *fakeMachine) HideOutline() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bars = nil
	return m.answer("hide")
}

func (m *fakeMachine) Composed() { m.locked(func() { m.composed++ }) }

func (m *fakeMachine) ShowTray(look winapi.Tray, chosen func(int)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tray, m.chosen = look, chosen
	m.trays = append(m.trays, look.Tip)
	return m.answer("tray")
}

func (m *fakeMachine) Language() uint16 { return m.language }
func (m *fakeMachine) Class() string    { return "RepriseAgent-1" }
func (m *fakeMachine) Close() error     { m.locked(func() { m.closed = true }); return nil }

// saw is what the hooks do with an event.
func (m *fakeMachine) saw(e winapi.Seen) bool {
	m.mu.Lock()
	see := m.see
	m.mu.Unlock()
	return see(e)
}

// shows is what shows now.
func (m *fakeMachine) shows() (notice, outline bool) {
	m.locked(func() { notice, outline = m.notice != nil, m.bars != nil })
	return notice, outline
}

// choose is the person choosing of the icon's menu.
func (m *fakeMachine) choose(text string) {
	m.mu.Lock()
	i := slices.IndexFunc(m.tray.Menu, func(item winapi.MenuItem) bool { return item.Text == text && !item.Off })
	id, chosen := 0, m.chosen
	if i >= 0 {
		id = m.tray.Menu[i].ID
	}
	m.mu.Unlock()
	if id != 0 {
		chosen(id)
	}
}

func down(vk uint16) winapi.Seen { return winapi.Seen{Device: winapi.Keyboard, Key: vk} }
func up(vk uint16) winapi.Seen   { return winapi.Seen{Device: winapi.Keyboard, Key: vk, Up: true} }

// fakeCtrl is the left ctrl of AltGr, which Windows makes: its scan code says so, and it
// has no tag.
func fakeCtrl(isUp bool) winapi.Seen {
	return winapi.Seen{Device: winapi.Keyboard, Key: vkLCtrl, Scan: winapi.FakeCtrlScan, Up: isUp}
}

func pointer(x, y int) winapi.Seen {
	return winapi.Seen{Device: winapi.Mouse, Moved: true, At: image.Pt(x, y)}
}

func own(e winapi.Seen) winapi.Seen {
	e.Own = true
	return e
}

// stopPressed are the events of the stop key as it is by default.
func stopPressed() []winapi.Seen {
	return []winapi.Seen{down(vkLCtrl), down(vkLAlt), down(vkBackspace), up(vkBackspace), up(vkLAlt), up(vkLCtrl)}
}

func (m *fakeMachine) pressStop() {
	for _, e := range stopPressed() {
		m.saw(e)
	}
}

// fakeDriver is a desktop that does what the test says.
type fakeDriver struct {
	do      func(ctx context.Context, in driver.Input) error
	capture func() driver.Picture
	windows []driver.Window
}

func (d *fakeDriver) Do(ctx context.Context, in driver.Input) error {
	if d.do == nil {
		return nil
	}
	return d.do(ctx, in)
}
func (d *fakeDriver) Release(context.Context) error { return nil }
func (d *fakeDriver) State(context.Context) (desktop.State, error) {
	return desktop.State{Kind: desktop.Active}, nil
}
func (d *fakeDriver) Monitors(context.Context) ([]driver.Monitor, error) { return nil, nil }
func (d *fakeDriver) Windows(context.Context) ([]driver.Window, error) {
	return slices.Clone(d.windows), nil
}
func (d *fakeDriver) Capture(context.Context) (driver.Picture, error) {
	if d.capture == nil {
		return driver.Picture{}, nil
	}
	return d.capture(), nil
}
func (d *fakeDriver) CaptureWindow(ctx context.Context, _ string) (driver.Picture, error) {
	return d.Capture(ctx)
}

// sendUntilStopped is a gesture of n events that looks at its context between two.
func sendUntilStopped(n int, between func(sent int)) func(context.Context, driver.Input) error {
	return func(ctx context.Context, _ driver.Input) error {
		for sent := range n {
			if ctx.Err() != nil {
				return &driver.InputError{Sent: sent, Err: context.Cause(ctx)}
			}
			between(sent)
		}
		return nil
	}
}

func guard(t *testing.T, m *fakeMachine, config Config) *Guard {
	t.Helper()
	if config.Driver == nil {
		config.Driver = &fakeDriver{}
	}
	g, err := open(config, func() (machine, error) { return m, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

var errTestEnds = errors.New("the test ends")

// attend gathers what is told until the test ends, or the guard closes.
func attend(t *testing.T, g *Guard) <-chan driver.Act {
	t.Helper()
	told, ended := make(chan driver.Act, 100), make(chan error, 1)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	begun := make(chan struct{})
	go func() {
		close(begun)
		ended <- g.Attend(ctx, func(a driver.Act) { told <- a })
	}()
	<-begun
	t.Cleanup(func() {
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) && !errors.Is(err, errClosed) {
			t.Errorf("Attend = %v", err)
		}
	})
	return told
}
