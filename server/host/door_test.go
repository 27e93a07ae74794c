package host

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/settings"
)

// knock connects to a listener in memory.
func knock(t *testing.T, lis *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// B30: an agent that comes while the journal is read must not hear "nothing
// pending"; a balancer must not send callers.
func TestB30_WhileTheJournalIsReadNothingIsServedAndHealthSaysSo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1 << 20)
		c := config(dir, &lines{})
		door, err := OpenDoor(lis, c.Settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		conn := knock(t, lis)
		for _, name := range append([]string{""}, services...) {
			res, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
			if err != nil || res.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
				t.Errorf("health of %q: %v, %v", name, res, err)
			}
		}
		_, err = reprisev1.NewReplayServiceClient(conn).ListReplays(t.Context(), &reprisev1.ListReplaysRequest{})
		wantRecovering(t, err)
		stream, err := reprisev1.NewAgentServiceClient(conn).Connect(t.Context())
		if err == nil {
			_, err = stream.Recv()
		}
		wantRecovering(t, err)

		ctx, stop := context.WithCancel(t.Context())
		h, err := New(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		ended, next := make(chan error, 1), door.HandOver()
		go func() { ended <- h.Run(ctx, next, nil) }()
		for _, name := range append([]string{""}, services...) {
			res, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name}, grpc.WaitForReady(true))
			if err != nil || res.GetStatus() != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("health of %q afterwards: %v, %v", name, res, err)
			}
		}
		_ = conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := lis.DialContext(t.Context()); err == nil {
			t.Error("the address is still open")
		}
	})
}

func wantRecovering(t *testing.T, err error) {
	t.Helper()
	if status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
		return
	}
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == "RECOVERING" {
			return
		}
	}
	t.Errorf("%v says no reason", err)
}

// Health follows the drain: nobody is sent to a server that is going away.
func TestHealthIsNotServingWhileTheServerDrains(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1 << 20)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		h, err := New(ctx, config(dir, &lines{}))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx, lis, nil) }()
		watch, err := healthpb.NewHealthClient(knock(t, lis)).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: services[1]})
		if err != nil {
			t.Fatal(err)
		}
		var states []healthpb.HealthCheckResponse_ServingStatus
		for {
			res, err := watch.Recv()
			if err != nil {
				break
			}
			states = append(states, res.GetStatus())
			if res.GetStatus() == healthpb.HealthCheckResponse_SERVING {
				stop()
			}
		}
		if n := len(states); n == 0 || states[n-1] != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Errorf("the watch saw %v", states)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestADoorThatCannotBeOpenedClosesTheAddress(t *testing.T) {
	lis := bufconn.Listen(1)
	c := Config{Settings: settings.Default()}
	c.Settings.TLSCertFile, c.Settings.TLSKeyFile = "missing.pem", "missing.pem"
	if err := Serve(t.Context(), c, lis, nil, nil); err == nil {
		t.Error("it served")
	}
	if _, err := lis.DialContext(t.Context()); err == nil {
		t.Error("the address is still open")
	}
}

// Who has just been let in when the server goes away is let go of, and nothing of
// the door is left.
func TestAConnectionThatNobodyTakesIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1)
		door, err := OpenDoor(lis, settings.Default(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		next := door.HandOver()
		conn, err := lis.DialContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // accepted, and taken by nobody
		if err := next.Close(); err != nil {
			t.Error(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
		if _, err := next.Accept(); err == nil {
			t.Error("a closed listener accepts")
		}
	})
}

// The metrics' port answers as long as the server is there, and a server that has
// lost it does not go on unseen.
func TestMetricsAreThereAsLongAsTheServerIs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lis, scrape := bufconn.Listen(1<<20), bufconn.Listen(1<<16)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ready, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- Serve(ctx, config(dir, &lines{}), lis, scrape, func(*Host) { close(ready) })
		}()
		<-ready
		client := http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return scrape.DialContext(ctx) },
		}}
		res, err := client.Get("http://server/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || res.Body.Close() != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"go_goroutines ", "process_resident_memory_bytes ", "rpa_agent_streams_open "} {
			if !strings.Contains(string(text), "\n"+name) {
				t.Errorf("there is no %s", name)
			}
		}
		_ = scrape.Close()
		if err := <-ended; err == nil {
			t.Error("the server went on without its metrics and ended without a word")
		}
	})
}

// Alarms name the server's metrics: they are there before the journal is read, and
// also when it cannot be.
func TestMetricsAreThereBeforeTheJournalIsRead(t *testing.T) {
	c := config(t.TempDir(), &lines{})
	c.metrics = newMetrics()
	if err := os.WriteFile(filepath.Join(c.Settings.DataDir, "journal.db"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), c); err == nil {
		t.Fatal("a damaged journal was opened")
	}
	families, err := c.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "rpa_agent_streams_open" {
			return
		}
	}
	t.Error("rpa_agent_streams_open is not there")
}
