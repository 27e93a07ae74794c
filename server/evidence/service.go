package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// ChunkBytes is the size of a chunk of a download, and the largest of an upload.
const ChunkBytes = 256 << 10

// Service serves a Store as reprise.v1.EvidenceService.
type Service struct {
	reprisev1.UnimplementedEvidenceServiceServer
	store *Store
	log   *slog.Logger
}

// NewService returns the service over store; a nil log discards.
func NewService(store *Store, log *slog.Logger) *Service {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: store, log: log}
}

// FindMissing returns those of the digests that are not stored, each once, and how
// much of them has been received. Those that are stored get young: whoever asks
// wants them, and will not upload them again.
func (s *Service) FindMissing(ctx context.Context, req *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	missing := &reprisev1.FindMissingResponse{ReceivedBytes: map[string]int64{}}
	asked := make(map[string]bool, len(req.GetSha256()))
	for _, digest := range req.GetSha256() {
		if asked[digest] {
			continue
		}
		asked[digest] = true
		err := s.store.Touch(digest)
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, s.toStatus(ctx, err)
		}
		received, err := s.store.Received(digest)
		if err != nil {
			return nil, s.toStatus(ctx, err)
		}
		missing.Sha256 = append(missing.Sha256, digest)
		if received > 0 {
			missing.ReceivedBytes[digest] = received
		}
	}
	return missing, nil
}

// Upload stores one picture, or goes on with an upload that was cut.
func (s *Service) Upload(stream grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) error {
	size, err := s.receive(stream)
	if err != nil {
		return s.toStatus(stream.Context(), err)
	}
	return stream.SendAndClose(&reprisev1.UploadResponse{Size: size})
}

func (s *Service) receive(stream grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) (int64, error) {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: an upload needs at least one message", ErrBadDigest)
	}
	if err != nil {
		return 0, err
	}
	u, err := s.store.Begin(stream.Context(), first.GetSha256(), first.GetOffset())
	if err != nil {
		return 0, err
	}
	defer u.Close()
	for chunk := first; ; {
		if _, err := u.Write(chunk.GetData()); err != nil {
			return 0, err
		}
		chunk, err = stream.Recv()
		if errors.Is(err, io.EOF) {
			return u.Commit()
		}
		if err != nil {
			return 0, err
		}
	}
}

// Download returns one picture in chunks.
func (s *Service) Download(req *reprisev1.DownloadRequest, stream grpc.ServerStreamingServer[reprisev1.DownloadResponse]) error {
	picture, err := s.store.Get(req.GetSha256())
	if err != nil {
		return s.toStatus(stream.Context(), err)
	}
	defer picture.Close()
	for {
		// A fresh buffer each time: gRPC may still hold the last one.
		chunk := make([]byte, ChunkBytes)
		n, err := io.ReadFull(picture, chunk)
		if n > 0 {
			if err := stream.Send(&reprisev1.DownloadResponse{Data: chunk[:n]}); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return s.toStatus(stream.Context(), err)
		}
	}
}

// toStatus returns err as it leaves the server. What is nobody's but the disk's is
// told to the log, and leaves without detail.
func (s *Service) toStatus(ctx context.Context, err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	var known *rpcstatus.Coded
	if !errors.As(err, &known) || errors.Is(err, ErrFull) {
		s.log.ErrorContext(ctx, "evidence store failed", logkeys.Error, err)
	}
	return rpcstatus.Error(err)
}
