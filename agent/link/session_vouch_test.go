package link

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// told is a runner that passes on what it is given.
type told struct {
	eager
	opened     chan runner.Stream
	dispatched chan string
	cancelled  chan runner.Cancelled
}

func (r told) Open(_ context.Context, s runner.Stream, _ runner.Opened) error {
	r.opened <- s
	return nil
}

func (r told) Handle(_ context.Context, e runner.Event) error {
	switch e := e.(type) {
	case runner.Dispatched:
		r.dispatched <- e.ActionID
	case runner.Cancelled:
		r.cancelled <- e
	}
	return nil
}

// meeting is a stream that stood for a minute, seen from both of its ends.
type meeting struct {
	*agenttest.Conn
	told
	stream runner.Stream
	ctx    context.Context
}

// late opens a stream and lets it stand for a minute.
func late(t *testing.T, then func(m meeting)) {
	synctest.Test(t, func(t *testing.T) {
		server := agenttest.New()
		r := told{opened: make(chan runner.Stream, 1), dispatched: make(chan string, 4), cancelled: make(chan runner.Cancelled, 4)}
		l := New(Config{
			Server: agenttest.Address, MachineID: "m", Dial: server.Dial, Runner: r, Desk: unlocked{}, Evidence: NewEvidence(nil, nil),
		})
		over := errors.New("the test is over")
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		defer func() {
			stop(over)
			if err := errors.Join(server.Close(), <-ended); !errors.Is(err, over) {
				t.Errorf("Run = %v", err)
			}
		}()
		c, err := server.Accept(ctx)
		if err == nil {
			err = c.Welcome(&reprisev1.Welcome{SessionId: "s"})
		}
		if err != nil {
			t.Fatal(err)
		}
		stream := <-r.opened
		time.Sleep(time.Minute)
		then(meeting{c, r, stream, ctx})
	})
}

func (m meeting) dispatch(t *testing.T) {
	t.Helper()
	err := m.Dispatch(&reprisev1.Dispatch{
		ReplayId: "r", SessionId: "s", MachineId: "m", ActionId: "r-1", AttemptId: "r-1.1",
		Action: &reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// vouch asks for an action, and returns what is said to it in the end.
func (m meeting) vouch(ctx context.Context) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- m.stream.Vouch(ctx) }()
	synctest.Wait()
	return answer
}

func TestADispatchOnAQuietStreamThatIsUpIsDoneAtOnce(t *testing.T) {
	late(t, func(m meeting) {
		m.dispatch(t)
		select {
		case <-m.dispatched:
		default:
			t.Error("the dispatch waits")
		}
	})
}

func TestADispatchThatTheServerNoLongerVouchesForIsDroppedWithTheStream(t *testing.T) {
	late(t, func(m meeting) {
		m.Deaf()
		m.dispatch(t)
		m.End(status.Error(codes.Unavailable, "the agent does not answer pings"))
		synctest.Wait()
		select {
		case id := <-m.dispatched:
			t.Errorf("%s was executed", id)
		default:
		}
	})
}

func TestAnActionOnAQuietStreamThatIsUpBeginsAtOnceAndAgainWithoutAsking(t *testing.T) {
	late(t, func(m meeting) {
		select {
		case err := <-m.vouch(m.ctx):
			if err != nil {
				t.Error(err)
			}
		default:
			t.Fatal("the action waits")
		}
		m.Deaf() // it is not asked again
		time.Sleep(leaseTime)
		select {
		case err := <-m.vouch(m.ctx):
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("a fresh answer was doubted")
		}
	})
}

func TestAnActionThatTheServerNoLongerVouchesForDoesNotBegin(t *testing.T) {
	late(t, func(m meeting) {
		m.Deaf()
		answer := m.vouch(m.ctx)
		select {
		case err := <-answer:
			t.Fatalf("the server is deaf, and Vouch = %v", err)
		default:
		}
		m.End(status.Error(codes.Unavailable, "the agent does not answer pings"))
		if err := <-answer; !errors.Is(err, errUnvouched) {
			t.Errorf("Vouch = %v, want that the stream has ended", err)
		}
	})
}

// Its last answer may be fresh: a stream that has ended vouches for nothing all the same.
func TestOnAStreamThatHasEndedNoActionBegins(t *testing.T) {
	late(t, func(m meeting) {
		if err := m.stream.Vouch(m.ctx); err != nil {
			t.Fatal(err)
		}
		m.End(status.Error(codes.Unavailable, "another agent has the machine"))
		synctest.Wait()
		if err := m.stream.Vouch(m.ctx); !errors.Is(err, errUnvouched) {
			t.Errorf("Vouch = %v, want that the stream has ended", err)
		}
	})
}

func TestAStopEndsTheWaitOfAnActionThatIsToBegin(t *testing.T) {
	late(t, func(m meeting) {
		m.Deaf()
		ctx, stop := context.WithCancelCause(m.ctx)
		answer := m.vouch(ctx)
		stop(work.ErrInterrupted)
		if err := <-answer; !errors.Is(err, work.ErrInterrupted) {
			t.Errorf("Vouch = %v, want why it was stopped", err)
		}
	})
}

// What the server has said before it vouches, the runner has been told.
func TestACancelThatWasSaidBeforeTheAnswerIsHandedOverBeforeIt(t *testing.T) {
	late(t, func(m meeting) {
		cancel := &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Cancel{Cancel: &reprisev1.Cancel{ReplayId: "r"}}}
		if err := m.Send(cancel); err != nil {
			t.Fatal(err)
		}
		if err := m.stream.Vouch(m.ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case <-m.cancelled:
		default:
			t.Error("the server vouched for what it had cancelled")
		}
	})
}
