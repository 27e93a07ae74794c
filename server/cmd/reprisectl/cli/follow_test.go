package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// dies is a watch that tells how things are and is then cut, with the server
// away for a time.
func dies(h *host, st watchStream, away time.Duration, r *reprisev1.WatchReplayResponse) error {
	if err := st.Send(r); err != nil {
		return err
	}
	time.Sleep(10 * time.Millisecond) // the client has it
	go func() {
		h.kill()
		time.Sleep(away)
		h.start()
	}()
	<-st.Context().Done()
	return st.Context().Err()
}

func TestAWatchOutlivesRestartsOfTheServer(t *testing.T) {
	for _, tt := range []struct{ format, golden string }{{"plain", "restart.golden"}, {"json", "restart.json.golden"}} {
		t.Run(tt.format, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				h.fake = &fake{watch: func(n int, st watchStream) error {
					switch n {
					case 0:
						return dies(h, st, time.Minute, tell(replay(runs, 0, action(0, dispatched), action(1, waiting))))
					case 1:
						return dies(h, st, 10*time.Minute, tell(replay(runs, 1, action(0, acked), action(1, dispatched)), event(400, "action_reported", "r-1/a", ""), event(400, "action_dispatched", "r-1/b", "")))
					}
					return script(tell(replay(runs, 1, action(0, acked), action(1, dispatched))),
						tell(replay(completed, 3, action(1, acked), action(2, acked)), event(4200, "replay_ended", "", "")))(n, st)
				}}
				h.start()
				got := ctlAt(t, h, "watch", "r-1", "-o", tt.format)
				h.kill()
				wantExit(t, got, exitOK)
				golden(t, tt.golden, got.stdout)
				want := []*reprisev1.WatchReplayRequest{{ReplayId: "r-1"}, {ReplayId: "r-1", AfterRevision: new(int64(1))}, {ReplayId: "r-1", AfterRevision: new(int64(2))}}
				if diff := cmp.Diff(want, h.fake.watched, protocmp.Transform()); diff != "" {
					t.Errorf("it does not go on from what was seen: %s", diff)
				}
			})
		})
	}
}

// inParts is a snapshot of three responses, and a change.
func inParts() func(int, watchStream) error {
	parts := []*reprisev1.WatchReplayResponse{
		tell(replay(runs, 1, action(0, acked)), event(100, "action_dispatched", "r-1/a", ""), event(400, "action_reported", "r-1/a", "")),
		tell(replay(runs, 1, action(1, dispatched)), event(400, "action_dispatched", "r-1/b", "")),
		tell(replay(runs, 1, action(2, waiting))),
		tell(replay(completed, 3, action(1, acked), action(2, acked)), event(4200, "replay_ended", "", "completed")),
	}
	parts[0].SnapshotPending, parts[1].SnapshotPending = true, true
	return script(parts...)
}

func TestASnapshotInSeveralPartsIsShownAsOne(t *testing.T) {
	f := &fake{watch: inParts()}
	got := ctl(t, f, "watch", "r-1", "--history")
	wantExit(t, got, exitOK)
	golden(t, "parts.golden", got.stdout)
	if after := f.watched[0].AfterRevision; after == nil || *after != 0 {
		t.Errorf("--history asks for the events after %v, want 0", after)
	}
}

func TestAScriptGetsEachPartOfASnapshotAsItComes(t *testing.T) {
	got := ctl(t, &fake{watch: inParts()}, "watch", "r-1", "-o", "json")
	wantExit(t, got, exitOK)
	if n := strings.Count(got.stdout, `"snapshotPending":true`); n != 2 || strings.Count(got.stdout, `"type":"update"`) != 4 {
		t.Errorf("%d parts are marked, want 2: %s", n, got.stdout)
	}
	if !strings.Contains(got.stdout, `"counts":{"done":3,`) {
		t.Errorf("the end does not count what the parts told: %s", got.stdout)
	}
}

// A snapshot that is cut has told nothing yet: what was seen is from before it.
func TestACutSnapshotIsAskedForAgainFromTheSameRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: func(n int, st watchStream) error {
			switch n {
			case 0:
				return script(tell(replay(runs, 0, action(0, dispatched))))(n, st)
			case 1:
				part := tell(replay(runs, 1, action(0, acked)), event(400, "action_reported", "r-1/a", ""))
				part.SnapshotPending = true
				return script(part)(n, st)
			}
			return inParts()(n, st)
		}}
		got := ctl(t, f, "watch", "r-1")
		wantExit(t, got, exitOK)
		if n := strings.Count(got.stdout, "action_reported"); n != 1 {
			t.Errorf("the event is shown %d times, want once: %s", n, got.stdout)
		}
		if first, second := *f.watched[1].AfterRevision, *f.watched[2].AfterRevision; first != 1 || second != 1 {
			t.Errorf("went on after %d and %d, want 1 both times", first, second)
		}
	})
}

func TestRunMissesNothingBetweenCreatingAndWatching(t *testing.T) {
	path, _ := file(t)
	var req *reprisev1.CreateReplayRequest
	f := &fake{pictures: map[string][]byte{}, create: creates(&req), watch: script(tell(replay(completed, 3)))}
	wantExit(t, ctl(t, f, "run", path, "-m", "desk-1"), exitOK)
	if after := f.watched[0].AfterRevision; after == nil || *after != replay(queued, 0).GetRevision() {
		t.Errorf("watches after %v, want the revision that create answered", after)
	}
}

func TestAWatchGivesUpWhenToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.fake = &fake{watch: func(_ int, st watchStream) error { return dies(h, st, time.Hour, tell(replay(runs, 0))) }}
		h.start()
		began := time.Now()
		got := ctlAt(t, h, "watch", "r-1", "--give-up-after", "5m")
		wantExit(t, got, exitUnreachable)
		if took := time.Since(began); took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("gave up after %v, want 5 to 6 minutes", took)
		}
		time.Sleep(time.Hour) // the fake's own restart
		h.kill()
	})
}

func TestAServerThatWasNeverThereIsSaidAtOnce(t *testing.T) {
	path, _ := file(t)
	for _, args := range [][]string{{"watch", "r-1"}, {"run", path, "-m", "desk-1"}, {"get", "r-1"}, {"list"}, {"machines"}} {
		got := ctlAt(t, &host{fake: &fake{}}, args...)
		wantExit(t, got, exitUnreachable)
		if !strings.Contains(got.stderr, "(UNAVAILABLE)") {
			t.Errorf("%v: stderr: %s", args, got.stderr)
		}
	}
}

func TestASlowWatcherWatchesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: func(n int, st watchStream) error {
			if err := st.Send(tell(replay(runs, 0))); err != nil {
				return err
			}
			switch n {
			case 0:
				return status.Error(codes.ResourceExhausted, "the watcher does not keep up")
			case 1:
				return nil // ended before its time
			case 2:
				return status.Error(codes.Internal, "stream reset")
			}
			return script(tell(replay(completed, 3)))(n, st)
		}}
		wantExit(t, ctl(t, f, "watch", "r-1"), exitOK)
		if f.watches != 4 {
			t.Errorf("%d watches, want 4", f.watches)
		}
	})
}

func TestAFaultOfTheServerEndsAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: func(int, watchStream) error { return status.Error(codes.Internal, "internal error") }}
		wantExit(t, ctl(t, f, "watch", "r-1"), exitFailure)
		if f.watches != oddFailures {
			t.Errorf("%d watches, want %d", f.watches, oddFailures)
		}
	})
}

func TestAReplayThatIsGoneEndsAWatch(t *testing.T) {
	f := &fake{watch: func(int, watchStream) error { return status.Error(codes.NotFound, "no replay r-9") }}
	got := ctl(t, f, "watch", "r-9")
	wantExit(t, got, exitNotFound)
	if got.stderr != "reprisectl: watch r-9: no replay r-9 (NOT_FOUND)\n" {
		t.Errorf("stderr: %s", got.stderr)
	}
}

func TestACreateThatIsCutIsMadeAgainWithTheSameRequest(t *testing.T) {
	path, _ := file(t)
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		var ids []string
		h.fake = &fake{
			pictures: map[string][]byte{},
			create: func(req *reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
				if ids = append(ids, req.GetRequestId()); len(ids) == 1 {
					return nil, status.Error(codes.Unavailable, "the server is stopping")
				}
				return replay(queued, 0), nil
			},
			watch: script(tell(replay(completed, 3))),
		}
		h.start()
		wantExit(t, ctlAt(t, h, "run", path, "-m", "desk-1"), exitOK)
		h.kill()
		if len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
			t.Errorf("request ids %q, want the same twice", ids)
		}
	})
}

func TestAnUnknownFateOfACreateIsSaidWithItsRequestID(t *testing.T) {
	path, _ := file(t)
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pictures: map[string][]byte{}, create: func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
			return nil, status.Error(codes.Unavailable, "the server is stopping")
		}}
		got := ctl(t, f, "run", path, "-m", "desk-1", "--request-id", "id-7")
		wantExit(t, got, exitUnreachable)
		if !strings.Contains(got.stderr, "run it again with --request-id id-7") {
			t.Errorf("stderr: %s", got.stderr)
		}
	})
}

func TestInterruptingAWatchLeavesTheReplayAndSaysHowToComeBack(t *testing.T) {
	h := &host{}
	ctx, interrupt := context.WithCancel(t.Context())
	h.fake = &fake{watch: func(_ int, st watchStream) error {
		if err := st.Send(tell(replay(runs, 0))); err != nil {
			return err
		}
		interrupt()
		<-st.Context().Done()
		return nil
	}}
	h.start()
	defer h.kill()
	var stderr bytes.Buffer
	exit := Main(ctx, Env{
		Args: []string{"watch", "r-1", "--server", "127.0.0.1:9"}, Stdout: io.Discard, Stderr: &stderr,
		Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	if exit != exitInterrupted {
		t.Errorf("exit code %d, want %d", exit, exitInterrupted)
	}
	const want = "the replay goes on: reprisectl --server 127.0.0.1:9 watch r-1; to end it: reprisectl --server 127.0.0.1:9 cancel r-1"
	if !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr: %s", stderr.String())
	}
}

// closed is an output whose reader went away.
type closed struct{ writes atomic.Int32 }

func (c *closed) Write([]byte) (int, error) {
	c.writes.Add(1)
	return 0, io.ErrClosedPipe
}

func TestAClosedOutputEndsAWatch(t *testing.T) {
	h := &host{fake: &fake{watch: script(tell(replay(runs, 0)), tell(replay(runs, 1)))}}
	h.start()
	defer h.kill()
	out := &closed{}
	exit := Main(t.Context(), Env{
		Args: []string{"watch", "r-1"}, Stdout: out, Stderr: io.Discard, Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	if exit != exitFailure || out.writes.Load() != 1 {
		t.Errorf("exit code %d after %d writes, want %d after 1", exit, out.writes.Load(), exitFailure)
	}
}
