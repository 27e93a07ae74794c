package evidence

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// missing asks for one picture and returns whether it is missing, and how much of
// it has been received.
func missing(t *testing.T, client reprisev1.EvidenceServiceClient, digest string) (missing bool, received int64) {
	t.Helper()
	resp, err := client.FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{digest}})
	if err != nil {
		t.Fatal(err)
	}
	return len(resp.GetSha256()) == 1, resp.GetReceivedBytes()[digest]
}

// cut uploads content from an offset on, and goes away when the server has it.
func cut(t *testing.T, client reprisev1.EvidenceServiceClient, digest string, content []byte, offset int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := client.Upload(ctx)
	if err != nil {
		t.Fatal(err)
	}
	send(t, stream, digest, content, offset)
	synctest.Wait()
	cancel()
	synctest.Wait() // until the server has heard of it too
}

func TestAnUploadThatIsCutGoesOnWhereItStopped(t *testing.T) {
	content, digest := picture(t, 700, 400)
	for at := 0; at <= len(content); at += ChunkBytes {
		serve(t, 0, func(t *testing.T, _ *Store, client reprisev1.EvidenceServiceClient) {
			cut(t, client, digest, content[:at], 0)
			gone, received := missing(t, client, digest)
			if !gone || received != int64(at) {
				t.Fatalf("cut at %d: missing %v, %d received", at, gone, received)
			}
			if n, err := resume(t, client, digest, content, at); n != int64(len(content)) || err != nil {
				t.Fatalf("cut at %d: %d, %v", at, n, err)
			}
			if got, _, err := download(t, client, digest); err != nil || !bytes.Equal(got, content) {
				t.Errorf("cut at %d: %d bytes came back, %v", at, len(got), err)
			}
			if gone, received := missing(t, client, digest); gone || received != 0 {
				t.Errorf("cut at %d: missing %v, %d received after all", at, gone, received)
			}
		})
	}
}

func TestASecondUploadOfAPictureIsToldSo(t *testing.T) {
	content, digest := picture(t, 400, 300)
	serve(t, 0, func(t *testing.T, store *Store, client reprisev1.EvidenceServiceClient) {
		first, err := client.Upload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		send(t, first, digest, content[:ChunkBytes], 0)
		synctest.Wait()
		_, err = upload(t, client, digest, content)
		refused(t, "the second upload", err, codes.Aborted, "UPLOAD_UNDER_WAY")
		other, otherDigest := picture(t, 10, 10)
		if _, err := upload(t, client, otherDigest, other); err != nil {
			t.Errorf("another picture: %v", err)
		}
		if err := first.Send(&reprisev1.UploadRequest{Data: content[ChunkBytes:]}); err != nil {
			t.Fatal(err)
		}
		if _, err := first.CloseAndRecv(); err != nil {
			t.Errorf("the first upload: %v", err)
		}
		if names := files(t, store.dir); len(names) != 2 {
			t.Errorf("files: %v", names)
		}
	})
}

// An uploader that is connected and sends nothing keeps nobody out for ever, and
// writes nothing into what another one brings.
func TestASilentUploadIsReplaced(t *testing.T) {
	content, digest := picture(t, 400, 300)
	serve(t, 0, func(t *testing.T, _ *Store, client reprisev1.EvidenceServiceClient) {
		silent, err := client.Upload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		send(t, silent, digest, content[:ChunkBytes], 0)
		synctest.Wait()
		time.Sleep(silence - time.Second)
		_, err = upload(t, client, digest, content)
		refused(t, "before its time", err, codes.Aborted, "UPLOAD_UNDER_WAY")
		time.Sleep(time.Second)
		second, err := client.Upload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		send(t, second, digest, content[:ChunkBytes], 0)
		synctest.Wait()
		_ = silent.Send(&reprisev1.UploadRequest{Data: make([]byte, ChunkBytes)})
		_, err = silent.CloseAndRecv()
		refused(t, "the silent one", err, codes.Aborted, "UPLOAD_UNDER_WAY")
		if err := second.Send(&reprisev1.UploadRequest{Data: content[ChunkBytes:]}); err != nil {
			t.Fatal(err)
		}
		if n, err := second.CloseAndRecv(); n.GetSize() != int64(len(content)) || err != nil {
			t.Errorf("the second upload: %v, %v", n, err)
		}
	})
}
