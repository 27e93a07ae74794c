package control

import (
	"context"
	"strconv"
	"testing"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// library is a journal of heads and, for those who follow, of records.
type library struct {
	empty
	heads     []replay.Head
	recs      []replay.Positioned // at positions 1, 2, …
	forgotten int64               // up to this position
	read      func(*library)      // after each reading of records
}

func (l *library) Heads(_ context.Context, f replay.Filter) (page []replay.Head, next string, err error) {
	at, _ := strconv.Atoi(f.PageToken)
	end := min(at+f.PageSize, len(l.heads))
	if end < len(l.heads) {
		next = strconv.Itoa(end)
	}
	return l.heads[at:end], next, nil
}

func (l *library) ID() string                              { return "j" }
func (l *library) Position(context.Context) (int64, error) { return int64(len(l.recs)), nil }
func (l *library) Committed() <-chan struct{}              { return nil }

func (l *library) LiveHeads(context.Context, replay.EventFilter) ([]replay.Head, int64, error) {
	return l.heads, int64(len(l.recs)), nil
}

func (l *library) Events(ctx context.Context, after int64, f replay.EventFilter, limit int) ([]replay.Positioned, int64, error) {
	if after < l.forgotten {
		return nil, 0, replay.ErrEventsForgotten
	}
	return l.KeptEvents(ctx, after, f, limit)
}

func (l *library) KeptEvents(_ context.Context, after int64, _ replay.EventFilter, limit int) ([]replay.Positioned, int64, error) {
	recs := l.recs[max(after, l.forgotten):]
	recs = recs[:min(limit, len(recs))]
	through := int64(len(l.recs))
	if len(recs) > 0 {
		through = recs[len(recs)-1].Position
	}
	if l.read != nil {
		l.read(l)
	}
	return recs, through, nil
}

func (l *library) add(detail string, events int) {
	rec := replay.Record{ReplayID: "r", Seq: int64(len(l.recs) + 1)}
	for range events {
		rec.Events = append(rec.Events, replay.Created{Workflow: detail})
	}
	l.recs = append(l.recs, replay.Positioned{Position: int64(len(l.recs) + 1), MachineID: "m", Record: rec})
}

// listener is a stream of events, up to a response that it does not take.
type listener struct {
	grpc.ServerStreamingServer[reprisev1.WatchEventsResponse]
	ctx   context.Context
	heard []*reprisev1.WatchEventsResponse
	takes int
}

func (l *listener) Context() context.Context { return l.ctx }

func (l *listener) Send(m *reprisev1.WatchEventsResponse) error {
	if len(l.heard) == l.takes {
		return context.Canceled
	}
	l.heard = append(l.heard, m)
	return nil
}

// hear follows a journal until present.
func hear(t *testing.T, j Journal, req *reprisev1.WatchEventsRequest, takes int) ([]*reprisev1.WatchEventsResponse, error) {
	t.Helper()
	l := &listener{ctx: t.Context(), takes: takes}
	req.UntilPresent = true
	err := New(Config{Journal: j, Registry: &registry.Registry{}}).WatchEvents(req, l)
	return l.heard, err
}
