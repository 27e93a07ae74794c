package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// download writes a picture, and fails when what came is not the picture of that
// digest. What it wrote then is worth nothing.
func (c *client) download(ctx context.Context, digest string, w io.Writer) error {
	ctx, stop := context.WithCancel(ctx) // frees the stream, whatever happens
	defer stop()
	stream, err := c.evidence.Download(ctx, &reprisev1.DownloadRequest{Sha256: digest})
	if err != nil {
		return err
	}
	sum := sha256.New()
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		sum.Write(resp.GetData()) // never fails
		if _, err := w.Write(resp.GetData()); err != nil {
			return &exitError{exitFailure, err}
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return &exitError{exitFailure, fmt.Errorf("picture %s came damaged, as %s", digest, got)}
	}
	return nil
}
