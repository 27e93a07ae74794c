package cases

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// pictures passes an agent's pictures on to the server, unless a case cuts them.
type pictures struct {
	reprisev1.UnimplementedEvidenceServiceServer
	to reprisev1.EvidenceServiceClient

	mu      sync.Mutex
	cuts    int     // uploads that are still to be cut, each after its first chunk
	offsets []int64 // where the uploads began
}

// cutUploads makes the next n uploads end after their first chunk.
func (p *pictures) cutUploads(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts = n
}

// begun returns where each upload began.
func (p *pictures) begun() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int64(nil), p.offsets...)
}

// FindMissing implements EvidenceService.FindMissing.
func (p *pictures) FindMissing(ctx context.Context, req *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	return p.to.FindMissing(onward(ctx), req)
}

// Upload implements EvidenceService.Upload.
func (p *pictures) Upload(agent grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) error {
	ctx, cancel := context.WithCancel(onward(agent.Context()))
	defer cancel()
	server, err := p.to.Upload(ctx)
	if err != nil {
		return err
	}
	digest := ""
	for chunk := 0; ; chunk++ {
		m, err := agent.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if chunk == 0 {
			digest = m.GetSha256()
		}
		if p.cut(chunk, m.GetOffset()) {
			p.awaitSome(ctx, digest)
			return errCut
		}
		if err := server.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	answer, err := server.CloseAndRecv()
	if err != nil {
		return err
	}
	return agent.SendAndClose(answer)
}

// awaitSome waits until the server has something of a picture: a cut that overtakes
// the first chunk would leave nothing to go on from.
func (p *pictures) awaitSome(ctx context.Context, digest string) {
	for {
		res, err := p.to.FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: []string{digest}})
		if err != nil || res.GetReceivedBytes()[digest] > 0 {
			return
		}
		poll := time.NewTimer(10 * time.Millisecond)
		select {
		case <-poll.C:
		case <-ctx.Done():
			poll.Stop()
			return
		}
	}
}

// cut says whether an upload is to be cut at a chunk.
func (p *pictures) cut(chunk int, offset int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if chunk == 0 {
		p.offsets = append(p.offsets, offset)
	}
	if chunk == 0 || p.cuts == 0 {
		return false
	}
	p.cuts--
	return true
}

// Download implements EvidenceService.Download.
func (p *pictures) Download(req *reprisev1.DownloadRequest, agent grpc.ServerStreamingServer[reprisev1.DownloadResponse]) error {
	server, err := p.to.Download(onward(agent.Context()), req)
	if err != nil {
		return err
	}
	for {
		m, err := server.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := agent.Send(m); err != nil {
			return err
		}
	}
}
