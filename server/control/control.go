// Package control is ReplayService and MachineService: it turns what callers ask
// into commands of the machines' loops and answers with what is durable. It
// decides nothing about a replay.
package control

import (
	"context"
	"errors"
	"sync"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// Journal is what the services read; what they change goes through the loops.
type Journal interface {
	Head(ctx context.Context, replayID string) (replay.Head, error)
	HeadByRequest(ctx context.Context, requestID string) (replay.Head, error)
	Heads(ctx context.Context, f replay.Filter) (page []replay.Head, next string, err error)
	Records(ctx context.Context, replayID string) ([]replay.Record, error)
}

// Pictures says which pictures the server has.
type Pictures interface {
	Has(sha256 string) (bool, error)
}

// Machines says which machines may be used.
type Machines interface {
	Registered(machineID string) bool
	MachineIDs() []string
}

// Fleet gives the loop of a machine.
type Fleet interface {
	Loop(machineID string) *dispatch.Loop
	Machines() []string
}

// Config sets up the services. All fields are required.
type Config struct {
	Journal  Journal
	Fleet    Fleet
	Pictures Pictures
	Machines Machines
	Registry *registry.Registry
	// Ended is closed when the server goes away: watches end then.
	Ended <-chan struct{}
}

// Service is ReplayService and MachineService.
type Service struct {
	reprisev1.UnimplementedReplayServiceServer
	reprisev1.UnimplementedMachineServiceServer
	cfg Config
	// requests keeps calls with one request id apart from each other.
	requests keyedMutex
}

// New returns the services.
func New(c Config) *Service { return &Service{cfg: c} }

// GetReplay implements ReplayService.GetReplay.
func (s *Service) GetReplay(ctx context.Context, req *reprisev1.GetReplayRequest) (*reprisev1.GetReplayResponse, error) {
	v, err := s.view(ctx, req.GetReplayId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.GetReplayResponse{Replay: fromView(v)}, nil
}

// view shows a replay with its actions: as its machine's loop has it, or, when it
// has ended, as its journal says.
func (s *Service) view(ctx context.Context, replayID string) (dispatch.View, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return dispatch.View{}, err
	}
	if !head.State.Ended() {
		v, found, err := s.cfg.Fleet.Loop(head.MachineID).View(ctx, replayID)
		if err != nil || found {
			return v, err
		}
	}
	return s.endedView(ctx, replayID)
}

func (s *Service) endedView(ctx context.Context, replayID string) (dispatch.View, error) {
	r, err := s.fold(ctx, replayID)
	if err != nil {
		return dispatch.View{}, err
	}
	v := dispatch.ViewOf(r)
	v.All = true
	for i := range r.Actions {
		v.Actions = append(v.Actions, dispatch.ViewOfAction(r, &r.Actions[i]))
	}
	return v, nil
}

func (s *Service) fold(ctx context.Context, replayID string) (*replay.Replay, error) {
	records, err := s.cfg.Journal.Records(ctx, replayID)
	if err != nil {
		return nil, err
	}
	return replay.Fold(records)
}

// ListReplays implements ReplayService.ListReplays.
func (s *Service) ListReplays(ctx context.Context, req *reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
	f := replay.Filter{MachineID: req.GetMachineId(), PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken()}
	if f.PageSize == 0 {
		f.PageSize = 100
	}
	for _, st := range req.GetStates() {
		f.States = append(f.States, replay.State(st))
	}
	heads, next, err := s.cfg.Journal.Heads(ctx, f)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	out := &reprisev1.ListReplaysResponse{NextPageToken: next}
	for _, h := range heads {
		out.Replays = append(out.Replays, s.fromHead(h))
	}
	return out, nil
}

// PauseReplay implements ReplayService.PauseReplay.
func (s *Service) PauseReplay(ctx context.Context, req *reprisev1.PauseReplayRequest) (*reprisev1.PauseReplayResponse, error) {
	by := caller(ctx)
	_, r, err := s.command(ctx, req.GetReplayId(), func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecidePause(by, req.GetMessage())
	})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.PauseReplayResponse{Replay: r}, nil
}

