package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Errors that the front desk is told apart.
var (
	ErrBadForm  = errors.New("the form is not complete")
	ErrUnknown  = errors.New("there is no such intake")
	ErrOther    = errors.New("this case was taken in with another form")
	ErrTooLate  = errors.New("somebody else has decided, or it is over")
	ErrNoChecks = errors.New("what must be confirmed is not")
)

// label marks our replays among all others of the server.
const label = "intake-case"

// Intakes takes patients in. It stores nothing of its own: the server has each
// replay, and Recover finds them again.
type Intakes struct {
	replays reprisev1.ReplayServiceClient
	machine string
	log     *slog.Logger

	ctx     context.Context // of all that follows a replay
	stop    context.CancelCauseFunc
	follows sync.WaitGroup

	mu     sync.Mutex
	status map[string]*follower // by case
}

// errClosed ends what follows replays.
var errClosed = errors.New("the service ends")

// New returns a service that works on one machine. The caller closes it.
func New(ctx context.Context, conn grpc.ClientConnInterface, machine string, log *slog.Logger) *Intakes {
	s := &Intakes{replays: reprisev1.NewReplayServiceClient(conn), machine: machine, log: log, status: map[string]*follower{}}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	return s
}

// Close ends what follows the replays; the replays go on.
func (s *Intakes) Close() {
	s.stop(errClosed)
	s.follows.Wait()
}

// Recover finds the intakes that were under way when an earlier process of this
// service ended.
func (s *Intakes) Recover(ctx context.Context) error {
	req := &reprisev1.ListReplaysRequest{MachineId: s.machine, States: []reprisev1.ReplayState{
		reprisev1.ReplayState_REPLAY_STATE_QUEUED, reprisev1.ReplayState_REPLAY_STATE_RUNNING, reprisev1.ReplayState_REPLAY_STATE_PAUSED,
	}}
	for {
		var page *reprisev1.ListReplaysResponse
		err := again(ctx, func(ctx context.Context) (err error) {
			page, err = s.replays.ListReplays(ctx, req)
			return err
		})
		if err != nil {
			return fmt.Errorf("find the intakes: %w", err)
		}
		for _, r := range page.GetReplays() {
			if of, ours := r.GetLabels()[label]; ours {
				s.follow(of, r.GetReplayId())
			}
		}
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			return nil
		}
	}
}

// Start takes a patient in. The same form twice, from a browser that was reloaded or
// after an answer that was lost, is one intake.
func (s *Intakes) Start(ctx context.Context, f Form) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadForm, err)
	}
	req := &reprisev1.CreateReplayRequest{
		// It follows from the case, so that it is the same whoever asks, also after a
		// restart of this service.
		RequestId: "intake-" + f.Case, MachineId: s.machine, Workflow: f.workflow(), Labels: map[string]string{label: f.Case},
		Supervision: reprisev1.Supervision_SUPERVISION_SUPERVISED,
	}
	var created *reprisev1.CreateReplayResponse
	err := again(ctx, func(ctx context.Context) (err error) {
		created, err = s.replays.CreateReplay(ctx, req)
		return err
	})
	if reason(err) == "REQUEST_ID_TAKEN" {
		return fmt.Errorf("%w: %s", ErrOther, f.Case)
	}
	if err != nil {
		return fmt.Errorf("start the intake: %w", err)
	}
	s.follow(f.Case, created.GetReplay().GetReplayId())
	return nil
}

// Get returns how an intake stands.
func (s *Intakes) Get(of string) (Status, error) {
	f, err := s.find(of)
	if err != nil {
		return Status{}, err
	}
	return f.get(), nil
}

// Decide is what a person has decided about a pause, which they were shown. A
// resume is not idempotent: sent again blindly, it could answer a pause that nobody
// has seen yet. So it is sent again only while the very same pause lasts.
func (s *Intakes) Decide(ctx context.Context, of, pauseID string, decision reprisev1.ResumeDecision, checks []string) error {
	f, err := s.find(of)
	if err != nil {
		return err
	}
	var r retries
	for {
		open, err := s.pauseLasts(ctx, f.replayID, pauseID)
		switch {
		case err != nil:
			return err
		case !open && r.tries > 0:
			return nil // our answer was taken, and word of it was lost
		case !open:
			return ErrTooLate
		}
		err = once(ctx, func(ctx context.Context) error {
			_, err := s.replays.ResumeReplay(ctx, &reprisev1.ResumeReplayRequest{
				ReplayId: f.replayID, Decision: decision, AcknowledgedCheckIds: checks,
			})
			return err
		})
		switch {
		case err == nil:
			return nil
		case reason(err) == "SAFETY_CHECKS":
			return fmt.Errorf("%w: %w", ErrNoChecks, err)
		case reason(err) == "REPLAY_NOT_PAUSED", reason(err) == "REPLAY_ENDED":
			return ErrTooLate
		case !r.more(ctx, err):
			return fmt.Errorf("resume: %w", err)
		}
	}
}

func (s *Intakes) pauseLasts(ctx context.Context, replayID, pauseID string) (bool, error) {
	var got *reprisev1.GetReplayResponse
	err := again(ctx, func(ctx context.Context) (err error) {
		got, err = s.replays.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: replayID, WithoutActions: true})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look at the pause: %w", err)
	}
	pause := got.GetReplay().GetPause()
	return pause != nil && pause.GetPauseId() == pauseID, nil
}

// Cancel ends an intake. Cancelling is idempotent; one that is over stays as it is.
func (s *Intakes) Cancel(ctx context.Context, of, why string) error {
	f, err := s.find(of)
	if err != nil {
		return err
	}
	err = again(ctx, func(ctx context.Context) error {
		_, err := s.replays.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: f.replayID, Reason: why})
		return err
	})
	if reason(err) == "REPLAY_ENDED" {
		return ErrTooLate
	}
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

func (s *Intakes) find(of string) (*follower, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.status[of]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknown, of)
}

// follow keeps an intake's status up to date, once; again when it was lost.
func (s *Intakes) follow(of, replayID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.status[of]; old != nil && !old.get().Lost || s.ctx.Err() != nil {
		return
	}
	f := &follower{replayID: replayID, actions: map[string]reprisev1.ActionState{}}
	s.status[of] = f
	s.follows.Go(func() {
		if err := f.run(s.ctx, s.replays); err != nil {
			s.log.Error("an intake can no longer be followed", "case", of, "replay", replayID, "error", err)
		}
	})
}
