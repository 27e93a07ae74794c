package servertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
	"github.com/reprise-rpa/reprise/server/settings"
)

// patient is a server that waits long for what is in flight.
func patient(s *settings.Settings) { s.DrainTimeout = 30 * time.Second }

// What an operator does is orderly and takes its time, and those who watch are told;
// a crash asks nobody. Neither loses or repeats anything.
func TestAStopIsOrderlyAndACrashIsNot(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(*servertest.Server) error
		took   time.Duration // the action in flight is done after 10 s
		reason string        // that a watcher is told
	}{
		{"stop", (*servertest.Server).Stop, 10 * time.Second, "GOING_AWAY"},
		{"crash", (*servertest.Server).Crash, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := worldFor(t, time.Hour, servertest.Options{Dir: dir, Settings: patient})
				w.desk.On("first", servertest.Succeed().After(10*time.Second))
				id := w.create("first", "second")
				w.must(w.desk.Await(w.ctx, "first"))
				told := w.watch(id)
				synctest.Wait()
				began := time.Now()
				w.must(tt.end(w.Server))
				if took := time.Since(began).Round(time.Second); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if err := <-told; status.Code(err) != codes.Unavailable || reasonOf(err) != tt.reason {
					t.Errorf("a watcher is told %v (%s), want reason %q", err, reasonOf(err), tt.reason)
				}
				w.must(w.Crash())
				w.must(w.Restart())
				w.await(id, completed)
				w.executed("first", "second")
			})
		})
	}
}

// What was answered before a crash is there after it, however often it happens.
func TestACrashKeepsWhatWasAcknowledged(t *testing.T) {
	for _, listen := range []string{"", "127.0.0.1:0"} {
		w := newWorld(t, servertest.Options{Listen: listen})
		w.desk.Lock() // nothing is done meanwhile
		var ids []string
		for range 2 {
			res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: workflow("first")}, grpc.WaitForReady(true))
			w.must(err)
			ids = append(ids, res.GetReplay().GetReplayId())
			w.must(w.Crash())
			w.must(w.Restart())
		}
		w.desk.Unlock()
		for _, id := range ids {
			w.await(id, completed)
		}
		w.executed("first", "first")
	}
}

// watch watches a replay and tells how that ended.
func (w *world) watch(id string) <-chan error {
	w.t.Helper()
	stream, err := w.replays.WatchReplay(w.ctx, &reprisev1.WatchReplayRequest{ReplayId: id})
	w.must(err)
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				ended <- err
				return
			}
		}
	}()
	return ended
}

func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
