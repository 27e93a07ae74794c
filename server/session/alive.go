package session

import (
	"context"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// probeNumbers is where the numbers of probes begin, apart from those of pings.
const probeNumbers = 1 << 32

// attend does what watch decides until the session must end, and says why: for want
// of an answer, or because somebody else ended it.
func (s *session) attend(watch *Watch) error {
	welcomed := s.welcomed
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(watch.Next()))
		select {
		case <-welcomed:
			welcomed = nil
			watch.Welcomed(time.Now())
		case number := <-s.pongs:
			watch.Pong(time.Now(), number)
		case <-timer.C:
			number, err := watch.Due(time.Now())
			if err != nil {
				return err
			}
			if number != 0 {
				s.queue(ping(number))
			}
		case <-s.ended.Done():
			return context.Cause(s.ended)
		}
	}
}

func ping(n uint64) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Ping{Ping: &reprisev1.Ping{Number: n}}}
}

func pong(n uint64) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pong{Pong: &reprisev1.Pong{Number: n}}}
}

// probe asks the agent for an answer at once, whatever the interval says.
func (s *session) probe(ctx context.Context) bool {
	number, answered := probeNumbers+s.probed.Add(1), make(chan struct{})
	s.probes.Store(number, answered)
	defer s.probes.Delete(number)
	s.queue(ping(number))
	select {
	case <-answered:
		return true
	case <-ctx.Done():
		return false
	case <-s.ended.Done():
		return false
	}
}

// pong takes the agent's answer. It waits for attend, which waits for nobody.
func (s *session) pong(number uint64) {
	if answered, ok := s.probes.LoadAndDelete(number); ok {
		close(answered.(chan struct{}))
		return
	}
	select {
	case s.pongs <- number:
	case <-s.ended.Done():
	}
}
