package servertest

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// lateNews is a connection that learns of its end a second later.
type lateNews struct{ net.Conn }

func (c lateNews) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		time.Sleep(time.Second)
	}
	return n, err
}

// The connection knows that the server is away when Stop and Crash return: what is
// called after a restart goes to the new one.
func TestACallRightAfterARestartFindsTheServer(t *testing.T) {
	for name, end := range map[string]func(*Server) error{"stop": (*Server).Stop, "crash": (*Server).Crash} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				s := Start(t, Options{Dir: dir})
				must(s.conn.Close())
				var err error
				s.conn, err = s.Dial(grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
					conn, err := s.connect(ctx, address)
					return lateNews{conn}, err
				}))
				must(err)
				replays := reprisev1.NewReplayServiceClient(s.conn)
				for range 2 {
					_, err := replays.ListReplays(t.Context(), &reprisev1.ListReplaysRequest{}, grpc.WaitForReady(true))
					must(err)
					must(end(s))
					if s.conn.GetState() == connectivity.Ready {
						t.Error("the connection takes the server that has ended for ready")
					}
					must(s.Restart())
				}
			})
		})
	}
}
