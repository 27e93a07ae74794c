package cli

import (
	"context"
	"errors"
	"io"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/workflow"
)

// chunk is how much of a picture travels in one message, in bytes; batch is how
// many digests are asked for at once. Both are the schema's limits.
const (
	chunk = 256 << 10
	batch = 1000
)

// upload sends the pictures that the server does not have.
func (a *app) upload(ctx context.Context, c *client, pictures []workflow.Picture) error {
	for len(pictures) > 0 {
		some := pictures[:min(batch, len(pictures))]
		pictures = pictures[len(some):]
		missing, err := a.missing(ctx, c, some)
		if err != nil {
			return err
		}
		for _, p := range some {
			if !missing[p.SHA256] {
				continue
			}
			if err := a.insist(ctx, c, "upload "+p.Path, func(ctx context.Context) error { return c.send(ctx, p) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) missing(ctx context.Context, c *client, pictures []workflow.Picture) (map[string]bool, error) {
	req := &reprisev1.FindMissingRequest{}
	for _, p := range pictures {
		req.Sha256 = append(req.Sha256, p.SHA256)
	}
	missing := map[string]bool{}
	err := a.insist(ctx, c, "ask for missing pictures", func(ctx context.Context) error {
		resp, err := c.evidence.FindMissing(ctx, req)
		for _, digest := range resp.GetSha256() {
			missing[digest] = true
		}
		return err
	})
	return missing, err
}

func (c *client) send(ctx context.Context, p workflow.Picture) error {
	ctx, stop := context.WithCancel(ctx) // frees the stream, whatever happens
	defer stop()
	stream, err := c.evidence.Upload(ctx)
	if err != nil {
		return err
	}
	req := &reprisev1.UploadRequest{Sha256: p.SHA256}
	for rest := p.Data; ; {
		req.Data = rest[:min(chunk, len(rest))]
		rest = rest[len(req.GetData()):]
		// io.EOF says that the server has answered already; the answer says what.
		if err := stream.Send(req); errors.Is(err, io.EOF) || len(rest) == 0 && err == nil {
			break
		} else if err != nil {
			return err
		}
		req = &reprisev1.UploadRequest{}
	}
	_, err = stream.CloseAndRecv()
	return err
}
