// Package rawstream is the limit that the product is measured against: a gRPC
// stream between two ends that hand each other as many bytes as the product's
// messages have, keep nothing and understand none of it. It takes grpc-go's
// defaults on both sides.
package rawstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The bytes of a job and of an answer, about those of a dispatch and a report.
const (
	JobBytes    = 500
	AnswerBytes = 300
)

const method = "/reprise.bench.RawStream/PingPong"

type message = wrapperspb.BytesValue

var service = grpc.ServiceDesc{
	ServiceName: "reprise.bench.RawStream", HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{StreamName: "PingPong", Handler: serve, ServerStreams: true, ClientStreams: true}},
}

// Serve answers on lis until ctx ends.
func Serve(ctx context.Context, lis net.Listener) error {
	s := grpc.NewServer()
	s.RegisterService(&service, struct{}{})
	stop := context.AfterFunc(ctx, s.Stop)
	defer stop()
	return s.Serve(lis)
}

// serve hands out as many jobs as the first message asks for, each when the one
// before is answered.
func serve(_ any, ss grpc.ServerStream) error {
	st := grpc.GenericServerStream[message, message]{ServerStream: ss}
	first, err := st.Recv()
	if err != nil {
		return err
	}
	if len(first.GetValue()) != 8 {
		return errors.New("rawstream: the first message is no number")
	}
	job := &message{Value: make([]byte, JobBytes)}
	for range binary.BigEndian.Uint64(first.GetValue()) {
		if err := st.Send(job); err != nil {
			return err
		}
		if _, err := st.Recv(); err != nil {
			return err
		}
	}
	return nil
}

// Dial returns a connection of its own to a server.
func Dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// Stream is the client's end. It is a race.Worker.
type Stream struct {
	stream grpc.GenericClientStream[message, message]
	answer *message
	abort  context.CancelFunc
}

// Open opens a stream on which the server hands out so many jobs. It ends with
// ctx or with its last answer.
func Open(ctx context.Context, conn *grpc.ClientConn, jobs int) (*Stream, error) {
	ctx, abort := context.WithCancel(ctx)
	cs, err := conn.NewStream(ctx, &service.Streams[0], method)
	if err != nil {
		abort()
		return nil, fmt.Errorf("rawstream: %w", err)
	}
	s := &Stream{
		stream: grpc.GenericClientStream[message, message]{ClientStream: cs},
		answer: &message{Value: make([]byte, AnswerBytes)}, abort: abort,
	}
	if err := s.stream.Send(&message{Value: binary.BigEndian.AppendUint64(nil, uint64(jobs))}); err != nil {
		abort()
		return nil, fmt.Errorf("rawstream: %w", err)
	}
	return s, nil
}

// Next implements race.Worker.
func (s *Stream) Next() error {
	job, err := s.stream.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return fmt.Errorf("rawstream: %w", err)
	case len(job.GetValue()) != JobBytes:
		return fmt.Errorf("rawstream: a job of %d bytes", len(job.GetValue()))
	}
	return nil
}

// Answer implements race.Worker.
func (s *Stream) Answer() error { return s.stream.Send(s.answer) }

// Abort implements race.Worker.
func (s *Stream) Abort() { s.abort() }
