package servertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"

	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// The made-up monitor of every agent, in pixels.
const (
	screenWidth  = 1920
	screenHeight = 1080
)

// chunkSize is the most that one message of an upload holds.
const chunkSize = 256 << 10

// blank is an empty screen. It is of one colour, so that it packs to a few bytes.
var blank = sync.OnceValue(func() []byte {
	var packed bytes.Buffer
	picture := image.NewPaletted(image.Rect(0, 0, screenWidth, screenHeight), color.Palette{color.Gray{Y: 0xc0}})
	if err := png.Encode(&packed, picture); err != nil {
		panic(err) // a buffer takes all that comes
	}
	return packed.Bytes()
})

// picture brings a picture to the server and names it; without one it is as
// edited. A picture that the server does not take is named with a note, as the real
// agent does: the report counts all the same.
func (a *Agent) picture(ctx context.Context, data []byte, edited *reprisev1.EvidenceRef) *reprisev1.EvidenceRef {
	if data == nil {
		return edited
	}
	sum := sha256.Sum256(data)
	ref := &reprisev1.EvidenceRef{Sha256: hex.EncodeToString(sum[:]), TakenAt: timestamppb.Now(), Method: "script", Settled: true}
	if err := a.upload(ctx, ref.GetSha256(), data); err != nil {
		ref.Note = fmt.Sprintf("not uploaded: %v", err)
	}
	return ref
}

func (a *Agent) upload(ctx context.Context, digest string, data []byte) error {
	pictures := reprisev1.NewEvidenceServiceClient(a.conn)
	missing, err := pictures.FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: []string{digest}})
	if err != nil || len(missing.GetSha256()) == 0 {
		return err
	}
	stream, err := pictures.Upload(ctx)
	if err != nil {
		return err
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), chunkSize)
		m := &reprisev1.UploadRequest{Data: data[:n]}
		if first {
			m.Sha256 = digest
		}
		if stream.Send(m) != nil {
			break // the answer says why
		}
		data = data[n:]
	}
	_, err = stream.CloseAndRecv()
	return err
}

// capture answers the server's wish for a picture of the screen.
func (a *Agent) capture(ctx context.Context, captureID string) {
	a.mu.Lock()
	screen, desktop := a.screen, a.desktop
	a.mu.Unlock()
	result := &reprisev1.CaptureResult{CaptureId: captureID}
	if desktop.GetKind() > reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE {
		result.Error = &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE, Message: desktop.GetDetail()}
	} else {
		result.Picture = a.picture(ctx, screen, nil)
	}
	a.change(func() {
		a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_CaptureResult{CaptureResult: result}})
	})
}
