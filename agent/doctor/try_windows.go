package doctor

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Signs implements ScreenFacts. For a moment an icon shows in the notification area.
func (here) Signs() (Signs, error) {
	loop, err := winapi.StartLoop()
	if err != nil {
		return Signs{}, err
	}
	signs := Signs{
		Hooks:  loop.Hook(func(winapi.Seen) bool { return false }), // it keeps nothing from anybody
		Tray:   loop.ShowTray(winapi.Tray{Tip: "reprise-agent doctor", Icon: image.NewNRGBA(image.Rect(0, 0, 16, 16))}, func(int) {}),
		Unseen: loop.OutOfPictures(),
	}
	return signs, loop.Close()
}

// typed is what the self test types: a letter with an accent, a digit and a sign that
// few layouts have, so that what is lost or changed on the way shows.
const typed = "Réprise 2 €"

// boxTitle is the title of the window that the self test types into.
const boxTitle = "reprise-agent doctor"

// TryInput implements ScreenFacts. It sends input by the agent's own hands.
func (h here) TryInput(ctx context.Context) (Tried, error) {
	monitors, err := h.desk.Monitors(ctx)
	switch {
	case err != nil:
		return Tried{}, err
	case len(monitors) == 0:
		return Tried{}, errors.New("there is no monitor")
	}
	t := Tried{Want: typed, Pointer: h.nudge(ctx, monitors[0].Bounds)}
	t.Got, t.Typing = h.typeIntoBox(ctx, monitors[0].Bounds)
	return t, nil
}

// nudge moves the pointer by one pixel and back, on the primary monitor.
func (h here) nudge(ctx context.Context, primary image.Rectangle) error {
	from, err := h.system.Pointer()
	if err != nil {
		return err
	}
	if !from.In(primary) {
		from = primary.Min.Add(primary.Size().Div(2))
	}
	to := from.Add(image.Pt(1, 0))
	if !to.In(primary) {
		to = from.Sub(image.Pt(1, 0))
	}
	for _, at := range []image.Point{to, from} {
		if err := h.desk.Do(ctx, driver.Move{At: at}); err != nil {
			return err
		}
		if now, err := h.system.Pointer(); err != nil || now != at {
			return errors.Join(err, fmt.Errorf("sent to %v, it is at %v", at, now))
		}
	}
	return nil
}

// typeIntoBox opens a window, types into it and returns what arrived.
func (h here) typeIntoBox(ctx context.Context, primary image.Rectangle) (got string, err error) {
	size := image.Pt(420, 160)
	corner := primary.Min.Add(primary.Size().Sub(size).Div(2))
	box, err := winapi.OpenEditBox(boxTitle, image.Rectangle{Min: corner, Max: corner.Add(size)})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	id, err := h.idOf(ctx, box)
	if err != nil {
		return "", err
	}
	for _, in := range []driver.Input{driver.Focus{WindowID: id}, driver.Type{Text: typed, Mode: driver.Characters}} {
		if err := h.desk.Do(ctx, in); err != nil {
			return "", err
		}
	}
	return awaitText(ctx, box)
}

// idOf is the name under which the driver knows the window. Its class and its process
// find it: an edit control's title is its text.
func (h here) idOf(ctx context.Context, box *winapi.EditBox) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	windows, err := h.desk.Windows(ctx)
	if err != nil {
		return "", err
	}
	for _, w := range windows {
		if strings.EqualFold(w.Class, winapi.EditBoxClass) && strings.EqualFold(w.Process, filepath.Base(program)) {
			return w.ID, nil
		}
	}
	return "", fmt.Errorf("our own window %#x does not show: %w", box.Window(), driver.ErrGone)
}

// awaitText waits until all of the text has arrived, and for 3 s at most.
func awaitText(ctx context.Context, box *winapi.EditBox) (string, error) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	end := time.NewTimer(3 * time.Second)
	defer end.Stop()
	for {
		if got := box.Text(); got == typed {
			return got, nil
		}
		select {
		case <-look.C:
		case <-end.C:
			return box.Text(), nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
