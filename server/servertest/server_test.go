package servertest_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
	"github.com/reprise-rpa/reprise/server/settings"
)

// The server goes away in the middle of an action: nothing is lost, nothing is done
// twice, and the connection is the same.
func TestARestartLosesNothingAndRepeatsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("second", servertest.Succeed().After(20*time.Second))
		id := w.create("first", "second", "third")
		w.must(w.desk.Await(w.ctx, "second"))
		w.must(w.Restart())
		w.await(id, completed)
		w.executed("first", "second", "third")
	})
}

// Await goes on through a restart that comes while it waits.
func TestAwaitOutlivesARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(20*time.Second))
		id := w.create("first")
		done := make(chan error, 1)
		go func() {
			_, err := w.Await(w.ctx, id)
			done <- err
		}()
		synctest.Wait()
		w.must(w.Stop())
		time.Sleep(10 * time.Second)
		w.must(w.Restart())
		w.must(<-done)
	})
}

func TestAwaitSaysHowAReplayEndedInstead(t *testing.T) {
	w := newMachine(t, nil)
	_, err := w.Await(w.ctx, w.create("first"), cancelled)
	if err == nil || !strings.Contains(err.Error(), "COMPLETED") {
		t.Errorf("Await = %v", err)
	}
	if _, err := w.Await(w.ctx, "r-none"); status.Code(err) != codes.NotFound {
		t.Errorf("of an unknown replay: %v", err)
	}
}

func TestAStoppedServerIsUnavailable(t *testing.T) {
	w := newWorld(t, servertest.Options{})
	id := w.create("first")
	w.await(id, completed)
	w.must(w.Stop())
	w.must(w.Stop())
	if _, err := w.replays.GetReplay(w.ctx, &reprisev1.GetReplayRequest{ReplayId: id}); status.Code(err) != codes.Unavailable {
		t.Errorf("a call: %v", err)
	}
	if err := w.Register("desk-2"); !errors.Is(err, servertest.ErrStopped) {
		t.Errorf("a registration: %v", err)
	}
	w.must(w.Restart())
	if _, err := w.replays.GetReplay(w.ctx, &reprisev1.GetReplayRequest{ReplayId: id}, grpc.WaitForReady(true)); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// Services that are not in this process find the server at its address, also after
// a restart.
func TestTheServerListensWhereItIsTold(t *testing.T) {
	w := newWorld(t, servertest.Options{Listen: "127.0.0.1:0"})
	conn, err := grpc.NewClient(w.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	w.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	ctx := metadata.AppendToOutgoingContext(w.ctx, "authorization", "Bearer "+w.Token())
	for range 2 {
		got, err := reprisev1.NewMachineServiceClient(conn).ListMachines(ctx, &reprisev1.ListMachinesRequest{}, grpc.WaitForReady(true))
		w.must(err)
		if n := len(got.GetMachines()); n != 1 {
			t.Errorf("%d machines", n)
		}
		w.must(w.Stop())
		for conn.GetState() == connectivity.Ready { // it may not have noticed yet
			conn.WaitForStateChange(ctx, connectivity.Ready)
		}
		if lis, err := net.Listen("tcp", w.Addr()); err == nil {
			_ = lis.Close()
			t.Error("another program could take the address")
		}
		w.must(w.Restart())
	}
}

func TestSettingsAreThoseOfReprisedButForTheDrain(t *testing.T) {
	want := settings.Default()
	want.DrainTimeout = 0
	var got settings.Settings
	servertest.Start(t, servertest.Options{Settings: func(s *settings.Settings) { got = *s }})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMachineHasOneAgent(t *testing.T) {
	w := newMachine(t, nil)
	if _, err := w.NewAgent(w.ctx, w.desk.MachineID(), nil); err == nil {
		t.Error("a second agent was taken")
	}
	if _, err := w.NewAgent(w.ctx, "not a machine id", nil); err == nil {
		t.Error("an agent was taken on a machine that cannot be")
	}
}

// A server without a test cleans up after itself, and leaves a folder that is not
// its own.
func TestCloseRemovesTheFolderThatNewHasMade(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	srv, err := servertest.New(t.Context(), servertest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if made := folders(t, os.TempDir()); len(made) != 1 {
		t.Errorf("while it runs there is %v", made)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if made := folders(t, os.TempDir()); len(made) != 0 {
		t.Errorf("left behind: %v", made)
	}
	kept := t.TempDir()
	srv, err = servertest.New(t.Context(), servertest.Options{Dir: kept})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(kept, "operator.token")); err != nil {
		t.Errorf("the caller's folder: %v", err)
	}
}

// A test may close its server by hand; what Start does at the end changes nothing.
func TestClosingAgainChangesNothing(t *testing.T) {
	srv := servertest.Start(t, servertest.Options{})
	first := make(chan error, 2)
	for range 2 {
		go func() { first <- srv.Close() }()
	}
	for _, err := range []error{<-first, <-first, srv.Close(), srv.Stop(), srv.Crash()} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := srv.Restart(); !errors.Is(err, servertest.ErrClosed) {
		t.Errorf("a closed server is restarted: %v", err)
	}
	if err := srv.Register("desk-1"); !errors.Is(err, servertest.ErrClosed) {
		t.Errorf("a machine is registered at a closed server: %v", err)
	}
}

// What cannot start leaves nothing open: goleak looks for it at the end.
func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := servertest.New(t.Context(), servertest.Options{Dir: file}); err == nil {
		t.Error("a file was taken as a folder")
	}
	if _, err := servertest.New(t.Context(), servertest.Options{Listen: "127.0.0.1:99999"}); err == nil {
		t.Error("an impossible address was taken")
	}
}

// Waiting ends with the caller's context and says for what.
func TestWaitingForAnAgentEndsWithTheContext(t *testing.T) {
	w := newMachine(t, nil)
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	if err := w.desk.Await(ctx, "never"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "never") {
		t.Errorf("Await = %v", err)
	}
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "reprise-servertest-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
