package session

import (
	"context"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// probeNumbers is where the numbers of probes begin, apart from those of pings.
const probeNumbers = 1 << 32

// attend watches over the session until it must end, and says why: it was not
// opened in time, a ping went unanswered, or somebody else ended it.
func (s *session) attend(opening, interval, timeout time.Duration) error {
	late := time.NewTimer(opening)
	defer late.Stop()
	select {
	case <-s.welcomed:
		late.Stop()
	case <-late.C:
		return ErrNotOpened
	case <-s.ended.Done():
		return context.Cause(s.ended)
	}
	next := time.NewTimer(interval)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			s.queue(ping(s.pinged.Add(1)))
			late.Reset(timeout)
		case <-s.answered:
			if s.ponged.Load() == s.pinged.Load() {
				late.Stop()
				next.Reset(interval)
			}
		case <-late.C:
			return ErrPingTimeout
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

// pong takes the agent's answer; it never blocks.
func (s *session) pong(number uint64) {
	if answered, ok := s.probes.LoadAndDelete(number); ok {
		close(answered.(chan struct{}))
		return
	}
	if number == 0 || number != s.pinged.Load() {
		return // to an older ping, or to none
	}
	s.ponged.Store(number)
	select {
	case s.answered <- struct{}{}:
	default: // it is told already
	}
}
