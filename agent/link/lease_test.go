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

var dawn = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

func dispatchOf(actionID string) work.Dispatch {
	return work.Dispatch{Ref: work.Ref{ReplayID: "r", ActionID: actionID}}
}

func TestADispatchCountsWhileTheServerHasAnsweredAMomentAgo(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	if counts, _ := l.Dispatched(dawn.Add(leaseTime), dispatchOf("r-1")); !counts {
		t.Error("asked although the hello was answered")
	}
	if counts, ping := l.Dispatched(dawn.Add(leaseTime+1), dispatchOf("r-1")); counts || ping == 0 {
		t.Error("not asked although nothing vouches for the stream")
	}
	l.acked(&said{"r-1", dawn.Add(5 * time.Second)}, "r-0") // to a report of before
	if counts, _ := l.Dispatched(dawn.Add(5*time.Second), dispatchOf("r-2")); counts {
		t.Error("an answer to another report counted")
	}
	l.acked(&said{"r-1", dawn.Add(5 * time.Second)}, "r-1")
	if counts, _ := l.Dispatched(dawn.Add(6*time.Second), dispatchOf("r-2")); !counts {
		t.Error("asked although a report was answered")
	}
	l.Answered(dawn) // late news
	if counts, _ := l.Dispatched(dawn.Add(6*time.Second), dispatchOf("r-3")); !counts {
		t.Error("late news took the newer ones away")
	}
}

func TestAShortPingTimeoutShortensTheLease(t *testing.T) {
	l := NewLease(dawn, 300*time.Millisecond)
	within, _ := l.Dispatched(dawn.Add(150*time.Millisecond), dispatchOf("r-1"))
	beyond, _ := l.Dispatched(dawn.Add(151*time.Millisecond), dispatchOf("r-1"))
	if !within || beyond {
		t.Error("the lease is not half of the ping timeout")
	}
}

func TestTheNewestDispatchThatWaitsIsFreedByTheAnswerToThePing(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	_, ping := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
	if counts, again := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-2")); counts || again != 0 {
		t.Errorf("a second dispatch counts %v, and asks with %d", counts, again)
	}
	for _, n := range []uint64{0, 1, ping - 1} {
		if d, _ := l.Pong(dawn.Add(time.Minute), n); d != nil {
			t.Errorf("pong %d freed %s", n, d.ActionID)
		}
	}
	if d, _ := l.Pong(dawn.Add(time.Minute), ping); d == nil || d.ActionID != "r-2" {
		t.Errorf("freed %v, want the newer dispatch", d)
	}
	if d, _ := l.Pong(dawn.Add(time.Minute), ping); d != nil {
		t.Errorf("%s was freed twice", d.ActionID)
	}
	if counts, _ := l.Dispatched(dawn.Add(time.Minute+leaseTime), dispatchOf("r-3")); !counts {
		t.Error("the answer vouches for nothing")
	}
}

// On a slow way the server asks again before it is answered. That must not put off
// the answer.
func TestADispatchCountsInTheEndHoweverSlowTheWay(t *testing.T) {
	for _, trip := range []time.Duration{1500 * time.Millisecond, 2600 * time.Millisecond, 4 * time.Second, 8 * time.Second} {
		l := NewLease(dawn, 10*time.Second)
		answers := map[time.Time]uint64{} // when which ping is answered
		ask := func(now time.Time, ping uint64) {
			if ping != 0 {
				answers[now.Add(trip)] = ping
			}
		}
		counted := false
		for at := time.Minute; at < 2*time.Minute && !counted; at += 100 * time.Millisecond {
			now := dawn.Add(at)
			if at%(5*time.Second) == 0 {
				var ping uint64
				counted, ping = l.Dispatched(now, dispatchOf("r-1"))
				ask(now, ping)
			}
			if ping := answers[now]; ping != 0 {
				d, again := l.Pong(now, ping)
				ask(now, again)
				counted = counted || d != nil
			}
		}
		if !counted {
			t.Errorf("with a round trip of %v nothing ever counts", trip)
		}
	}
}

