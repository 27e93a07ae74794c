package drivertest

import (
	"context"
	"errors"
	"image"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// do performs a gesture that must succeed.
func do(t *testing.T, f Fixture, in driver.Input) {
	t.Helper()
	if err := f.Driver().Do(t.Context(), in); err != nil {
		t.Fatalf("%T: %v", in, err)
	}
}

// refused performs a gesture that must fail with want and send nothing.
func refused(t *testing.T, f Fixture, in driver.Input, want error) {
	t.Helper()
	err := f.Driver().Do(t.Context(), in)
	if !errors.Is(err, want) {
		t.Errorf("%T: %v; want %v", in, err, want)
	}
	if err != nil && !driver.NothingSent(err) {
		t.Errorf("%T: %v; want proof that nothing was sent", in, err)
	}
}

func nothingDown(t *testing.T, f Fixture) {
	t.Helper()
	if down := f.Down(t); len(down) != 0 {
		t.Errorf("still down: %v", down)
	}
}

// awaitEvents returns the events of the kinds as soon as there are n of them.
func awaitEvents(t *testing.T, w Window, n int, kinds ...Kind) []Event {
	t.Helper()
	seen := w.Await(t, func(s Seen) bool { return len(only(s.Events, kinds...)) >= n })
	return only(seen.Events, kinds...)
}

// awaitText fails unless exactly want arrives.
func awaitText(t *testing.T, w Window, want string) {
	t.Helper()
	if got := w.Await(t, func(s Seen) bool { return s.Text == want }).Text; got != want {
		t.Errorf("arrived: %q, want %q", got, want)
	}
}

func only(events []Event, kinds ...Kind) []Event {
	kept := []Event{}
	for _, e := range events {
		if slices.Contains(kinds, e.Kind) {
			kept = append(kept, e)
		}
	}
	return kept
}

// corners are the outermost pixels of an area and its middle.
func corners(r image.Rectangle) []image.Point {
	return []image.Point{
		r.Min, {r.Max.X - 1, r.Min.Y}, {r.Min.X, r.Max.Y - 1}, r.Max.Sub(image.Pt(1, 1)),
		{(r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2},
	}
}

// inside is the nth of a row of places too far apart for a double click.
func inside(r image.Rectangle, n int) image.Point {
	return r.Min.Add(image.Pt(20+35*n, 20+15*n))
}

// countdown is a context that is cancelled at its nth look, so that a gesture is
// stopped between two given events and never by chance.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func cancelAtLook(ctx context.Context, n int) *countdown {
	ctx, cancel := context.WithCancel(ctx)
	c := &countdown{Context: ctx, cancel: cancel}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) Err() error {
	c.look()
	return c.Context.Err()
}

func (c *countdown) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

func (c *countdown) look() {
	if c.left.Add(-1) <= 0 {
		c.cancel()
	}
}
