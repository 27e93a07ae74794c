package registry

import "errors"

// Why a session ends or is refused.
var (
	// ErrTakenOver ends a session whose agent has opened a newer one.
	ErrTakenOver = errors.New("a newer stream of this agent has taken over")
	// ErrFenced ends a session whose agent no longer answered when another one came.
	ErrFenced = errors.New("another agent holds the machine, since this one no longer answered")
	// ErrConflict refuses an agent while another one holds the machine.
	ErrConflict = errors.New("another agent holds the machine")
)

// Seat decides who holds one machine. It is pure: no locks, no clocks, no waiting.
// The zero value is a machine that nobody holds.
type Seat struct {
	session, spool string // of the holder; empty: there is none
}

// Claimed is what follows from a claim: it is granted, or refused with Err, or to be
// continued by Probed once the session Probe has answered or not.
type Claimed struct {
	Granted bool
	Ends    string // the session that ends because of the grant; empty: none
	Why     error  // why it ends: ErrTakenOver or ErrFenced
	Probe   string // the holder that must be asked first; empty: nobody
	Err     error  // ErrConflict: another agent holds the machine, and answers
}

// Claim asks for the machine, for a session of the agent that has a spool. It is
// granted at once when nobody holds the machine or the same agent does; another
// agent that holds it must be probed first.
func (s *Seat) Claim(sessionID, spoolID string) Claimed {
	if s.session != "" && s.spool != spoolID {
		return Claimed{Probe: s.session}
	}
	return s.grant(sessionID, spoolID, ErrTakenOver)
}

// Probed continues a claim once the holder that Claim named has answered, or has
// not in ProbeTimeout. A holder that is gone by now refuses nobody, whatever it
// answered; when another one has come meanwhile, the claim begins anew.
func (s *Seat) Probed(sessionID, spoolID, holder string, answered bool) Claimed {
	switch {
	case s.session != holder:
		return s.Claim(sessionID, spoolID)
	case answered:
		return Claimed{Err: ErrConflict}
	}
	return s.grant(sessionID, spoolID, ErrFenced)
}

func (s *Seat) grant(sessionID, spoolID string, why error) Claimed {
	c := Claimed{Granted: true}
	if s.session != "" && s.session != sessionID {
		c.Ends, c.Why = s.session, why
	}
	s.session, s.spool = sessionID, spoolID
	return c
}

// Release gives the machine back and says whether the session held it. One that
// does not hold it any more changes nothing: a late clean-up removes only its own.
func (s *Seat) Release(sessionID string) bool {
	if sessionID == "" || s.session != sessionID {
		return false
	}
	s.session, s.spool = "", ""
	return true
}

// Holder returns the session that holds the machine and its agent's spool; both are
// empty when nobody does.
func (s *Seat) Holder() (sessionID, spoolID string) { return s.session, s.spool }
