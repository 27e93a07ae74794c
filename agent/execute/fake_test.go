package execute_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/work"
)

// screen is a desktop in memory. It has a monitor of 400×300 and one of 200×200
// left of it. What it shows changes by what at says.
type screen struct {
	forbidden error // why no picture of a window is taken; nil: it is
	mu        sync.Mutex
	state     desktop.State
	monitors  []driver.Monitor
	windows   []driver.Window
	picture   *image.RGBA
	inputs    []driver.Input
	onInput   func(s *screen, n int) error // called with the lock held, before input n counts
	onLook    func(s *screen)              // called with the lock held
}

func newScreen() *screen {
	s := &screen{
		state: desktop.State{Kind: desktop.Active},
		monitors: []driver.Monitor{
			{Index: 0, Bounds: image.Rect(0, 0, 400, 300), Primary: true}, {Index: 1, Bounds: image.Rect(-200, 0, 0, 200)},
		},
		windows: []driver.Window{
			{ID: "1", Title: "Editor - notes", Bounds: image.Rect(100, 100, 300, 200), Active: true, Process: "editor.exe"},
			{ID: "2", Title: "Terminal", Bounds: image.Rect(350, 250, 450, 350)},
		},
		picture: image.NewRGBA(image.Rect(-200, 0, 400, 300)),
	}
	draw.Draw(s.picture, s.picture.Bounds(), image.NewUniform(color.RGBA{40, 60, 80, 255}), image.Point{}, draw.Src)
	return s
}

// icon is a picture with structure.
func icon() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 24, 24))
	for y := range 24 {
		for x := range 24 {
			img.SetRGBA(x, y, color.RGBA{uint8(x * x * 9), uint8(y * 10), uint8((x ^ y) * 8), 255})
		}
	}
	return img
}

func (s *screen) put(img image.Image, at image.Point) {
	fresh := image.NewRGBA(s.picture.Bounds())
	copy(fresh.Pix, s.picture.Pix)
	draw.Draw(fresh, img.Bounds().Add(at), img, img.Bounds().Min, draw.Src)
	s.picture = fresh
}

func (s *screen) Do(ctx context.Context, in driver.Input) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := driver.Uncovered(in, s.windows); err != nil {
		return &driver.InputError{Err: err}
	}
	if s.onInput != nil {
		if err := s.onInput(s, len(s.inputs)); err != nil {
			return err
		}
	}
	if combo, ok := in.(driver.Combo); ok && combo.Front != "" && !s.active(combo.Front) {
		return &driver.InputError{Err: driver.ErrNotInFront}
	}
	s.inputs = append(s.inputs, in)
	if focus, ok := in.(driver.Focus); ok {
		s.raise(focus.WindowID)
	}
	return nil
}

// active says whether a window has the keyboard.
func (s *screen) active(id string) bool {
	return slices.ContainsFunc(s.windows, func(w driver.Window) bool { return w.ID == id && w.Active })
}

// raise brings a window to the front.
func (s *screen) raise(id string) {
	i := slices.IndexFunc(s.windows, func(w driver.Window) bool { return w.ID == id })
	if i < 0 {
		return
	}
	w := s.windows[i]
	w.Active = true
	s.windows = slices.Delete(slices.Clone(s.windows), i, i+1)
	s.pop(w)
}

// at is the topmost window at a place; empty: there is none.
func (s *screen) at(p image.Point) string {
	for _, w := range s.windows {
		if p.In(w.Bounds) {
			return w.ID
		}
	}
	return ""
}

func (s *screen) Release(context.Context) error { return nil }

func (s *screen) look() {
	if s.onLook != nil {
		s.onLook(s)
	}
}

func (s *screen) State(context.Context) (desktop.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, nil
}

func (s *screen) Monitors(context.Context) ([]driver.Monitor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.monitors, nil
}

func (s *screen) Windows(context.Context) ([]driver.Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.windows, nil
}

func (s *screen) Capture(context.Context) (driver.Picture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return driver.Picture{Image: s.picture, Taken: time.Now(), Method: "screen"}, nil
}

func (s *screen) CaptureWindow(_ context.Context, id string) (driver.Picture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	if s.forbidden != nil {
		return driver.Picture{}, s.forbidden
	}
	for _, w := range s.windows {
		if w.ID == id {
			img := image.NewRGBA(w.Bounds)
			draw.Draw(img, w.Bounds, s.picture, w.Bounds.Min, draw.Src)
			return driver.Picture{Image: img, Taken: time.Now(), Method: driver.MethodWindow}, nil
		}
	}
	return driver.Picture{}, driver.ErrGone
}

// shelf holds the icon as an anchor, a secret, and the evidence.
type shelf struct {
	mu      sync.Mutex
	offline int               // so many requests for anchors fail
	kept    map[string][]byte // nil: no evidence is wanted
	first   []string          // of kept, those that somebody waits for
	refusal string            // what Keep says
}

var errOffline = errors.New("the connection is away")

func (s *shelf) Anchor(context.Context, string) (image.Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offline > 0 {
		s.offline--
		return nil, errOffline
	}
	return icon(), nil
}

func (s *shelf) Keep(sha256 string, png []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[sha256] = png
	return s.refusal
}

func (s *shelf) KeepFirst(sha256 string, png []byte) string {
	s.first = append(s.first, sha256)
	return s.Keep(sha256, png)
}

func (s *shelf) Secret(_ context.Context, name string) (string, error) {
	if name != "door" {
		return "", fmt.Errorf("no secret %q", name)
	}
	return "sesame", nil
}

// perform executes an action; only a screenshot keeps its pictures.
func perform(t *testing.T, s *screen, a work.Action) work.Outcome {
	t.Helper()
	h := &shelf{}
	if _, ok := a.Do.(work.Screenshot); ok {
		h.kept = map[string][]byte{}
	}
	return performWith(t.Context(), s, h, a, nil)
}

func performWith(ctx context.Context, s *screen, h *shelf, a work.Action, begin func() error) work.Outcome {
	if begin == nil {
		begin = func() error { return nil }
	}
	cfg := execute.Config{Driver: s, Anchors: h, Secrets: h}
	if h.kept != nil {
		cfg.Evidence = h
	}
	return execute.New(cfg).Execute(ctx, work.Job{
		Dispatch: work.Dispatch{Ref: work.Ref{ActionID: "a"}, Action: a},
		Settings: work.Settings{}.WithDefaults(), Begin: begin, Doing: func(string) {},
	})
}

// changes makes the screen change by each input.
func changes(s *screen, n int) error {
	box := image.NewRGBA(image.Rect(0, 0, 60, 60))
	draw.Draw(box, box.Bounds(), image.NewUniform(color.RGBA{uint8(200 + n), 0, 0, 255}), image.Point{}, draw.Src)
	s.put(box, image.Pt(10, 10))
	return nil
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}
