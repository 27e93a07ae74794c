package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/pictures"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// atServer is an evidence store that works, and its server.
type atServer struct {
	*Evidence
	t      *testing.T
	server *agenttest.Server
	conn   *grpc.ClientConn
	away   atomic.Bool // the server can't be reached
	end    func()
}

func newAtServer(t *testing.T) *atServer {
	t.Helper()
	server := agenttest.New()
	a := &atServer{Evidence: NewEvidence(nil, nil), t: t, server: server}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		if a.away.Load() {
			return nil, errors.New("nobody is there")
		}
		return server.Dial(ctx, address)
	}
	conn, err := grpc.NewClient("passthrough:///"+agenttest.Address, grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	a.conn = conn
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { a.upload(ctx); close(ended) }()
	a.end = func() {
		cancel()
		<-ended
		if err := errors.Join(conn.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	}
	return a
}

// connect opens the connection; pictures of at most so many bytes are taken.
func (a *atServer) connect(most int64) { a.online(reprisev1.NewEvidenceServiceClient(a.conn), most) }

// expect fails unless these are stored next, in this order.
func (a *atServer) expect(pictures ...[]byte) {
	a.t.Helper()
	for i, want := range pictures {
		if got := <-a.server.Stored(); got != digest(want) {
			a.t.Errorf("the %d. picture that was stored is another one", i+1)
		}
		if !bytes.Equal(a.server.Picture(digest(want)), want) {
			a.t.Errorf("the %d. picture was changed on the way", i+1)
		}
	}
}

func (a *atServer) keep(pictures ...[]byte) {
	a.t.Helper()
	for _, p := range pictures {
		if why := a.Keep(digest(p), p); why != "" {
			a.t.Errorf("refused: %s", why)
		}
	}
}

// noise is a picture of so many bytes, another one for each seed.
func noise(seed, size int) []byte {
	data := bytes.Repeat([]byte(fmt.Sprintf("%06d.", seed)), size/7+1)
	return data[:size]
}

const enough = 32 << 20

func TestScreenshotsWaitForAConnectionAndAreBroughtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		large, small, known := noise(1, 3*chunk), []byte("small"), []byte("known")
		a.server.Put(known)
		a.keep(large, known, small, small)
		synctest.Wait()
		if n := a.server.Transfers(); n != 0 {
			t.Errorf("%d uploads without a connection", n)
		}
		a.connect(enough)
		a.expect(large, small)
		synctest.Wait()
		if n := a.server.Transfers(); n != 2 || len(a.waiting.Waiting(9)) != 0 {
			t.Errorf("%d uploads, %d still wait", n, len(a.waiting.Waiting(9)))
		}
		if up := a.server.Uploads()[0]; up.Largest != chunk || up.Bytes != len(large) {
			t.Errorf("the large one: %+v", up)
		}
	})
}

func TestACutUploadGoesOnWhereTheServerHasBytes(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int // bytes that came before the cut
	}{{"half-way", 2 * chunk}, {"before the last answer", 4*chunk + 5}} {
		synctest.Test(t, func(t *testing.T) {
			a := newAtServer(t)
			defer a.end()
			picture := noise(1, 4*chunk+5)
			a.server.FailUpload(c.after, status.Error(codes.Unavailable, "cut"))
			a.keep(picture)
			a.connect(enough)
			a.expect(picture)
			ups := a.server.Uploads()
			if len(ups) != 2 || ups[1].Offset != int64(ups[0].Bytes) || ups[1].Bytes != len(picture)-ups[0].Bytes {
				t.Errorf("%s: uploads %+v", c.name, ups)
			}
		})
	}
}

func TestACutConnectionLeavesTheUploadToTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		picture := noise(1, 8*chunk)
		held, release := a.server.HoldUpload(3 * chunk)
		a.keep(picture)
		a.connect(enough)
		<-held
		a.server.Cut()
		a.offline()
		release()
		synctest.Wait()
		if have := a.server.Parts()[digest(picture)]; have < 3*chunk || have == len(picture) {
			t.Fatalf("the server has %d bytes", have)
		}
		a.connect(enough)
		a.expect(picture)
		if ups := a.server.Uploads(); ups[len(ups)-1].Offset < 3*chunk {
			t.Errorf("uploads %+v", ups)
		}
	})
}

func TestWhatSomebodyWaitsForIsBroughtBeforeAllElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		large, next, urgent := noise(1, 8*chunk), noise(2, chunk), noise(3, chunk)
		held, release := a.server.HoldUpload(chunk)
		a.keep(large, next)
		a.connect(enough)
		<-held
		if why := a.KeepFirst(digest(urgent), urgent); why != "" {
			t.Error(why)
		}
		release()
		a.expect(urgent, large, next)
		synctest.Wait() // the server may learn last of all that an upload was cut
		if ups := a.server.Uploads(); !slices.ContainsFunc(ups, func(up agenttest.Uploaded) bool {
			return up.SHA256 == digest(large) && up.Offset == 0 && up.Bytes < len(large)
		}) {
			t.Errorf("the upload under way was not cut: %+v", ups)
		}
	})
}

func TestAPictureThatIsTooLargeIsNamedAndNotBrought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		large := noise(1, enough+1)
		if why := a.Keep(digest(large), large); why != "too large: 33554433 bytes, at most 33554432" {
			t.Errorf("by default: %q", why)
		}
		a.connect(9)
		if why := a.KeepFirst("x", noise(2, 10)); why != "too large: 10 bytes, at most 9" {
			t.Errorf("as the server says: %q", why)
		}
		fits := noise(3, 9)
		a.keep(fits)
		a.expect(fits)
		if n := len(a.server.Uploads()); n != 1 {
			t.Errorf("%d uploads", n)
		}
	})
}

func TestUploadsAreTriedAgainUntilTheServerIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtServer(t)
		defer a.end()
		a.away.Store(true)
		picture := noise(1, 10)
		a.keep(picture)
		a.connect(enough)
		time.Sleep(10 * uploadRetry)
		if left := a.waiting.Waiting(9); !slices.Equal(left, []string{digest(picture)}) {
			t.Errorf("%v wait", left)
		}
		a.away.Store(false)
		a.expect(picture)
	})
}

func TestAPictureThatIsRefusedIsNotedInItsReport(t *testing.T) {
	ref := picture(&work.Picture{SHA256: digest(nil), Note: strings.Repeat("é", maxNote+1), Masks: 3})
	if ref.GetMasks() != 3 || len([]rune(ref.GetNote())) != maxNote {
		t.Errorf("masks %d, a note of %d characters", ref.GetMasks(), len([]rune(ref.GetNote())))
	}
}

// The report that names a picture is on the disk soon after: the picture must be there
// before.
func TestAPictureIsOnTheDiskBeforeItsReportIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in whose time no disk is too slow
		dir := t.TempDir()
		store := pictures.Open(pictures.Config{Dir: dir})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = store.Run(ctx) }) // it ends for no other reason
		defer running.Wait()
		defer stop()
		e := NewEvidence(store, nil)
		for seed := range 100 {
			p := noise(seed, 100<<10)
			if why := e.Keep(digest(p), p); why != "" {
				t.Fatal(why)
			}
			if _, err := os.Stat(filepath.Join(dir, digest(p))); err != nil {
				t.Fatalf("picture %d: %v", seed, err)
			}
		}
	})
}

func TestADiskThatHangsHoldsAReportUpForAMomentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEvidence(pictures.Open(pictures.Config{Dir: t.TempDir()}), nil) // nobody writes
		p := noise(1, 100)
		began := time.Now()
		if why := e.Keep(digest(p), p); why != "" || time.Since(began) != fileTime {
			t.Errorf("%q after %v", why, time.Since(began))
		}
	})
}
