package interceptors

import (
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/clock"
)

func TestEveryAnswerSaysWhatTimeItIsAtTheServer(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		time.Sleep(time.Hour)
		var answered, refused metadata.MD
		if _, err := healthpb.NewHealthClient(b.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}, grpc.Header(&answered)); err != nil {
			t.Fatal(err)
		}
		_, err := b.machines().ListMachines(t.Context(), &reprisev1.ListMachinesRequest{}, grpc.Header(&refused))
		wantCode(t, "a call without a token", err, codes.Unauthenticated)
		for call, header := range map[string]metadata.MD{"answered": answered, "refused": refused} {
			values := header.Get(clock.Header)
			if len(values) != 1 {
				t.Errorf("a call that is %s has the header %v", call, header)
				continue
			}
			if at, err := http.ParseTime(values[0]); err != nil || time.Since(at).Abs() > time.Second {
				t.Errorf("a call that is %s says %v, %v; it is %v", call, at, err, time.Now().UTC())
			}
		}
	})
}
