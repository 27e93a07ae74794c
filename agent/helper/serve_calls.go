package helper

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// Do performs one gesture and answers with its true outcome.
func (s *server) Do(stream grpc.BidiStreamingServer[helperv1.DoRequest, helperv1.DoResponse]) error {
	d, err := s.opened()
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	g := first.GetGesture()
	if g == nil {
		return status.Error(codes.InvalidArgument, "the first request has no gesture")
	}
	ctx, done := s.joined(stream.Context())
	defer done(nil)
	// The reader ends when this handler returns, as gRPC ends the stream.
	go func() {
		if _, err := stream.Recv(); err == nil {
			done(errCalledOff)
		}
	}()
	return stream.Send(&helperv1.DoResponse{Fault: encodeFault(s.perform(ctx, d, g))})
}

// perform does a gesture, after the one before has returned. One that was asked for
// twice is refused, and nothing is known of it here.
func (s *server) perform(ctx context.Context, d *desk, g *helperv1.Gesture) error {
	in, err := decodeGesture(g)
	if err != nil {
		return &driver.InputError{Err: err}
	}
	if err := take(ctx, s.hands); err != nil {
		return &driver.InputError{Err: err}
	}
	defer give(s.hands)
	if g.GetNumber() <= s.last {
		return errors.New("a gesture of that number was done before")
	}
	s.last = g.GetNumber()
	if err := s.settle(ctx, d); err != nil {
		return &driver.InputError{Err: err}
	}
	return d.Do(ctx, in)
}

// Release lets go of everything.
func (s *server) Release(ctx context.Context, _ *helperv1.ReleaseRequest) (*helperv1.ReleaseResponse, error) {
	d, err := s.opened()
	if err != nil {
		return nil, err
	}
	if err := take(ctx, s.hands); err != nil {
		return &helperv1.ReleaseResponse{Fault: encodeFault(err)}, nil
	}
	defer give(s.hands)
	err = d.Release(ctx)
	s.owed = s.owed && err != nil
	return &helperv1.ReleaseResponse{Fault: encodeFault(err)}, nil
}

// State answers with the desktop's state.
func (s *server) State(ctx context.Context, _ *helperv1.StateRequest) (*helperv1.StateResponse, error) {
	d, err := s.opened()
	if err != nil {
		return nil, err
	}
	state, err := d.State(ctx)
	return &helperv1.StateResponse{Fault: encodeFault(err), Kind: int64(state.Kind), Detail: []byte(state.Detail)}, nil
}

// Monitors answers with the monitors.
func (s *server) Monitors(ctx context.Context, _ *helperv1.MonitorsRequest) (*helperv1.MonitorsResponse, error) {
	d, err := s.opened()
	if err != nil {
		return nil, err
	}
	all, err := d.Monitors(ctx)
	return &helperv1.MonitorsResponse{Fault: encodeFault(err), Monitors: encodeMonitors(all)}, nil
}

// Windows answers with the windows.
func (s *server) Windows(ctx context.Context, _ *helperv1.WindowsRequest) (*helperv1.WindowsResponse, error) {
	d, err := s.opened()
	if err != nil {
		return nil, err
	}
	all, err := d.Windows(ctx)
	return &helperv1.WindowsResponse{Fault: encodeFault(err), Windows: encodeWindows(all)}, nil
}

// Elements answers with the elements.
func (s *server) Elements(ctx context.Context, req *helperv1.ElementsRequest) (*helperv1.ElementsResponse, error) {
	d, err := s.opened()
	if err != nil {
		return nil, err
	}
	if d.elements == nil {
		return &helperv1.ElementsResponse{Fault: encodeFault(driver.ErrUnsupported)}, nil
	}
	found, err := d.elements.Elements(ctx, string(req.GetWindowId()), decodeElement(req.GetElement()))
	return &helperv1.ElementsResponse{Fault: encodeFault(err), Found: encodeFound(found)}, nil
}

// Capture answers with a picture.
func (s *server) Capture(req *helperv1.CaptureRequest, stream grpc.ServerStreamingServer[helperv1.CaptureResponse]) error {
	d, err := s.opened()
	if err != nil {
		return err
	}
	ctx, done := s.joined(stream.Context())
	defer done(nil)
	var p driver.Picture
	if req.WindowId == nil {
		p, err = d.Capture(ctx)
	} else {
		p, err = d.CaptureWindow(ctx, string(req.GetWindowId()))
	}
	if err != nil {
		return stream.Send(&helperv1.CaptureResponse{Response: &helperv1.CaptureResponse_Fault{Fault: encodeFault(err)}})
	}
	return sendPicture(p, func(part any) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return stream.SendMsg(part)
	})
}

// Log answers with what the helper logs.
func (s *server) Log(_ *helperv1.LogRequest, stream grpc.ServerStreamingServer[helperv1.LogResponse]) error {
	return s.cfg.Log.send(stream.Context(), stream.Send, s.quiet)
}
