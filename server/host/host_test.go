package host

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	channelzpb "google.golang.org/grpc/channelz/grpc_channelz_v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/tokens"
)

type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func config(dir string, log *lines) Config {
	s := settings.Default()
	s.DataDir = dir
	return Config{Settings: s, Version: "test", Log: slog.New(slog.NewTextHandler(log, nil))}
}

// serve runs a server until the test ends and returns a client with the
// operator's token.
func serve(t *testing.T, c Config) (*Host, reprisev1.ReplayServiceClient, context.Context) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	h, err := New(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	token := operatorToken(t, c.Settings.DataDir)
	lis := bufconn.Listen(1 << 20)
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, lis, nil) }()
	conn, err := grpc.NewClient("passthrough:server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return h, reprisev1.NewReplayServiceClient(conn), metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
}

// A fault of ours says nothing to the caller and everything to the log.
func TestAFaultOfOursIsInTheLogAndNotOnTheWire(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		h, client, ctx := serve(t, config(dir, log))
		if err := h.journal.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := client.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: "r-1"})
		if status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" || len(status.Convert(err).Details()) != 0 {
			t.Errorf("the caller is told %v", err)
		}
		if text := log.String(); !strings.Contains(text, "GetReplay") || !strings.Contains(text, "closed") {
			t.Errorf("the log says:\n%s", text)
		}
	})
}

// A second server must not touch what the first one is working with.
func TestASecondServerTouchesNothingOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		serve(t, config(dir, &lines{}))
		upload := filepath.Join(dir, "evidence", "unfinished", "an-upload")
		if err := os.WriteFile(upload, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(t.Context(), config(dir, &lines{})); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("the second server: %v", err)
		}
		if _, err := os.Stat(upload); err != nil {
			t.Errorf("the first one's upload is gone: %v", err)
		}
	})
}

// What New has opened it closes again when it fails.
func TestAStartThatFailsLeavesTheFolderFree(t *testing.T) {
	c := config(t.TempDir(), &lines{})
	c.Settings.TLSCertFile, c.Settings.TLSKeyFile = "missing.pem", "missing.pem"
	for range 2 {
		if _, err := New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "missing.pem") {
			t.Errorf("New = %v", err)
		}
	}
}

func TestSettingsReachWhereTheyCount(t *testing.T) {
	s := settings.Default()
	s.MaxResends, s.MaxRetries, s.MaxDeliveries, s.SwallowedInputActions = 11, 12, 13, 14
	s.SkipKinds, s.RepushPosition, s.Watchdog = []string{"scroll"}, settings.Tail, false
	s.ReceiptTimeout, s.OrphanTimeout, s.OfflineGrace = 15*time.Second, 16*time.Second, 17*time.Second
	s.DeadClientGiveUps, s.DeadClientWindow = 18, 19*time.Second
	want := dispatch.Config{
		Policy: replay.Policy{
			MaxResends: 11, MaxRetries: 12, MaxDeliveries: 13, SwallowedInput: 14, SkipKinds: map[string]bool{"scroll": true}, RequeueAtTail: true,
		},
		Timeouts:     pending.Timeouts{Receipt: 15 * time.Second, Orphan: 16 * time.Second, Off: true},
		OfflineGrace: 17 * time.Second, DeadClientGiveUps: 18, DeadClientWindow: 19 * time.Second,
	}
	if diff := cmp.Diff(want, machineConfig(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.PingInterval, s.PingTimeout, s.ReportAckTimeout, s.ActionTimeout = 21*time.Second, 22*time.Second, 23*time.Second, 24*time.Second
	s.EffectTimeout, s.ResolveTimeout, s.MinScoreTemplate, s.MinScoreText, s.MaxMessageBytes, s.EvidenceMaxBytes = 25*time.Second, 26*time.Second, .27, .28, 29, 30
	got := sessionSettings(s)
	if got.GetPingInterval().GetSeconds() != 21 || got.GetPingTimeout().GetSeconds() != 22 || got.GetReportAckTimeout().GetSeconds() != 23 ||
		got.GetActionTimeout().GetSeconds() != 24 || got.GetEffectTimeout().GetSeconds() != 25 || got.GetResolveTimeout().GetSeconds() != 26 ||
		got.GetMinScoreTemplate() != .27 || got.GetMinScoreText() != .28 || got.GetMaxMessageBytes() != 29 || got.GetMaxPictureBytes() != 30 {
		t.Errorf("%v", got)
	}
}

// Ended replays are forgotten when their time is over, by the machines as well.
func TestEndedReplaysAreForgotten(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config(dir, &lines{})
		c.Settings.ReplayStateTTL = time.Hour
		h, client, ctx := serve(t, c)
		if _, err := h.Tokens().AddAgent("desk-1"); err != nil {
			t.Fatal(err)
		}
		res, err := client.CreateReplay(ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: &reprisev1.Workflow{
			Name: "w", Actions: []*reprisev1.Action{{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		id := res.GetReplay().GetReplayId()
		if _, err := client.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: id}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Minute)
		if _, err := client.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id}); err != nil {
			t.Errorf("after 50 minutes: %v", err)
		}
		time.Sleep(12 * time.Minute)
		if _, err := client.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id}); status.Code(err) != codes.NotFound {
			t.Errorf("after an hour: %v", err)
		}
	})
}

// Those who look for a stuck stream ask channelz; strangers and agents may not.
func TestChannelzTellsOperatorsOfTheConnections(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lis := bufconn.Listen(1 << 20)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		h, err := New(ctx, config(dir, &lines{}))
		if err != nil {
			t.Fatal(err)
		}
		agentToken, err := h.Tokens().AddAgent("desk-1")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx, lis, nil) }()
		conn := knock(t, lis)
		client := channelzpb.NewChannelzClient(conn)
		for token, want := range map[string]codes.Code{operatorToken(t, dir): codes.OK, agentToken: codes.PermissionDenied, "": codes.Unauthenticated} {
			res, err := client.GetServers(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token), &channelzpb.GetServersRequest{})
			if status.Code(err) != want {
				t.Errorf("token %.4s…: %v, want %v", token, err, want)
			}
			if want == codes.OK && len(res.GetServer()) == 0 {
				t.Error("no server is listed")
			}
		}
		_ = conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func operatorToken(t *testing.T, dir string) string {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(dir, tokens.OperatorFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// A server that is told to stop before it has begun ends in order.
func TestAServerThatIsStoppedBeforeItServesEndsInOrder(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, err := New(t.Context(), config(dir, &lines{}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		h.grpc.Stop()
		if err := h.Run(ctx, bufconn.Listen(1), nil); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
