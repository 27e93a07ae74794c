package runner_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

var errTestOver = errors.New("the test is over")

// executor runs a function for each job.
type executor func(context.Context, work.Job) work.Outcome

func (e executor) Execute(ctx context.Context, job work.Job) work.Outcome { return e(ctx, job) }

// click begins and is done at once.
func click(_ context.Context, job work.Job) work.Outcome {
	if err := job.Begin(); err != nil {
		return work.Failure(work.DesktopUnavailable, work.NotStarted, err.Error())
	}
	return work.Outcome{Completion: work.Completed}
}

// stream keeps what was sent, and vouches.
type stream struct {
	sent  chan string
	vouch func(context.Context) error // nil: at once
}

func (s stream) Vouch(ctx context.Context) error {
	if s.vouch == nil {
		return nil
	}
	return s.vouch(ctx)
}

func (s stream) SendReport(r work.Report) {
	word := "success"
	if !r.Outcome.Success() {
		word = string(r.Outcome.Code)
	}
	s.sent <- fmt.Sprintf("report %s %s %s", r.AttemptID, word, r.Outcome.Completion)
}

func (s stream) SendProgress(p work.Progress) {
	s.sent <- fmt.Sprintf("progress %s %v", p.AttemptID, p.Executing)
}
func (s stream) SendPerson(wish work.PersonWish, _ string) { s.sent <- "ask to " + wish.String() }
func (s stream) Reopen(reason string)                      { s.sent <- "reopen" }

// rig is a runner in a bubble, with its stream open.
type rig struct {
	t        *testing.T
	runner   *runner.Runner
	spool    *spool.Spool
	stream   stream
	stop     context.CancelCauseFunc
	ended    chan error
	released atomic.Int32
	stuck    atomic.Int32 // so many releases fail
	hangs    atomic.Int32 // so many last as long as they may
	panics   atomic.Int32 // so many calls of the desktop panic
}

func newRig(t *testing.T, fs spool.FS, execute executor) *rig {
	t.Helper()
	free := make(chan struct{})
	close(free)
	return newRigAt(t, fs, execute, free)
}

// newRigAt is newRig on a desktop that lets go of no key before free is closed.
func newRigAt(t *testing.T, fs spool.FS, execute executor, free <-chan struct{}) *rig {
	t.Helper()
	s, err := spool.Open(spool.Config{FS: fs, BootID: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, spool: s, stream: stream{sent: make(chan string, 100)}, ended: make(chan error, 1)}
	r.runner = runner.New(runner.Config{
		Spool: s, Executor: execute, BootID: "boot",
		Release: func(ctx context.Context) error {
			<-free
			if r.hangs.Load() > 0 {
				r.hangs.Add(-1)
				<-ctx.Done()
				return context.Cause(ctx)
			}
			r.breaks()
			r.released.Add(1)
			if r.stuck.Load() > 0 {
				r.stuck.Add(-1)
				return errors.New("no desktop")
			}
			return nil
		},
		GoOn: func(context.Context) error { r.breaks(); return nil },
	})
	ctx, stop := context.WithCancelCause(t.Context())
	r.stop = stop
	go func() { r.ended <- r.runner.Run(ctx) }()
	r.open(nil)
	return r
}

// breaks panics as often as the test wants.
func (r *rig) breaks() {
	if r.panics.Add(-1) >= 0 {
		panic("no such desktop")
	}
}

// open opens a stream that says whether it vouches for an action; nil: it does.
func (r *rig) open(vouch func(context.Context) error) {
	r.t.Helper()
	r.stream.vouch = vouch
	if err := r.runner.Open(r.t.Context(), r.stream, runner.Opened{}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) handle(e runner.Event) {
	r.t.Helper()
	if err := r.runner.Handle(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) expect(want ...string) {
	r.t.Helper()
	for _, w := range want {
		if got := <-r.stream.sent; got != w {
			r.t.Fatalf("sent %q, want %q", got, w)
		}
	}
}

func (r *rig) end() {
	r.t.Helper()
	r.stop(errTestOver)
	if err := <-r.ended; !errors.Is(err, errTestOver) {
		r.t.Errorf("Run = %v", err)
	}
	if err := r.spool.Close(); err != nil {
		r.t.Error(err)
	}
}

// dir is a folder with an empty spool that a process before has left in order.
func dir(t *testing.T) spool.FS {
	t.Helper()
	fs, err := spool.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := spool.Open(spool.Config{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fs
}

func ask(id, attempt string) runner.Dispatched {
	return runner.Dispatched{Dispatch: work.Dispatch{Ref: work.Ref{ReplayID: "r", ActionID: id, AttemptID: attempt}}}
}

func TestRepeatedDispatchIsExecutedOnceAlsoByTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := dir(t)
		runs := 0
		count := func(ctx context.Context, job work.Job) work.Outcome { runs++; return click(ctx, job) }
		first := newRig(t, fs, count)
		first.handle(ask("a", "a1"))
		first.expect("progress a1 false", "report a1 success completed")
		first.handle(ask("a", "a2"))
		first.expect("report a1 success completed")
		first.end()
		second := newRig(t, fs, count)
		second.expect("report a1 success completed") // not acknowledged yet
		second.handle(ask("a", "a3"))
		second.expect("report a1 success completed")
		second.end()
		if runs != 1 {
			t.Errorf("executed %d times", runs)
		}
	})
}

func TestStartedIsOnTheDiskBeforeInputAndTheResultBeforeTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, dir(t), func(_ context.Context, job work.Job) work.Outcome {
			if _, ok := r.spool.Memory().Get("a"); ok {
				t.Error("started before it began")
			}
			if err := job.Begin(); err != nil {
				t.Error(err)
			}
			if e, _ := r.spool.Memory().Get("a"); e.State != spool.Started {
				t.Errorf("on input the spool says %q", e.State)
			}
			return work.Outcome{Completion: work.Completed}
		})
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 success completed")
		if e, _ := r.spool.Memory().Get("a"); e.State != spool.Finished {
			t.Errorf("on the report the spool says %q", e.State)
		}
		r.end()
	})
}

func TestExecutionBlocksNeitherProgressNorCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), work.ErrInterrupted) {
				t.Errorf("stopped because of %v", context.Cause(ctx))
			}
			if err := job.Begin(); err == nil {
				t.Error("input could begin after the stop")
			}
			return work.Failure(work.Interrupted, work.NotStarted, "")
		})
		begin := time.Now()
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "progress a1 true")
		if passed := time.Since(begin); passed != 200*time.Millisecond {
			t.Errorf("first progress after %v", passed)
		}
		r.expect("progress a1 true")
		if passed := time.Since(begin); passed != 5200*time.Millisecond {
			t.Errorf("second progress after %v", passed)
		}
		r.handle(runner.Cancelled{ReplayID: "r"})
		r.expect("report a1 interrupted not_started")
		r.end()
	})
}

func TestTheEndOfTheProcessLetsTheActionComeToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			if err := job.Begin(); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
				t.Error("stopped in the middle")
			}
			return work.Outcome{Completion: work.Completed}
		})
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		r.end()
		if r.released.Load() != 1 {
			t.Errorf("released %d times", r.released.Load())
		}
		if err := r.runner.Handle(t.Context(), runner.Lost{}); !errors.Is(err, runner.ErrStopped) {
			t.Errorf("Handle after the end = %v", err)
		}
	})
}

// fullDisk is a directory on which writes fail while full is set.
type fullDisk struct {
	spool.FS
	full atomic.Bool
}

type fullFile struct {
	spool.File
	disk *fullDisk
}

var errFull = errors.New("no space left")

func (d *fullDisk) Append(name string) (spool.File, error) {
	f, err := d.FS.Append(name)
	return fullFile{f, d}, err
}

func (d *fullDisk) Create(name string) (spool.File, error) {
	f, err := d.FS.Create(name)
	return fullFile{f, d}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.disk.full.Load() {
		return 0, errFull
	}
	return f.File.Write(p)
}

func TestAFullDiskRefusesToExecuteAndRecoversByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fullDisk{FS: dir(t)}
		inputs := 0
		r := newRig(t, disk, func(ctx context.Context, job work.Job) work.Outcome {
			outcome := click(ctx, job)
			if outcome.Success() {
				inputs++
			}
			return outcome
		})
		disk.full.Store(true)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 desktop_unavailable not_started")
		r.handle(ask("b", "b1"))
		r.expect("progress b1 false", "report b1 desktop_unavailable not_started")
		if inputs != 0 {
			t.Errorf("%d inputs were sent untracked", inputs)
		}
		disk.full.Store(false)
		r.handle(runner.Acked{Ack: runner.Ack{ActionID: "a"}})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.handle(ask("c", "c1"))
		r.expect("progress c1 false", "report c1 success completed")
		r.end()
	})
}

func TestOpeningNamesTheMemoryAndTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), click)
		o, err := r.runner.Opening(t.Context())
		if err != nil || o.SpoolID != r.spool.ID() || o.BootID != "boot" {
			t.Errorf("Opening = %+v, %v", o, err)
		}
		r.end()
	})
}
