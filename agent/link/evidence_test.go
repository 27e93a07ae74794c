package link

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// dialTest connects to a control plane of its own.
func dialTest(t *testing.T) (*agenttest.Server, *grpc.ClientConn) {
	t.Helper()
	server := agenttest.New()
	conn, err := grpc.NewClient("passthrough:///"+agenttest.Address, grpc.WithContextDialer(server.Dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return server, conn
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestScreenshotsWaitForAConnectionAndAreBroughtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, conn := dialTest(t)
		e := NewEvidence(nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { e.upload(ctx); close(ended) }()

		large := bytes.Repeat([]byte("0123456789abcdef"), 3*chunk/16)
		small, known := []byte("small"), []byte("known")
		server.Put(known)
		for _, data := range [][]byte{large, known, small, small} {
			e.Keep(digest(data), data)
		}
		synctest.Wait()
		if n := server.Transfers(); n != 0 {
			t.Errorf("%d uploads without a connection", n)
		}
		e.online(reprisev1.NewEvidenceServiceClient(conn))
		for _, want := range [][]byte{large, small} {
			if got := <-server.Stored(); got != digest(want) {
				t.Errorf("stored %s", got)
			}
		}
		synctest.Wait()
		if n := server.Transfers(); n != 2 || len(e.queue) != 0 || e.waiting != 0 {
			t.Errorf("%d uploads, %d still wait with %d bytes", n, len(e.queue), e.waiting)
		}
		cancel()
		<-ended
		if err := errors.Join(conn.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestAScreenshotThatTheServerWillNeverTakeHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, conn := dialTest(t)
		e := NewEvidence(nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { e.upload(ctx); close(ended) }()
		e.Keep(digest([]byte("something else")), []byte("forged"))
		e.Keep(digest([]byte("good")), []byte("good"))
		e.online(reprisev1.NewEvidenceServiceClient(conn))
		if got := <-server.Stored(); got != digest([]byte("good")) {
			t.Errorf("stored %s", got)
		}
		cancel()
		<-ended
		if err := errors.Join(conn.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestTooManyScreenshotsLoseTheOldest(t *testing.T) {
	e := NewEvidence(nil)
	third := make([]byte, maxUploads/3)
	for _, name := range []string{"a", "b", "c", "d"} {
		e.Keep(name, third)
	}
	if len(e.queue) != 3 || e.queue[0].sha256 != "b" || e.waiting != 3*len(third) {
		t.Errorf("%d wait, first %s, %d bytes", len(e.queue), e.queue[0].sha256, e.waiting)
	}
}

func TestAnUploadIsTriedAgainWhenTheFaultMayPass(t *testing.T) {
	e := NewEvidence(nil)
	e.Keep("a", []byte("x"))
	for code, want := range map[codes.Code]int{codes.Unavailable: 1, codes.Canceled: 1, codes.DeadlineExceeded: 1} {
		if e.settled(upload{sha256: "a"}, status.Error(code, "")) || len(e.queue) != want {
			t.Errorf("%v: %d wait", code, len(e.queue))
		}
	}
	if !e.settled(upload{sha256: "a"}, status.Error(codes.ResourceExhausted, "")) || len(e.queue) != 0 {
		t.Errorf("%d wait", len(e.queue))
	}
}

func TestAnchorsAreForgottenByHowLongTheyWereNotUsed(t *testing.T) {
	e := NewEvidence(nil)
	half := maxAnchors / 2
	for _, name := range []string{"a", "b"} {
		e.remember(&anchor{sha256: name, picture: image.Black, size: half})
	}
	if _, err := e.Anchor(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	e.remember(&anchor{sha256: "c", picture: image.Black, size: half})
	if _, err := e.Anchor(t.Context(), "b"); !errors.Is(err, errOffline) {
		t.Errorf("b = %v, want that it was forgotten", err)
	}
	if _, err := e.Anchor(t.Context(), "a"); err != nil {
		t.Errorf("a = %v", err)
	}
}

func TestAPictureIsUnpackedOnlyIfItIsWhatWasAskedFor(t *testing.T) {
	var packed bytes.Buffer
	if err := png.Encode(&packed, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if picture, err := unpack(packed.Bytes(), digest(packed.Bytes())); err != nil || picture.Bounds().Dx() != 3 {
		t.Errorf("a sound one: %v", err)
	}
	if _, err := unpack(packed.Bytes(), digest([]byte("other"))); err == nil {
		t.Error("one of another digest was taken")
	}
	if _, err := unpack([]byte("GIF89a"), digest([]byte("GIF89a"))); err == nil {
		t.Error("one that is no PNG was taken")
	}
	bomb := bytes.Clone(packed.Bytes())
	copy(bomb[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536×65536
	if _, err := unpack(bomb, digest(bomb)); err == nil {
		t.Error("one of 65536×65536 pixels was taken")
	}
}

func TestAnUploadRetriesAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, conn := dialTest(t)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		e := NewEvidence(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*uploadRetry)
		defer cancel()
		e.Keep("a", []byte("x"))
		e.online(reprisev1.NewEvidenceServiceClient(conn))
		began := time.Now()
		e.upload(ctx)
		if ran := time.Since(began); ran != 5*uploadRetry || len(e.queue) != 1 {
			t.Errorf("ended after %v with %d waiting", ran, len(e.queue))
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
}
