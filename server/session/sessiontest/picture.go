package sessiontest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"io"
	"testing"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Photographer answers a request for a picture; the id of the answer is filled in.
// It is called on the agent's reader: what it waits for holds up the stream.
type Photographer func(*reprisev1.Capture) *reprisev1.CaptureResult

// Photographs lets the agent answer requests for a picture by itself.
func Photographs(p Photographer) Option { return func(o *options) { o.picture = p } }

// Showing answers with a picture, which it does not upload.
func Showing(picture *reprisev1.EvidenceRef) Photographer {
	return func(*reprisev1.Capture) *reprisev1.CaptureResult { return &reprisev1.CaptureResult{Picture: picture} }
}

// NotShowing answers that there is no picture, and why.
func NotShowing(code reprisev1.ErrorCode, message string) Photographer {
	return func(*reprisev1.Capture) *reprisev1.CaptureResult {
		return &reprisev1.CaptureResult{Error: &reprisev1.ActionError{Code: code, Message: message}}
	}
}

// Capture returns the next message, which must ask for a picture.
func (a *Agent) Capture() *reprisev1.Capture {
	a.tb.Helper()
	m := a.Next()
	if m.GetCapture() == nil {
		a.tb.Fatalf("%v came, want a request for a picture", m)
	}
	return m.GetCapture()
}

// CaptureResult answers a request for a picture.
func (a *Agent) CaptureResult(c *reprisev1.Capture, r *reprisev1.CaptureResult) {
	r = &reprisev1.CaptureResult{CaptureId: c.GetCaptureId(), Picture: r.GetPicture(), Error: r.GetError()}
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: r}})
}

// PNG returns a picture of one colour, and how it is named.
func PNG(tb testing.TB, width, height int) (content []byte, ref *reprisev1.EvidenceRef) {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), &reprisev1.EvidenceRef{Sha256: hex.EncodeToString(sum[:]), Method: "screen"}
}

// Upload stores a picture under the name that ref gives it.
func Upload(ctx context.Context, conn grpc.ClientConnInterface, ref *reprisev1.EvidenceRef, content []byte) error {
	ctx, cancel := context.WithCancel(ctx) // frees the stream, whatever happens
	defer cancel()
	stream, err := reprisev1.NewEvidenceServiceClient(conn).Upload(ctx)
	if err != nil {
		return err
	}
	req := &reprisev1.UploadRequest{Sha256: ref.GetSha256()}
	for first := true; first || len(content) > 0; first = false {
		n := min(len(content), chunk)
		req.Data, content = content[:n], content[n:]
		if err := stream.Send(req); errors.Is(err, io.EOF) {
			break // the server has answered already
		} else if err != nil {
			return err
		}
		req = &reprisev1.UploadRequest{}
	}
	_, err = stream.CloseAndRecv()
	return err
}

// chunk is how many bytes of a picture travel at a time.
const chunk = 256 << 10