// A machine that sleeps may stop one of its two clocks.
func TestTheClockOnTheWallHasASayInWhatIsFresh(t *testing.T) {
	l := NewLease(time.Now(), 10*time.Second)
	asleep := time.Now().Round(0).Add(time.Hour) // no monotonic reading: an hour by the wall
	if counts, _ := l.Dispatched(asleep, dispatchOf("r-1")); counts {
		t.Error("a dispatch counts an hour later")
	}
	l = NewLease(time.Now(), 10*time.Second)
	if counts, _ := l.Dispatched(time.Now().Round(0).Add(-time.Hour), dispatchOf("r-1")); counts {
		t.Error("a dispatch counts an hour before the hello")
	}
}

// A process that is frozen between the ping and its answer wakes with both the
// dispatch and an answer that is as old.
func TestAnAnswerThatIsLateItselfVouchesForNothing(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	_, first := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
	late := dawn.Add(2 * time.Minute)
	d, second := l.Pong(late, first)
	if d != nil || second == 0 || second == first {
		t.Fatalf("a late answer freed %v, and asked with %d", d, second)
	}
	if d, _ := l.Pong(late.Add(2*time.Second), second); d == nil {
		t.Error("on a slow way nothing ever counts")
	}
	_, again := l.Dispatched(late.Add(time.Hour), dispatchOf("r-2"))
	if d, _ := l.Pong(late.Add(2*time.Hour), again); d != nil {
		t.Error("a way that was slow once is never doubted again")
	}
}

func TestACancelDropsTheDispatchThatWaits(t *testing.T) {
	for _, c := range []struct {
		replay, action string
		drops          bool
	}{{"r", "", true}, {"r", "r-1", true}, {"r", "r-2", false}, {"other", "", false}} {
		l := NewLease(dawn, 10*time.Second)
		_, ping := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
		l.Cancelled(c.replay, c.action)
		d, _ := l.Pong(dawn.Add(time.Minute), ping)
		if dropped := d == nil; dropped != c.drops {
			t.Errorf("cancel of %q, %q: dropped %v, want %v", c.replay, c.action, dropped, c.drops)
		}
	}
}

// told is a runner that passes on what it is asked to do.
type told struct {
	eager
	dispatched chan string
}

func (told) Open(context.Context, runner.Stream, runner.Opened) error { return nil }

func (r told) Handle(_ context.Context, e runner.Event) error {
	if d, ok := e.(runner.Dispatched); ok {
		r.dispatched <- d.ActionID
	}
	return nil
}

// late opens a stream, lets it stand for a minute and sends a dispatch.
func late(t *testing.T, deaf bool, then func(*agenttest.Conn, <-chan string)) {
	synctest.Test(t, func(t *testing.T) {
		server, r := agenttest.New(), told{dispatched: make(chan string, 4)}
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
		time.Sleep(time.Minute)
		if deaf {
			c.Deaf()
		}
		err = c.Dispatch(&reprisev1.Dispatch{
			ReplayId: "r", SessionId: "s", MachineId: "m", ActionId: "r-1", AttemptId: "r-1.1",
			Action: &reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		then(c, r.dispatched)
	})
}

func TestADispatchOnAQuietStreamThatIsUpIsDoneAtOnce(t *testing.T) {
	late(t, false, func(_ *agenttest.Conn, dispatched <-chan string) {
		select {
		case <-dispatched:
		default:
			t.Error("the dispatch waits")
		}
	})
}

func TestADispatchThatTheServerNoLongerVouchesForIsDroppedWithTheStream(t *testing.T) {
	late(t, true, func(c *agenttest.Conn, dispatched <-chan string) {
		c.End(status.Error(codes.Unavailable, "the agent does not answer pings"))
		synctest.Wait()
		select {
		case id := <-dispatched:
			t.Errorf("%s was executed", id)
		default:
		}
	})
}
