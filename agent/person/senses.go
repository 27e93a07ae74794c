package person

import (
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// senses turn what the hooks see into what the person does.
type senses struct {
	brake *brake
	acts  *acts
	own   bool // the person's own input is told

	mu    sync.Mutex
	key   *stopKey
	input ownInput
	told  map[string]time.Time // when a device was told of last
	last  uint32               // time of the last event, as winapi counts it
}

// see takes an input event, before any window gets it, and says whether none is to.
// It is called by a hook: it waits for nobody and logs nothing.
func (s *senses) see(e winapi.Seen) bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = e.Time
	if by, used := s.input.sees(e, now); used && s.own {
		s.tell(by, now)
	}
	switch {
	case e.Own:
		return s.brake.gate(e)
	case e.FakeCtrl():
		return s.brake.gateFakeCtrl(e)
	}
	stop, keep := s.key.sees(e)
	if stop {
		if act := (driver.Act{Kind: driver.Stopped, By: byStopKey, At: now}); s.brake.pull(act) {
			s.acts.add(act)
		}
	}
	return keep
}

// tell tells of a device, at most once in a while.
func (s *senses) tell(by string, now time.Time) {
	if last, ok := s.told[by]; ok && now.Sub(last) < tellEvery {
		return
	}
	if s.acts.add(driver.Act{Kind: driver.Used, By: by, At: now}) {
		s.told[by] = now
	}
}

// forget brings what the person holds up to date.
func (s *senses) forget(pressed func(vk uint16) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key.forget(pressed)
}

// behind says whether the session got input that the hooks did not see: Windows has
// taken them away, or the input went to a desktop that they don't reach. It asks once
// about one time.
func (s *senses) behind(lastInput uint32) bool {
	const slack = 2000 // milliseconds
	s.mu.Lock()
	defer s.mu.Unlock()
	if int32(lastInput-s.last) <= slack { // the count wraps
		return false
	}
	s.last = lastInput
	return true
}
