package helper

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// errUnattended is what a desktop says at which nobody sits.
var errUnattended = named("nobody sits at this desktop", []error{driver.ErrUnsupported})

// acts are those that wait to be sent: who tells them does not wait.
type acts struct {
	news chan struct{} // holds one when there are any
	mu   sync.Mutex
	told []driver.Act
}

func (a *acts) put(act driver.Act) {
	a.mu.Lock()
	a.told = append(a.told, act)
	a.mu.Unlock()
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// send sends those that wait.
func (a *acts) send(send func(*helperv1.AttendResponse) error) error {
	a.mu.Lock()
	told := a.told
	a.told = nil
	a.mu.Unlock()
	for _, act := range told {
		if err := send(&helperv1.AttendResponse{Response: &helperv1.AttendResponse_Act{Act: encodeAct(act)}}); err != nil {
			return err
		}
	}
	return nil
}

// Attend answers with what the person does, and last with why no more is told.
func (s *server) Attend(_ *helperv1.AttendRequest, stream grpc.ServerStreamingServer[helperv1.AttendResponse]) error {
	d, err := s.opened()
	if err != nil {
		return err
	}
	ctx, done := s.joined(stream.Context())
	defer done(nil)
	if d.attended == nil {
		return sendEnd(stream, errUnattended)
	}
	if err := take(ctx, s.attending); err != nil { // a driver is attended once at a time
		return sendEnd(stream, err)
	}
	defer give(s.attending)
	a, ended := &acts{news: make(chan struct{}, 1)}, make(chan struct{})
	var why error
	go func() {
		defer close(ended)
		why = d.attended.Attend(ctx, a.put)
	}()
	for {
		select {
		case <-a.news:
			if err := a.send(stream.Send); err != nil {
				done(err)
				<-ended
				return err
			}
		case <-ended:
			if err := a.send(stream.Send); err != nil {
				return err
			}
			return sendEnd(stream, why)
		}
	}
}

func sendEnd(stream grpc.ServerStreamingServer[helperv1.AttendResponse], why error) error {
	if why == nil { // a driver that keeps its promise says why
		why = ErrEnded
	}
	return stream.Send(&helperv1.AttendResponse{Response: &helperv1.AttendResponse_Fault{Fault: encodeFault(why)}})
}

// person asks the desktop for something about the person at it.
func (s *server) person(ask func(driver.Attended) error) (*helperv1.Fault, error) {
	d, err := s.opened()
	switch {
	case err != nil:
		return nil, err
	case d.attended == nil:
		return encodeFault(errUnattended), nil
	}
	return encodeFault(ask(d.attended)), nil
}

// Hold keeps gestures back because of a stop that was made before.
func (s *server) Hold(ctx context.Context, req *helperv1.HoldRequest) (*helperv1.HoldResponse, error) {
	f, err := s.person(func(a driver.Attended) error { return a.Hold(ctx, decodeAct(req.GetStop())) })
	return &helperv1.HoldResponse{Fault: f}, err
}

// GoOn takes a stop back.
func (s *server) GoOn(ctx context.Context, _ *helperv1.GoOnRequest) (*helperv1.GoOnResponse, error) {
	f, err := s.person(func(a driver.Attended) error { return a.GoOn(ctx) })
	return &helperv1.GoOnResponse{Fault: f}, err
}

// ShowPause shows a pause.
func (s *server) ShowPause(ctx context.Context, req *helperv1.ShowPauseRequest) (*helperv1.ShowPauseResponse, error) {
	f, err := s.person(func(a driver.Attended) error { return a.ShowPause(ctx, decodeNotice(req)) })
	return &helperv1.ShowPauseResponse{Fault: f}, err
}

// HidePause takes a pause away.
func (s *server) HidePause(ctx context.Context, req *helperv1.HidePauseRequest) (*helperv1.HidePauseResponse, error) {
	f, err := s.person(func(a driver.Attended) error { return a.HidePause(ctx, req.GetPauseId()) })
	return &helperv1.HidePauseResponse{Fault: f}, err
}

// ShowServer shows whether the agent has its server.
func (s *server) ShowServer(ctx context.Context, req *helperv1.ShowServerRequest) (*helperv1.ShowServerResponse, error) {
	f, err := s.person(func(a driver.Attended) error { return a.ShowServer(ctx, req.GetConnected()) })
	return &helperv1.ShowServerResponse{Fault: f}, err
}

// Announce outlines a place.
func (s *server) Announce(ctx context.Context, req *helperv1.AnnounceRequest) (*helperv1.AnnounceResponse, error) {
	f, err := s.person(func(a driver.Attended) error {
		return a.Announce(ctx, decodeRectangle(req.GetAround()), req.GetDuration().AsDuration())
	})
	return &helperv1.AnnounceResponse{Fault: f}, err
}
