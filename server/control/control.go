// Package control is ReplayService and MachineService: it turns what callers ask
// into commands of the machines' loops and answers with what is durable. It
// decides nothing about a replay.
package control

import (
	"context"
	"errors"
	"sync/atomic"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Journal is what the services read; what they change goes through the loops.
type Journal interface {
	Head(ctx context.Context, replayID string) (replay.Head, error)
	HeadByRequest(ctx context.Context, requestID string) (replay.Head, error)
	Heads(ctx context.Context, f replay.Filter) (page []replay.Head, next string, err error)
	// RecordsAfter returns the records of a replay after one of them; 0: all.
	RecordsAfter(ctx context.Context, replayID string, seq int64) ([]replay.Record, error)
	EventLog
}

// Pictures says which pictures the server has.
type Pictures interface {
	// Touch keeps a picture from being forgotten for a while, or returns
	// evidence.ErrNotFound.
	Touch(sha256 string) error
	// Await returns nil once a picture is there, else with the cause of ctx.
	Await(ctx context.Context, sha256 string) error
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

// Config sets up the services. All fields are required but those that say so.
type Config struct {
	Journal  Journal
	Fleet    Fleet
	Pictures Pictures
	Machines Machines
	Registry *registry.Registry
	// Changes tells watchers of machines which of them to look at; nil: they look
	// at all of them now and then.
	Changes *Changes
	// Capturer takes pictures of screens; nil: there are none to be had.
	Capturer Capturer
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
	// paged is the ended replay whose actions were asked for last; nil: none.
	paged atomic.Pointer[replay.Replay]
}

// New returns the services.
func New(c Config) *Service {
	if c.Changes == nil {
		c.Changes = &Changes{}
	}
	return &Service{cfg: c}
}

// order is a command to one replay.
type order struct {
	replayID string
	decide   func(*replay.Replay) ([]replay.Event, error)
	appendID string // of an append
}

// command carries out an order in the machine's loop and returns its answer, which
// shows the replay after it. A replay that has ended answers from its journal.
func (s *Service) command(ctx context.Context, o order) (dispatch.Answer, error) {
	head, err := s.cfg.Journal.Head(ctx, o.replayID)
	if err != nil {
		return dispatch.Answer{}, err
	}
	a, err := s.ask(ctx, head.MachineID, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Command{ReplayID: o.replayID, Decide: o.decide, AppendID: o.appendID, Reply: reply}
	})
	if errors.Is(err, replay.ErrNotFound) { // no live one has this id
		return s.commandEnded(ctx, o)
	}
	return a, err
}

func (s *Service) commandEnded(ctx context.Context, o order) (dispatch.Answer, error) {
	r, err := s.ended(ctx, o.replayID)
	if err != nil {
		return dispatch.Answer{}, err
	}
	if _, err := o.decide(r); err != nil {
		return dispatch.Answer{}, err
	}
	v := dispatch.ViewOf(r)
	a := dispatch.Answer{Replay: r.ID, View: &v}
	if first, count, ok := r.AppendedBy(o.appendID); ok {
		a.Appended = r.StepActionIDs(first, count)
	}
	return a, nil
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
