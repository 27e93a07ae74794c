package person

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	driving "github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// lookingDriver presses the stop key at one of the looks that a gesture takes at its
// context, which is between two input events.
type lookingDriver struct {
	driver.Driver
	stop func()
	at   int // the look, from 1; 0: none
	took int // looks so far
}

func (d *lookingDriver) Do(ctx context.Context, in driver.Input) error {
	d.took = 0
	return d.Driver.Do(glances{ctx, d}, in)
}

type glances struct {
	context.Context
	driver *lookingDriver
}

func (l glances) Err() error {
	if l.driver.took++; l.driver.took == l.driver.at {
		l.driver.stop()
	}
	return l.Context.Err()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// desk is a virtual desktop with a driver, and the door by which it is judged.
func desk(t *testing.T) (driver.Driver, wire.ControlClient) {
	t.Helper()
	scene, ok := virtualdesktop.BuiltIn("simple")
	if !ok {
		t.Fatal("no scene")
	}
	input, control := listen(t), listen(t)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serve.New(scene, nil).Run(ctx, input, control) }()
	t.Cleanup(func() {
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("the desktop ended with %v", err)
		}
	})
	d := driving.New(input.Addr().String())
	t.Cleanup(func() { _ = d.Close() })
	door, err := wire.DialControl(t.Context(), control.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	return d, door
}

func TestB19_AStopAtAnyInputEventLeavesNothingDown(t *testing.T) {
	d, door := desk(t)
	w, err := door.Recorder(t.Context(), "takes input")
	if err != nil {
		t.Fatal(err)
	}
	from := w.Area.Min.Add(w.Area.Size().Div(4))
	for _, in := range []driver.Input{
		driver.Combo{Keys: []string{"ctrl", "shift", "f"}},
		driver.Click{At: from, Count: 2, Modifiers: []string{"ctrl", "alt"}},
		driver.Drag{From: from, To: from.Add(w.Area.Size().Div(4))},
		driver.Type{Text: "Déjà vu"},
		driver.Scroll{At: from, Vertical: 3},
	} {
		m, looking := newFake(), &lookingDriver{Driver: d}
		g := guard(t, m, Config{Driver: looking})
		looking.stop = m.pressStop
		if err := g.Do(t.Context(), in); err != nil {
			t.Fatalf("%T: %v", in, err)
		}
		stops, sent := 0, -1
		for looking.at = 1; ; looking.at++ {
			err := g.Do(t.Context(), in)
			down, fault := door.Down(t.Context())
			if fault != nil || len(down) > 0 {
				t.Errorf("%T stopped at look %d: %v stay down, %v", in, looking.at, down, fault)
			}
			if err == nil { // the stop came at the last look, or not at all
				break
			}
			if got := sentBefore(t, err); !errors.Is(err, driver.ErrStopped) || got < sent {
				t.Errorf("%T stopped at look %d: %v; before, %d were sent", in, looking.at, err, sent)
			} else {
				sent = got
			}
			if err := g.Do(t.Context(), in); !errors.Is(err, driver.ErrStopped) || !driver.NothingSent(err) {
				t.Errorf("%T after the stop: %v", in, err)
			}
			stops++
			if err := g.GoOn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if sent < 1 || stops < sent+1 {
			t.Errorf("%T: %d stops, the last one after %d input events", in, stops, sent)
		}
	}
}

// Windows puts a ctrl without the agent's tag before the agent's AltGr. When no right alt
// may follow it has no business on the desktop either; what brings it up has.
func TestB19_TheCtrlOfTheAgentsAltGrDoesNotReachTheDesktopAfterAStop(t *testing.T) {
	m := newFake()
	var kept []bool
	see := func(events ...winapi.Seen) {
		for _, e := range events {
			kept = append(kept, m.saw(e))
		}
	}
	d := &fakeDriver{do: func(context.Context, driver.Input) error {
		see(fakeCtrl(false), own(down(vkRAlt)), fakeCtrl(true), own(up(vkRAlt)))
		m.pressStop()
		see(fakeCtrl(false), own(down(vkRAlt)), fakeCtrl(true), own(up(vkRAlt)))
		return nil
	}}
	g := guard(t, m, Config{Driver: d})
	if err := g.Do(t.Context(), driver.Type{Text: "@@"}); !errors.Is(err, driver.ErrStopped) || sentBefore(t, err) != 2 {
		t.Errorf("it ended with %v", err)
	}
	see(fakeCtrl(false), down(vkRAlt), fakeCtrl(true), up(vkRAlt)) // the person's own, after it
	want := []bool{false, false, false, false, true, true, false, false, false, false, false, false}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept from the desktop (-want +got):\n%s", diff)
	}
}