// ResumeReplay implements ReplayService.ResumeReplay.
func (s *Service) ResumeReplay(ctx context.Context, req *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
	c := replay.ResumeCommand{
		By: caller(ctx), Acked: req.GetAcknowledgedCheckIds(), From: req.GetFromAction(),
		Skip: req.GetDecision() == reprisev1.ResumeDecision_RESUME_DECISION_SKIP,
	}
	if p := req.GetPosition(); p != nil {
		c.Position = &replay.Point{X: p.GetX(), Y: p.GetY()}
	}
	a, r, err := s.command(ctx, req.GetReplayId(), func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(c) })
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.ResumeReplayResponse{Replay: r, SessionId: a.SessionID, RemainingActions: int32(a.Remaining)}, nil
}

// CancelReplay implements ReplayService.CancelReplay.
func (s *Service) CancelReplay(ctx context.Context, req *reprisev1.CancelReplayRequest) (*reprisev1.CancelReplayResponse, error) {
	by := caller(ctx)
	_, r, err := s.command(ctx, req.GetReplayId(), func(r *replay.Replay) ([]replay.Event, error) {
		return r.DecideCancel(by, req.GetReason())
	})
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.CancelReplayResponse{Replay: r}, nil
}

type decision = func(*replay.Replay) ([]replay.Event, error)

// command carries out a command in the machine's loop and returns its answer and
// the replay after it. A replay that has ended meanwhile answers from its journal.
func (s *Service) command(ctx context.Context, replayID string, d decision) (dispatch.Answer, *reprisev1.Replay, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return dispatch.Answer{}, nil, err
	}
	a, err := s.ask(ctx, head.MachineID, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Command{ReplayID: replayID, Decide: d, Reply: reply}
	})
	if errors.Is(err, replay.ErrNotFound) { // no live one has this id
		r, foldErr := s.fold(ctx, replayID)
		if foldErr != nil {
			return a, nil, foldErr
		}
		if !r.State.Ended() {
			return a, nil, dispatch.ErrUnavailable // its loop will know it in a moment
		}
		_, err = d(r)
	}
	if err != nil {
		return a, nil, err
	}
	r, err := s.head(ctx, replayID)
	return a, r, err
}

// head shows a replay without its actions.
func (s *Service) head(ctx context.Context, replayID string) (*reprisev1.Replay, error) {
	h, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return nil, err
	}
	return s.fromHead(h), nil
}

// fromHead adds to a head what the journal does not know: whether the agent of a
// live replay is away.
func (s *Service) fromHead(h replay.Head) *reprisev1.Replay {
	r := fromHead(h)
	r.AgentAway = !h.State.Ended() && !s.cfg.Registry.Held(h.MachineID)
	return r
}

// ask hands an input to a machine's loop and waits for its answer.
func (s *Service) ask(ctx context.Context, machineID string, in func(func(dispatch.Answer)) dispatch.Input) (dispatch.Answer, error) {
	answers := make(chan dispatch.Answer, 1)
	loop := s.cfg.Fleet.Loop(machineID)
	if err := loop.Post(ctx, in(func(a dispatch.Answer) { answers <- a })); err != nil {
		return dispatch.Answer{}, err
	}
	select {
	case a := <-answers:
		return a, a.Err
	case <-ctx.Done():
		return dispatch.Answer{}, context.Cause(ctx)
	case <-s.cfg.Ended:
		return dispatch.Answer{}, dispatch.ErrStopped
	}
}

// caller says who calls, for the journal.
func caller(ctx context.Context) string {
	if who, ok := auth.From(ctx); ok {
		return who.Name
	}
	return ""
}

// keyedMutex is one lock per key, gone when nobody holds it.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*countedMutex
}

type countedMutex struct {
	sync.Mutex
	users int
}

// lock locks a key and returns what unlocks it.
func (k *keyedMutex) lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = map[string]*countedMutex{}
	}
	m := k.locks[key]
	if m == nil {
		m = &countedMutex{}
		k.locks[key] = m
	}
	m.users++
	k.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(k.locks, key)
		}
	}
}
