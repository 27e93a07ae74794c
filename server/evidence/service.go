package evidence

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
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

// FindMissing returns those of the digests that are not stored, each once.
func (s *Service) FindMissing(ctx context.Context, req *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	missing := &reprisev1.FindMissingResponse{}
	asked := make(map[string]bool, len(req.GetSha256()))
	for _, digest := range req.GetSha256() {
		if asked[digest] {
			continue
		}
		asked[digest] = true
		has, err := s.store.Has(digest)
		if err != nil {
			return nil, s.toStatus(ctx, err)
		}
		if !has {
			missing.Sha256 = append(missing.Sha256, digest)
		}
	}
	return missing, nil
}

// Upload stores one picture.
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
		return 0, status.Error(codes.InvalidArgument, "an upload needs at least one message")
	}
	if err != nil {
		return 0, err
	}
	u, err := s.store.Begin(first.GetSha256())
	if err != nil {
		return 0, err
	}
	defer u.Abort()
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

// codeOf is the whole contract between the store's errors and the wire.
var codeOf = []struct {
	err  error
	code codes.Code
}{
	{ErrBadDigest, codes.InvalidArgument},
	{ErrMismatch, codes.InvalidArgument},
	{ErrNotPNG, codes.InvalidArgument},
	{ErrTooLarge, codes.ResourceExhausted},
	{ErrNotFound, codes.NotFound},
}

// toStatus keeps what is a status already; what is not listed is the server's
// fault and leaves without detail.
func (s *Service) toStatus(ctx context.Context, err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	for _, row := range codeOf {
		if errors.Is(err, row.err) {
			return status.Error(row.code, err.Error())
		}
	}
	s.log.ErrorContext(ctx, "evidence store failed", logkeys.Error, err)
	if errors.Is(err, syscall.ENOSPC) {
		return status.Error(codes.ResourceExhausted, "the server's disk is full")
	}
	return status.Error(codes.Internal, "the evidence store failed")
}
