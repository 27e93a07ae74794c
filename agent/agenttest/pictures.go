package agenttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// gallery is the control plane's pictures.
type gallery struct {
	pictures map[string][]byte
	parts    map[string][]byte // of uploads that were cut
	asked    int               // downloads and uploads
	stored   chan string
	uploads  []Uploaded
	stop     *stop
}

func newGallery() gallery {
	return gallery{pictures: map[string][]byte{}, parts: map[string][]byte{}, stored: make(chan string, 64)}
}

// stop ends an upload after so many bytes of it.
type stop struct {
	after int
	err   error         // ends the call
	hold  chan struct{} // else: it is not read any further before this is closed
	held  chan struct{} // closed when it is
}

// Uploaded is one call of Upload.
type Uploaded struct {
	SHA256  string
	Offset  int64 // where it began
	Bytes   int   // that it brought
	Largest int   // bytes of its largest chunk
}

// Put stores a picture and returns its digest.
func (s *Server) Put(data []byte) string {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	s.PutAs(digest, data)
	return digest
}

// PutAs stores a picture under a digest, be it its own or not.
func (s *Server) PutAs(digest string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pictures[digest] = data
}

// PutPart makes data what came of a picture whose upload was cut.
func (s *Server) PutPart(digest string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[digest] = data
}

// Refusal is an error with a reason, as a server says it.
func Refusal(code codes.Code, reason string) error {
	s, err := status.New(code, "refused").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "reprise.v1"})
	if err != nil {
		return err
	}
	return s.Err()
}

// Picture returns what is stored under a digest; nil: nothing.
func (s *Server) Picture(digest string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pictures[digest]
}

// Stored delivers the digest of each picture that was uploaded.
func (s *Server) Stored() <-chan string { return s.stored }

// Transfers says how many pictures were asked for or brought.
func (s *Server) Transfers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Uploads returns the calls of Upload that have ended, in their order.
func (s *Server) Uploads() []Uploaded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uploads)
}

// FailUpload ends the next upload with err, once so many bytes of it have come.
// What came is kept.
func (s *Server) FailUpload(after int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = &stop{after: after, err: err}
}

// HoldUpload stops reading the next upload once so many bytes of it have come:
// then held is closed. The function that comes with it lets it go on.
func (s *Server) HoldUpload(after int) (held <-chan struct{}, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = &stop{after: after, hold: make(chan struct{}), held: make(chan struct{})}
	hold := s.stop.hold
	return s.stop.held, func() { close(hold) }
}

// FindMissing says which pictures are not there, and how much of them is.
func (s *Server) FindMissing(_ context.Context, in *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &reprisev1.FindMissingResponse{ReceivedBytes: map[string]int64{}}
	for _, digest := range in.GetSha256() {
		if _, ok := s.pictures[digest]; ok {
			continue
		}
		out.Sha256 = append(out.Sha256, digest)
		if part := s.parts[digest]; len(part) > 0 {
			out.ReceivedBytes[digest] = int64(len(part))
		}
	}
	return out, nil
}

// Upload takes a picture, or the rest of one.
func (s *Server) Upload(stream grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) error {
	s.mu.Lock()
	stop := s.stop
	s.stop = nil
	s.mu.Unlock()
	data, call, err := s.receive(stream, stop)
	s.mu.Lock()
	s.uploads = append(s.uploads, call)
	if err != nil {
		s.parts[call.SHA256] = data
	} else {
		delete(s.parts, call.SHA256)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != call.SHA256 {
		return Refusal(codes.InvalidArgument, "DIGEST_MISMATCH")
	}
	s.PutAs(call.SHA256, data)
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	s.stored <- call.SHA256
	return stream.SendAndClose(&reprisev1.UploadResponse{Size: int64(len(data))})
}

// receive returns the picture as far as it came.
func (s *Server) receive(
	stream grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse], stop *stop,
) (data []byte, call Uploaded, err error) {
	for first := true; ; first = false {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data, call, nil
		}
		if err != nil {
			return data, call, err
		}
		if first {
			call.SHA256, call.Offset = m.GetSha256(), m.GetOffset()
			if data, err = s.upTo(m.GetSha256(), m.GetOffset()); err != nil {
				return data, call, err
			}
		}
		data = append(data, m.GetData()...)
		call.Bytes, call.Largest = call.Bytes+len(m.GetData()), max(call.Largest, len(m.GetData()))
		if stop == nil || call.Bytes < stop.after {
			continue
		}
		if stop.err != nil {
			return data, call, stop.err
		}
		close(stop.held)
		select {
		case <-stop.hold:
		case <-stream.Context().Done():
		}
		stop = nil
	}
}

// upTo returns what came before an offset.
func (s *Server) upTo(digest string, offset int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part := s.parts[digest]
	if offset > int64(len(part)) {
		return part, Refusal(codes.OutOfRange, "UPLOAD_OFFSET")
	}
	return slices.Clone(part[:offset]), nil
}

// Parts returns how many bytes are there of each picture whose upload was cut.
func (s *Server) Parts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sizes := map[string]int{}
	for digest, part := range s.parts {
		sizes[digest] = len(part)
	}
	return sizes
}

// Download brings a picture, in pieces.
func (s *Server) Download(in *reprisev1.DownloadRequest, stream grpc.ServerStreamingServer[reprisev1.DownloadResponse]) error {
	s.mu.Lock()
	s.asked++
	data, ok := s.pictures[in.GetSha256()]
	s.mu.Unlock()
	if !ok {
		return status.Error(codes.NotFound, "no such picture")
	}
	const piece = 1 << 10
	for len(data) > 0 {
		n := min(piece, len(data))
		if err := stream.Send(&reprisev1.DownloadResponse{Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
