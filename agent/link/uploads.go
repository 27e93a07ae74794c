package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// uploadRetry is the pause after a failed upload.
const uploadRetry = 2 * time.Second

// upload is a screenshot that waits.
type upload struct {
	sha256 string
	data   []byte
}

// Keep queues a screenshot. When too much waits, the oldest is lost.
func (e *Evidence) Keep(sha256 string, png []byte) string {
	e.mu.Lock()
	e.queue = append(e.queue, upload{sha256, png})
	e.waiting += len(png)
	for e.waiting > maxUploads && len(e.queue) > 1 {
		e.log.Warn("a screenshot is lost: too many wait to be uploaded", logkeys.Digest, e.queue[0].sha256)
		e.drop(e.queue[0].sha256)
	}
	e.mu.Unlock()
	e.wake()
	return ""
}

// KeepFirst is Keep.
func (e *Evidence) KeepFirst(sha256 string, png []byte) string { return e.Keep(sha256, png) }

// drop takes a screenshot out of the queue. The lock is held.
func (e *Evidence) drop(sha256 string) {
	for i, u := range e.queue {
		if u.sha256 == sha256 {
			e.waiting -= len(u.data)
			e.queue = append(e.queue[:i:i], e.queue[i+1:]...)
			return
		}
	}
}

// upload works through the queue until ctx ends.
func (e *Evidence) upload(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.changed:
		}
		for {
			client, first := e.first()
			if client == nil {
				break
			}
			err := send(ctx, client, first)
			if ctx.Err() != nil {
				return
			}
			if !e.settled(first, err) && !wait(ctx, uploadRetry) {
				return
			}
		}
	}
}

// first returns the screenshot to upload next, and by what; nil: nothing now.
func (e *Evidence) first() (reprisev1.EvidenceServiceClient, upload) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		return nil, upload{}
	}
	return e.client, e.queue[0]
}

// settled takes a screenshot out of the queue if it is there, or never will be.
func (e *Evidence) settled(u upload, err error) bool {
	switch status.Code(err) {
	case codes.OK:
	case codes.InvalidArgument, codes.ResourceExhausted, codes.PermissionDenied, codes.Unimplemented:
		e.log.Warn("the server does not take a screenshot", logkeys.Digest, u.sha256, logkeys.Error, err)
	default:
		e.log.Debug("a screenshot waits for a better connection", logkeys.Digest, u.sha256, logkeys.Error, err)
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(u.sha256)
	return true
}

// send uploads one screenshot, unless the server has it.
func send(ctx context.Context, client reprisev1.EvidenceServiceClient, u upload) error {
	missing, err := client.FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: []string{u.sha256}})
	if err != nil {
		return err
	}
	if len(missing.GetSha256()) == 0 {
		return nil
	}
	stream, err := client.Upload(ctx)
	if err != nil {
		return err
	}
	for from := 0; from < len(u.data); from += chunk {
		m := &reprisev1.UploadRequest{Data: u.data[from:min(from+chunk, len(u.data))]}
		if from == 0 {
			m.Sha256 = u.sha256
		}
		if err := stream.Send(m); err != nil {
			if errors.Is(err, io.EOF) {
				break // CloseAndRecv says why
			}
			return err
		}
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		return err
	}
	if answer.GetSize() != int64(len(u.data)) {
		return fmt.Errorf("the server stored %d bytes of %d", answer.GetSize(), len(u.data))
	}
	return nil
}

// wait waits, and says whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
