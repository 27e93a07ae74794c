package doctor

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/supervise"
)

// errRehearsed ends a rehearsal: what was to be learned is known.
var errRehearsed = errors.New("only a rehearsal")

// choose says where the helper of a user would live among these sessions, or why it
// would live nowhere. It lets a supervisor decide that, on a machine that starts
// nothing: the rule is supervise's and no other one.
func choose(ctx context.Context, sessions []supervise.Session, user string) (*supervise.Session, string, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &rehearsal{sessions: sessions, end: end}
	s, err := supervise.New(supervise.Config{Machine: r, Desk: r, User: user})
	if err != nil {
		return nil, "", err
	}
	if err := s.Run(ctx); !errors.Is(err, errRehearsed) {
		return nil, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return nil, r.why, nil
	}
	for _, one := range sessions {
		if one.ID == r.chosen {
			return &one, "", nil
		}
	}
	return nil, r.why, nil
}

// rehearsal is a machine and a desk that note what is asked of them.
type rehearsal struct {
	sessions []supervise.Session
	end      context.CancelCauseFunc

	mu      sync.Mutex
	started bool
	chosen  uint32
	why     string
}

// Sessions implements supervise.Machine.
func (r *rehearsal) Sessions() ([]supervise.Session, error) { return r.sessions, nil }

// Start implements supervise.Machine.
func (r *rehearsal) Start(session uint32, _ []byte) (supervise.Process, error) {
	r.mu.Lock()
	r.started, r.chosen = true, session
	r.mu.Unlock()
	r.end(errRehearsed)
	return nil, errRehearsed
}

// Absent implements supervise.Desk.
func (r *rehearsal) Absent(state desktop.State) {
	if state.Kind != desktop.NoUser {
		return // a helper is about to be started
	}
	r.mu.Lock()
	r.why = state.Detail
	r.mu.Unlock()
	r.end(errRehearsed)
}

// Connect implements supervise.Desk. Nothing was started, so nobody connects.
func (*rehearsal) Connect(context.Context, net.Conn, []byte) error { return errRehearsed }
