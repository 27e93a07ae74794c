package dispatch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// fakeJournal is a journal in memory that can fail and stall.
type fakeJournal struct {
	mu      sync.Mutex
	records map[string][]replay.Record
	order   []string
	machine map[string]string // by replay
	appends int
	refused int

	writeErr, readErr error
	stalled           map[string]chan struct{} // by machine: its appends wait for the close
}

func newFakeJournal() *fakeJournal {
	return &fakeJournal{records: map[string][]replay.Record{}, machine: map[string]string{}, stalled: map[string]chan struct{}{}}
}

func (j *fakeJournal) set(write, read error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writeErr, j.readErr = write, read
}

// stall holds up a machine's appends until the function returned is called.
func (j *fakeJournal) stall(machine string) (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ch := make(chan struct{})
	j.stalled[machine] = ch
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.stalled, machine)
		close(ch)
	}
}

func (j *fakeJournal) Append(ctx context.Context, entries []replay.Entry) error {
	j.mu.Lock()
	stall := j.stalled[entries[0].Head.MachineID]
	j.mu.Unlock()
	if stall != nil {
		select {
		case <-stall:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appends++
	if j.writeErr != nil {
		if j.refused++; j.refused > 5000 {
			panic("the loop spins on a journal that refuses its writes")
		}
		return j.writeErr
	}
	for _, e := range entries {
		id := e.Record.ReplayID
		if int64(len(j.records[id]))+1 != e.Record.Seq {
			return replay.ErrStale
		}
	}
	for _, e := range entries {
		id := e.Record.ReplayID
		if j.records[id] == nil {
			j.order = append(j.order, id)
		}
		j.records[id] = append(j.records[id], e.Record)
		j.machine[id] = e.Head.MachineID
	}
	return nil
}

func (j *fakeJournal) LiveOf(_ context.Context, machine string) ([]replay.Record, error) {
	var list []replay.Record
	err := j.live(func(rec replay.Record) error {
		if j.machine[rec.ReplayID] == machine {
			list = append(list, rec)
		}
		return nil
	})
	return list, err
}

func (j *fakeJournal) Live(_ context.Context, f func(replay.Record) error) error { return j.live(f) }

func (j *fakeJournal) live(f func(replay.Record) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.readErr != nil {
		return j.readErr
	}
	for _, id := range j.order {
		r, err := replay.Fold(j.records[id])
		if err != nil || r.State.Ended() {
			if err != nil {
				return err
			}
			continue
		}
		for _, rec := range j.records[id] {
			if err := f(rec); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *fakeJournal) EndedIDs(context.Context) (map[string][]string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ended := map[string][]string{}
	for _, id := range j.order {
		if r, err := replay.Fold(j.records[id]); err != nil {
			return nil, err
		} else if r.State.Ended() {
			ended[r.MachineID] = append(ended[r.MachineID], id)
		}
	}
	return ended, nil
}

func (j *fakeJournal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.appends
}

// fakeConn keeps what is sent to a session.
type fakeConn struct {
	mu     sync.Mutex
	got    []Effect
	closed error
}

func (c *fakeConn) Send(e Effect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, e)
}

func (c *fakeConn) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = err
}

// take returns what came since the last call.
func (c *fakeConn) take() []Effect {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

func (c *fakeConn) closedWith() error {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// fakeObserver keeps nothing.
type fakeObserver struct{}

func (fakeObserver) Note(string, Note)             {}
func (fakeObserver) Changed(string, View)          {}
func (fakeObserver) Appended(time.Duration, error) {}
func (fakeObserver) InFlight(string, int)          {}

var errEnough = errors.New("the test is over")

// fleet is a running fleet in a bubble of its own time.
type fleet struct {
	*Fleet
	t       *testing.T
	ctx     context.Context
	journal *fakeJournal
	swept   chan Swept
	end     func() // stops the fleet and waits for it
}

// inBubble runs a test with a fleet that has recovered from j. All goroutines
// must have ended when the fleet has.
func inBubble(t *testing.T, j *fakeJournal, test func(f *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, journal: j, swept: make(chan Swept, 1000)}
		ctx, stop := context.WithCancelCause(t.Context())
		f.ctx = ctx
		var err error
		f.Fleet, err = Recover(ctx, FleetConfig{
			Machine: config(), Store: j, Observer: fakeObserver{}, ScanEvery: 10 * time.Second,
			Swept: func(s Swept, _ int, _ time.Duration) { f.swept <- s },
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		f.end = sync.OnceFunc(func() {
			stop(errEnough)
			if err := <-ended; !errors.Is(err, errEnough) {
				t.Errorf("Run returned %v, want its context's cause", err)
			}
		})
		defer f.end()
		test(f)
	})
}

// ask hands an input to a machine and returns the answer.
func (f *fleet) ask(machine string, in func(reply func(Answer)) Input) Answer {
	f.t.Helper()
	answers := make(chan Answer, 1)
	if err := f.Loop(machine).Post(f.ctx, in(func(a Answer) { answers <- a })); err != nil {
		f.t.Fatal(err)
	}
	return <-answers
}

func (f *fleet) submit(machine, id string, list ...replay.Step) Answer {
	f.t.Helper()
	return f.ask(machine, func(reply func(Answer)) Input {
		return Submit{ReplayID: id, Created: replay.Created{MachineID: machine, Steps: list}, Reply: reply}
	})
}

func (f *fleet) open(machine, session string) *fakeConn {
	f.t.Helper()
	c := &fakeConn{}
	in := Open{Session: Session{Session: replay.Session{ID: session, BootID: "boot", SpoolID: "spool"}, Usable: true}}
	if err := f.Loop(machine).Open(f.ctx, in, c); err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fleet) post(machine string, in Input) {
	f.t.Helper()
	if err := f.Loop(machine).Post(f.ctx, in); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) report(machine, session, action string) {
	f.t.Helper()
	f.post(machine, Report{SessionID: session, Result: Result{Ref: Ref{ActionID: action}, Report: success}})
}

// kinds returns how many of a type there are.
func count[E Effect](effects []Effect) (n int) {
	for _, e := range effects {
		if _, ok := e.(E); ok {
			n++
		}
	}
	return n
}
