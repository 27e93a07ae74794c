package control

import (
	"context"
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// EventLog is the journal as those read it who follow all replays: by positions
// that are never given twice and grow as records become durable.
type EventLog interface {
	// ID names the journal: positions mean something together with it alone.
	ID() string
	// Position returns the newest durable position; it never goes back.
	Position(ctx context.Context) (int64, error)
	// Events returns records after a position that fit, and the position up to
	// which that is all: replay.ErrEventsForgotten when a record after the position
	// is no longer kept, replay.ErrEventID for a position that was never given.
	Events(ctx context.Context, after int64, f replay.EventFilter, limit int) (recs []replay.Positioned, through int64, err error)
	// KeptEvents is Events without what is no longer kept.
	KeptEvents(ctx context.Context, after int64, f replay.EventFilter, limit int) (recs []replay.Positioned, through int64, err error)
	// LiveHeads returns the live replays and the position that they are true at.
	LiveHeads(ctx context.Context, f replay.EventFilter) (heads []replay.Head, position int64, err error)
	// Committed returns a channel that is closed when something is committed after
	// the call.
	Committed() <-chan struct{}
}

const (
	eventBatch   = 200              // records that are read at once
	tellPosition = 30 * time.Second // how often a watcher to whom nothing happens is told where it is
)

// WatchEvents implements ReplayService.WatchEvents.
func (s *Service) WatchEvents(req *reprisev1.WatchEventsRequest, st grpc.ServerStreamingServer[reprisev1.WatchEventsResponse]) error {
	w := &eventWatch{
		service: s, log: s.cfg.Journal, st: st, req: req,
		filter: replay.EventFilter{MachineID: req.GetMachineId(), ReplayID: req.GetReplayId()},
	}
	return rpcstatus.Error(w.run(st.Context()))
}

// eventWatch is one watch of events: a cursor over the journal, so that a watcher
// costs no memory however slow it is.
type eventWatch struct {
	service *Service
	log     EventLog
	st      grpc.ServerStreamingServer[reprisev1.WatchEventsResponse]
	req     *reprisev1.WatchEventsRequest
	filter  replay.EventFilter

	at     cursor
	kept   int64     // up to this position, what is no longer kept is passed over
	told   cursor    // where the watcher was told it is
	toldAt time.Time // zero: it was told nothing yet
}

func (w *eventWatch) run(ctx context.Context) error {
	present, err := w.begin(ctx)
	if err != nil {
		return err
	}
	for {
		committed := w.log.Committed()
		more, err := w.advance(ctx)
		switch {
		case err != nil:
			return err
		case w.req.GetUntilPresent() && w.at.position >= present:
			return w.tell(0)
		case more:
			continue
		}
		if err := w.wait(ctx, committed); err != nil {
			return err
		}
	}
}

// begin finds where the watch begins, sends the snapshot if there is one, and
// returns the newest position there is.
func (w *eventWatch) begin(ctx context.Context) (present int64, err error) {
	after := w.req.GetAfterEventId()
	switch {
	case after != "" && w.req.GetFromBeginning():
		return 0, invalid("from_beginning", "excludes after_event_id")
	case after != "":
		if w.at, err = parseEventID(w.log.ID(), after); err != nil {
			return 0, err
		}
		w.told, w.toldAt = w.at, time.Now()
	case w.req.GetFromBeginning():
		// Only what was forgotten before the watch began is no loss to it.
		w.kept, err = w.log.Position(ctx)
		return w.kept, err
	default:
		err = w.snapshot(ctx)
		return w.at.position, err
	}
	return w.log.Position(ctx)
}

func (w *eventWatch) snapshot(ctx context.Context) error {
	heads, position, err := w.log.LiveHeads(ctx, w.filter)
	if err != nil {
		return err
	}
	w.at = cursor{position: position}
	m, size := &reprisev1.WatchEventsResponse{}, 0
	for _, h := range heads {
		shown := w.service.fromHead(h)
		n := entrySize(shown)
		if size += n; size > maxPart && len(m.Snapshot) > 0 {
			m.SnapshotPending = true // and there is nowhere to go on from before its end
			if err := send(w.service, w.st, m); err != nil {
				return err
			}
			m, size = &reprisev1.WatchEventsResponse{}, n
		}
		m.Snapshot = append(m.Snapshot, shown)
	}
	return w.send(m)
}

// advance sends the events after the cursor, as many as are read at once, and moves
// it; more says that there may be more.
func (w *eventWatch) advance(ctx context.Context) (more bool, err error) {
	read := w.log.Events
	if w.at.position < w.kept {
		read = w.log.KeptEvents
	}
	recs, through, err := read(ctx, w.at.before(), w.filter, eventBatch)
	if err != nil {
		return false, err
	}
	m, size := &reprisev1.WatchEventsResponse{}, 0
	for _, rec := range recs {
		for _, ev := range w.events(rec) {
			n := entrySize(ev.shown)
			if size += n; size > maxPart && len(m.Events) > 0 {
				if err := w.send(m); err != nil {
					return false, err
				}
				m, size = &reprisev1.WatchEventsResponse{}, n
			}
			m.Events, w.at = append(m.Events, ev.shown), ev.at
		}
	}
	w.at = cursor{position: through}
	if len(m.Events) == 0 {
		return len(recs) > 0, w.tell(tellPosition)
	}
	return true, w.send(m)
}

// placed is an event, and where a watcher is that has seen it.
type placed struct {
	shown *reprisev1.ReplayEvent
	at    cursor
}

// events names the events of a record that the watcher has not seen.
func (w *eventWatch) events(rec replay.Positioned) []placed {
	events := fromRecord(rec.MachineID, rec.Record)
	out := make([]placed, 0, len(events))
	for i, ev := range events {
		at := eventCursor(rec.Position, i, len(events))
		ev.EventId = at.id(w.log.ID())
		out = append(out, placed{ev, at})
	}
	if rec.Position == w.at.position && w.at.seen > 0 {
		return out[min(w.at.seen, len(out)):]
	}
	return out
}

// tell tells the watcher where it is, if that has moved and it was not told for so
// long.
func (w *eventWatch) tell(every time.Duration) error {
	if !w.toldAt.IsZero() && (w.at == w.told || time.Since(w.toldAt) < every) {
		return nil
	}
	return w.send(&reprisev1.WatchEventsResponse{})
}

// send sends a response after which the watcher is at the cursor.
func (w *eventWatch) send(m *reprisev1.WatchEventsResponse) error {
	m.ResumeEventId = w.at.id(w.log.ID())
	w.told, w.toldAt = w.at, time.Now()
	return send(w.service, w.st, m)
}

// wait waits until something was committed, or the watcher is to be told where it
// is.
func (w *eventWatch) wait(ctx context.Context, committed <-chan struct{}) error {
	var overdue <-chan time.Time
	if w.at != w.told {
		late := time.NewTimer(max(0, tellPosition-time.Since(w.toldAt)))
		defer late.Stop()
		overdue = late.C
	}
	select {
	case <-committed:
		return w.service.pause(ctx, gather)
	case <-overdue:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.service.cfg.Ended:
		return dispatch.ErrStopped
	}
}
