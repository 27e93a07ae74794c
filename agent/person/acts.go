package person

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// mostActs is how many acts wait to be told at most; beyond it uses are dropped.
const mostActs = 64

// acts are what the person did and nobody was told yet.
type acts struct {
	mu      sync.Mutex
	waiting []driver.Act
	heard   bool          // somebody attends
	news    chan struct{} // holds something when acts wait, for who attends
	stirred chan struct{} // holds something when the guard has to look, for its own loop
}

func newActs() *acts { return &acts{news: make(chan struct{}, 1), stirred: make(chan struct{}, 1)} }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (a *acts) stir() { poke(a.stirred) }

// add takes an act up. A use is forgotten where nobody attends: it is over. A wish to
// go on is kept; neither that nor a stop waits twice. False: it
// was not taken up.
func (a *acts) add(act driver.Act) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stir()
	same := func(w driver.Act) bool { return w.Kind == act.Kind }
	switch {
	case act.Kind == driver.Used && (!a.heard || len(a.waiting) >= mostActs):
		return false
	case act.Kind != driver.Used && slices.ContainsFunc(a.waiting, same):
		return false
	case act.Kind == driver.Stopped && !a.heard:
		return false // who attends next asks the brake
	}
	a.waiting = append(a.waiting, act)
	poke(a.news)
	return true
}

// open begins with a stop that nobody has taken back. False: somebody attends already.
func (a *acts) open(stop func() (driver.Act, bool)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard {
		return false
	}
	a.heard = true
	a.waiting = slices.DeleteFunc(a.waiting, func(w driver.Act) bool { return w.Kind != driver.WantsOn })
	if act, stopped := stop(); stopped {
		a.waiting = slices.Insert(a.waiting, 0, act)
	}
	poke(a.news)
	return true
}

func (a *acts) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = false
}

func (a *acts) take() []driver.Act {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := a.waiting
	a.waiting = nil
	return taken
}

// settle drops what going on has answered.
func (a *acts) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = slices.DeleteFunc(a.waiting, func(w driver.Act) bool { return w.Kind != driver.Used })
}

var errAttended = errors.New("somebody attends already")

// Attend implements driver.Attended.
func (g *Guard) Attend(ctx context.Context, told func(driver.Act)) error {
	if !g.acts.open(g.brake.stopped) {
		return fmt.Errorf("attend: %w", errAttended)
	}
	defer g.acts.close()
	for {
		select {
		case <-g.acts.news:
			for _, act := range g.acts.take() {
				told(act)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-g.closing:
			return errClosed
		}
	}
}

// Hold implements driver.Attended.
func (g *Guard) Hold(ctx context.Context, stop driver.Act) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g.machine != nil && g.brake.pull(stop) {
		g.acts.add(stop)
		g.acts.stir()
	}
	return nil
}

// GoOn implements driver.Attended.
func (g *Guard) GoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.acts.settle() // before: a stop that comes after this one is told
	g.brake.loosen()
	g.acts.stir()
	return nil
}
