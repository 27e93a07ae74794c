package evidence

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func crcOf(chunk []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk))
}

// serve runs test against the service over a connection, in a bubble.
func serve(t *testing.T, maxBytes int64, test func(*testing.T, *Store, reprisev1.EvidenceServiceClient)) {
	synctest.Test(t, func(t *testing.T) {
		store := open(t, t.TempDir(), maxBytes)
		listener := bufconn.Listen(1 << 20)
		server := grpc.NewServer()
		reprisev1.RegisterEvidenceServiceServer(server, NewService(store, nil))
		done := make(chan error, 1)
		go func() { done <- server.Serve(listener) }()
		conn, err := grpc.NewClient("passthrough:bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { // also when the test has failed for good
			_ = conn.Close()
			server.Stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		test(t, store, reprisev1.NewEvidenceServiceClient(conn))
	})
}

func upload(t *testing.T, client reprisev1.EvidenceServiceClient, digest string, content []byte) (int64, error) {
	t.Helper()
	return resume(t, client, digest, content, 0)
}

// resume uploads content from an offset on.
func resume(t *testing.T, client reprisev1.EvidenceServiceClient, digest string, content []byte, offset int) (int64, error) {
	t.Helper()
	stream, err := client.Upload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(t, stream, digest, content, offset)
	answer, err := stream.CloseAndRecv()
	return answer.GetSize(), err
}

type sender = grpc.ClientStreamingClient[reprisev1.UploadRequest, reprisev1.UploadResponse]

// send sends content from an offset on, in chunks.
func send(t *testing.T, stream sender, digest string, content []byte, offset int) {
	t.Helper()
	msg := &reprisev1.UploadRequest{Sha256: digest, Offset: int64(offset)}
	for rest, first := content[offset:], true; first || len(rest) > 0; first = false {
		n := min(len(rest), ChunkBytes)
		msg.Data, rest = rest[:n], rest[n:]
		if err := stream.Send(msg); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		msg = &reprisev1.UploadRequest{}
	}
}

// refused checks the code and the reason of an error.
func refused(t *testing.T, what string, err error, code codes.Code, reason string) {
	t.Helper()
	got := ""
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			got = i.GetReason()
		}
	}
	if status.Code(err) != code || got != reason {
		t.Errorf("%s: %v, reason %q; want %v, %q", what, err, got, code, reason)
	}
}

func download(t *testing.T, client reprisev1.EvidenceServiceClient, digest string) (content []byte, chunks int, err error) {
	t.Helper()
	stream, err := client.Download(t.Context(), &reprisev1.DownloadRequest{Sha256: digest})
	if err != nil {
		t.Fatal(err)
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return content, chunks, nil
		}
		if err != nil {
			return nil, chunks, err
		}
		if len(chunk.GetData()) > ChunkBytes {
			t.Errorf("a chunk of %d bytes", len(chunk.GetData()))
		}
		content, chunks = append(content, chunk.GetData()...), chunks+1
	}
}

func TestAPictureTravelsInChunksBothWays(t *testing.T) {
	serve(t, 0, func(t *testing.T, _ *Store, client reprisev1.EvidenceServiceClient) {
		want, digest := picture(t, 400, 300)
		if len(want) < ChunkBytes {
			t.Fatalf("the picture has only %d bytes", len(want))
		}
		missing, err := client.FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{digest, sha(nil), digest}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{digest, sha(nil)}, missing.GetSha256()); diff != "" {
			t.Error(diff)
		}
		if n, err := upload(t, client, digest, want); n != int64(len(want)) || err != nil {
			t.Fatalf("upload = %d, %v", n, err)
		}
		got, chunks, err := download(t, client, digest)
		if err != nil || !bytes.Equal(got, want) || chunks != 2 {
			t.Errorf("%d bytes in %d chunks, %v; want %d in 2", len(got), chunks, err, len(want))
		}
		missing, err = client.FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{digest, sha(nil)}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{sha(nil)}, missing.GetSha256()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusalsHaveTheirCodesAndReasons(t *testing.T) {
	serve(t, 100_000, func(t *testing.T, _ *Store, client reprisev1.EvidenceServiceClient) {
		small, digest := picture(t, 10, 10)
		large, largeDigest := picture(t, 300, 300)
		for name, tt := range map[string]struct {
			digest  string
			content []byte
			code    codes.Code
			reason  string
		}{
			"wrong digest": {sha(nil), small, codes.InvalidArgument, "DIGEST_MISMATCH"},
			"no digest":    {"", small, codes.InvalidArgument, "DIGEST_INVALID"},
			"not a PNG":    {sha([]byte("x")), []byte("x"), codes.InvalidArgument, "PICTURE_NOT_PNG"},
			"too large":    {largeDigest, large, codes.ResourceExhausted, "PICTURE_TOO_LARGE"},
		} {
			_, err := upload(t, client, tt.digest, tt.content)
			refused(t, name, err, tt.code, tt.reason)
		}
		_, _, err := download(t, client, digest)
		refused(t, "a picture that is not there", err, codes.NotFound, "PICTURE_NOT_FOUND")
		_, _, err = download(t, client, "../"+digest)
		refused(t, "a path", err, codes.InvalidArgument, "DIGEST_INVALID")
		_, err = client.FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{"x"}})
		refused(t, "a bad digest", err, codes.InvalidArgument, "DIGEST_INVALID")
		stream, err := client.Upload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = stream.CloseAndRecv()
		refused(t, "an upload of nothing", err, codes.InvalidArgument, "DIGEST_INVALID")
		// It is known before a byte is sent.
		stream, err = client.Upload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&reprisev1.UploadRequest{Sha256: digest, Offset: 100_001}); err != nil {
			t.Fatal(err)
		}
		refused(t, "an offset over the limit", stream.RecvMsg(&reprisev1.UploadResponse{}), codes.ResourceExhausted, "PICTURE_TOO_LARGE")
	})
}

func TestAFaultOfTheDiskLeavesWithoutDetail(t *testing.T) {
	serve(t, 0, func(t *testing.T, store *Store, client reprisev1.EvidenceServiceClient) {
		if err := os.RemoveAll(store.unfinished()); err != nil {
			t.Fatal(err)
		}
		content, digest := picture(t, 4, 4)
		_, err := upload(t, client, digest, content)
		if status.Code(err) != codes.Internal || strings.Contains(err.Error(), store.dir) {
			t.Errorf("%v", err)
		}
	})
}
