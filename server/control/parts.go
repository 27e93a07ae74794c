package control

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// How large a response is, encoded, unless one entry alone is larger: well below
// what a client takes that was not told to take more.
const (
	maxPart = 1 << 20 // of a watch
	maxPage = 2 << 20 // of a list
)

// entrySize is what an entry adds to its response.
func entrySize(m proto.Message) int { return 1 + protowire.SizeBytes(proto.Size(m)) }

// fitting returns how many of some entries one page takes: one, if there is one.
func fitting[M proto.Message](entries []M) int {
	size := 0
	for i, m := range entries {
		if size += entrySize(m); size > maxPage && i > 0 {
			return i
		}
	}
	return len(entries)
}

// parts puts the beginning of a watch, or a change, into responses. Each has the
// replay without its actions, and some of the actions and events. Its revision is
// that of the last event that was sent whole until then, so that a watcher which is
// cut in the middle can go on from what it was told.
type parts struct {
	view   dispatch.View
	seen   int64
	begins bool // it is the beginning, whose parts say whether more of them follow
	out    func(*reprisev1.WatchReplayResponse) error

	head *reprisev1.Replay              // without actions
	next *reprisev1.WatchReplayResponse // not sent yet
	size int                            // of next
}

// sendChange sends a change: the events come with the first response, since they
// are one revision, and the actions with it and those that follow.
func sendChange(v dispatch.View, out func(*reprisev1.WatchReplayResponse) error) error {
	p := parts{view: v, seen: v.Head.Revision, out: out}
	return p.send([]replay.Record{record(v)})
}

// send sends the events of the records up to the view, then the view's actions.
func (p *parts) send(past []replay.Record) error {
	p.head = fromGlance(p.view)
	p.begin()
	for _, rec := range past {
		if rec.Seq > p.view.Head.Revision {
			break // it comes as a change
		}
		events := fromRecord(p.view.Head.MachineID, rec)
		if err := p.room(proto.Size(&reprisev1.WatchReplayResponse{Events: events})); err != nil {
			return err
		}
		p.next.Events = append(p.next.Events, events...)
		p.seen = rec.Seq
		p.next.Replay.Revision = p.seen
	}
	for _, a := range inOrder(p.view.Actions) {
		shown := fromAction(p.head.GetReplayId(), p.head.GetMachineId(), a)
		if err := p.room(entrySize(shown) + 1); err != nil { // the replay's tag for actions has two bytes
			return err
		}
		p.next.Replay.Actions = append(p.next.Replay.Actions, shown)
	}
	p.next.Replay.Revision, p.next.SnapshotPending = p.view.Head.Revision, false
	return p.out(p.next)
}

func (p *parts) begin() {
	p.next = &reprisev1.WatchReplayResponse{Replay: proto.CloneOf(p.head), SnapshotPending: p.begins}
	p.next.Replay.Revision, p.size = p.seen, proto.Size(p.head)
}

// room sees to it that so many bytes go into the next response, unless they alone
// are too many.
func (p *parts) room(size int) error {
	if p.size+size > maxPart && len(p.next.Replay.Actions)+len(p.next.Events) > 0 {
		if err := p.out(p.next); err != nil {
			return err
		}
		p.begin()
	}
	p.size += size
	return nil
}
