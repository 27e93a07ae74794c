package agent_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

var errTestOver = errors.New("the test is over")

// screen is a desktop that counts input and changes a pixel block by each.
type screen struct {
	mu       sync.Mutex
	state    desktop.Kind
	inputs   []driver.Input
	onInput  func() // before an input counts
	onState  func() // before an action or a look learns the state
	released int
}

func newScreen() *screen { return &screen{state: desktop.Active} }

func (s *screen) Do(_ context.Context, in driver.Input) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.onInput != nil {
		s.onInput()
	}
	s.inputs = append(s.inputs, in)
	return nil
}

func (s *screen) Release(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released++
	return nil
}

func (s *screen) State(context.Context) (desktop.State, error) {
	s.mu.Lock()
	state, hook := desktop.State{Kind: s.state}, s.onState
	s.mu.Unlock()
	if hook != nil {
		hook()
	}
	return state, nil
}

func (s *screen) hookState(hook func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onState = hook
}

func (s *screen) become(k desktop.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = k
}

func (s *screen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inputs)
}

func (s *screen) releases() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released
}

func (s *screen) Monitors(context.Context) ([]driver.Monitor, error) {
	return []driver.Monitor{{Bounds: image.Rect(0, 0, 64, 48), Scale: 1, Primary: true}}, nil
}

func (s *screen) Windows(context.Context) ([]driver.Window, error) { return nil, nil }

// CaptureWindow takes the screen: its one window fills it.
func (s *screen) CaptureWindow(ctx context.Context, _ string) (driver.Picture, error) {
	return s.Capture(ctx)
}

func (s *screen) Capture(context.Context) (driver.Picture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range 64 * 24 {
		img.SetRGBA(i%64, i/64, color.RGBA{uint8(40 * len(s.inputs)), uint8(i), 0, 255})
	}
	return driver.Picture{Image: img, Taken: time.Now(), Method: "screen"}, nil
}

// world is an agent and the control plane that a test plays.
type world struct {
	t      *testing.T
	server *agenttest.Server
	screen *screen
	dir    string
	stop   func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, server: agenttest.New(), screen: newScreen(), dir: t.TempDir()}
}

// start runs an agent on the world's spool, with change applied to its settings.
func (w *world) start(change func(*agent.Config)) {
	w.t.Helper()
	cfg := agent.Config{
		Server: agenttest.Address, MachineID: "m", Driver: w.screen, StateDir: w.dir, Dial: w.server.Dial,
		Random: func() float64 { return 0.5 }, Version: "test",
	}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	w.stop = func() {
		cancel(errTestOver)
		if err := <-ended; !errors.Is(err, errTestOver) {
			w.t.Errorf("Run = %v", err)
		}
		w.stop = nil
	}
}

// close ends what a bubble must not leave behind.
func (w *world) close() {
	if w.stop != nil {
		w.stop()
	}
	if err := w.server.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) accept() *agenttest.Conn {
	w.t.Helper()
	c, err := w.server.Accept(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// open takes the next stream, welcomes it, and waits until the agent has done what
// follows from that and has looked at its desktop.
func (w *world) open() *agenttest.Conn {
	w.t.Helper()
	c := w.accept()
	w.must(c.Welcome(&reprisev1.Welcome{SessionId: "s"}))
	synctest.Wait()
	return c
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) report(c *agenttest.Conn) *reprisev1.Report {
	w.t.Helper()
	r, err := c.Report(w.t.Context())
	w.must(err)
	return r
}

// freezeDisk returns a copy of the spool as it lies on the disk now: what a
// process that was killed at this moment leaves.
func (w *world) freezeDisk() string {
	data, err := os.ReadFile(filepath.Join(w.dir, "spool"))
	if err != nil {
		w.t.Error(err)
	}
	frozen := w.t.TempDir()
	if err := os.WriteFile(filepath.Join(frozen, "spool"), data, 0o600); err != nil {
		w.t.Error(err)
	}
	return frozen
}

// pass lets the bubble's time go by.
func pass(d time.Duration) {
	time.Sleep(d)
}

func click(id, attempt string) *reprisev1.Dispatch {
	return &reprisev1.Dispatch{
		ReplayId: "r", SessionId: "s", MachineId: "m", ActionId: id, AttemptId: attempt,
		Action: &reprisev1.Action{
			Target: &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.5}},
			Kind:   &reprisev1.Action_Click{Click: &reprisev1.Click{}},
		},
	}
}

func move(id, attempt string) *reprisev1.Dispatch {
	d := click(id, attempt)
	d.Action.Kind = &reprisev1.Action_Move{Move: &reprisev1.Move{}}
	return d
}

func code(r *reprisev1.Report) string {
	if r.GetSuccess() {
		return "success"
	}
	return r.GetError().GetCode().String()
}
