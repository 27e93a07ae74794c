package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// waits are the longest pauses between attempts to reach a server that was there
// a moment ago. One person or script waits, not a crowd: so they are short.
var waits = backoff.Policy{Steps: []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second}}

// oddFailures is how often in a row a watch may end in a way that no lost server
// explains before it is taken as a fault.
const oddFailures = 5

// display shows a watch of a replay while it goes on.
type display interface {
	// update shows a change, or a part of how things were when the watch began.
	update(u update) error
	// lost says that the server is away, once per absence.
	lost(err error) error
	// end shows how the watch ended.
	end(v *view, exit int) error
}

// watching is something that is watched over cut connections and restarts of the
// server.
type watching struct {
	what   string        // for errors, such as `watch r-1`
	giveUp time.Duration // longest absence of the server; 0: no limit
	// once shows one stream. It returns nil when all is said; heard says that
	// something came. An error that holds an exitError ends the watch.
	once func(context.Context) (heard bool, err error)
	// lost says that the server is away, once per absence.
	lost func(error) error
}

// persist watches until all is said, ctx ends or the server gives no hope.
func (c *client) persist(ctx context.Context, w watching) error {
	away := absence{limit: w.giveUp}
	for {
		heard, err := w.once(ctx)
		if err == nil {
			return nil
		}
		if e := (*exitError)(nil); errors.As(err, &e) || ctx.Err() != nil {
			return err
		}
		if heard {
			away = absence{limit: w.giveUp}
		}
		if !c.met.made.Load() || !away.mayPass(err, time.Now()) {
			return failed(w.what, err)
		}
		if away.failures == 1 {
			if err := w.lost(err); err != nil {
				return err
			}
		}
		if err := wait.For(ctx, waits.Wait(away.failures, rand.Float64())); err != nil {
			return err
		}
	}
}

// following is how a replay is watched.
type following struct {
	id          string
	after       *int64        // the first events are those after this revision; nil: none of the past
	failOnPause bool          // a pause ends the watch
	giveUp      time.Duration // longest absence of the server; 0: no limit
	show        display
}

// follow watches a replay until it has ended, over cut connections and restarts
// of the server, and shows each event once. The error carries the exit code of
// the replay's end.
func (c *client) follow(ctx context.Context, f following) error {
	v := &view{seen: f.after}
	err := c.persist(ctx, watching{
		what: "watch " + f.id, giveUp: f.giveUp, lost: f.show.lost,
		once: func(ctx context.Context) (bool, error) { return c.watchOnce(ctx, f, v) },
	})
	if err != nil {
		return err
	}
	return f.finish(v)
}

func (f following) finish(v *view) error {
	exit := exitOfReplay(v.replay)
	if err := f.show.end(v, exit); err != nil {
		return err
	}
	if exit != exitOK {
		return &exitError{code: exit}
	}
	return nil
}

var errStreamEnded = status.Error(codes.Unavailable, "the server ended the watch")

// watchOnce shows one stream. It returns nil when the replay has ended, or is
// paused and that is the end of this watch; heard says that something came.
func (c *client) watchOnce(ctx context.Context, f following, v *view) (heard bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	v.begin()
	stream, err := c.replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: f.id, AfterRevision: v.seen})
	if err != nil {
		return false, err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = errStreamEnded
		}
		if err != nil {
			return heard, err
		}
		heard = true
		if err := f.show.update(v.take(resp)); err != nil {
			return heard, &exitError{exitFailure, err} // the output is closed
		}
		if resp.GetSnapshotPending() {
			continue
		}
		paused := v.replay.GetState() == reprisev1.ReplayState_REPLAY_STATE_PAUSED && !v.replay.GetPausing()
		if ended(v.replay) || f.failOnPause && paused {
			return heard, nil
		}
	}
}

// absence counts the failures since the server was heard last.
type absence struct {
	limit         time.Duration
	failures, odd int
	since         time.Time
}

// mayPass counts a failure and says whether it may pass by itself.
func (a *absence) mayPass(err error, now time.Time) bool {
	if a.failures == 0 {
		a.since = now
	}
	a.failures++
	if a.limit > 0 && now.Sub(a.since) >= a.limit {
		return false
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.DeadlineExceeded:
		return true
	case codes.Canceled, codes.Internal, codes.Unknown: // how a cut in the middle of a message may look
		a.odd++
		return a.odd < oddFailures
	}
	return false
}

// insist makes a call that may safely be repeated, over a server that goes away
// and comes back; a server that was never there is an error at once.
func (a *app) insist(ctx context.Context, c *client, what string, do func(context.Context) error) error {
	away := absence{limit: a.timeout}
	for {
		err := a.call(ctx, what, do)
		if status.Code(err) != codes.Unavailable || !c.met.made.Load() || !away.mayPass(err, time.Now()) {
			return err
		}
		if err := wait.For(ctx, waits.Wait(away.failures, rand.Float64())); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}
