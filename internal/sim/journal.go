package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// journal is the server's disk. What is being written when the server is killed is
// there or not, all of it or nothing.
type journal struct {
	w         *world
	records   map[string][]replay.Record
	order     []string                  // of the replays' creation
	folded    map[string]*replay.Replay // what is durable, folded apart from the server
	writing   []*write
	fullUntil time.Duration
	slowUntil time.Duration
}

type write struct{ entries []replay.Entry }

func newJournal(w *world) *journal {
	return &journal{w: w, records: map[string][]replay.Record{}, folded: map[string]*replay.Replay{}}
}

// takes is how long a write takes.
func (j *journal) takes() time.Duration {
	switch {
	case j.w.now < j.slowUntil:
		return j.w.between(300*time.Millisecond, 4*time.Second)
	case j.w.chance(30):
		return j.w.between(5*time.Millisecond, 200*time.Millisecond)
	}
	return j.w.between(200*time.Microsecond, 3*time.Millisecond)
}

// begin begins a write; end ends it, unless the server died meanwhile.
func (j *journal) begin(entries []replay.Entry) *write {
	wr := &write{entries: entries}
	j.writing = append(j.writing, wr)
	return wr
}

func (j *journal) end(wr *write) error {
	j.writing = slices.DeleteFunc(j.writing, func(o *write) bool { return o == wr })
	if j.w.now < j.fullUntil {
		return replay.ErrNoSpace
	}
	return j.commit(wr)
}

// crash settles by chance what was being written.
func (j *journal) crash() {
	for _, wr := range j.writing {
		if j.w.chance(2) && j.w.now >= j.fullUntil {
			_ = j.commit(wr) // a stale one was never written
		}
	}
	j.writing = nil
}

func (j *journal) commit(wr *write) error {
	for _, e := range wr.entries {
		if int64(len(j.records[e.Record.ReplayID]))+1 != e.Record.Seq {
			return replay.ErrStale
		}
	}
	for _, e := range wr.entries {
		id := e.Record.ReplayID
		if len(j.records[id]) == 0 {
			j.order = append(j.order, id)
			j.folded[id] = &replay.Replay{}
		}
		j.records[id] = append(j.records[id], e.Record)
		before := *j.folded[id]
		if err := j.folded[id].Apply(e.Record); err != nil {
			j.w.fail("I10", "a record does not fit: %v", err)
			return nil
		}
		j.w.witness.durable(j.folded[id], before, e.Record)
	}
	return nil
}

// of returns the records of a machine's replays, live or ended.
func (j *journal) of(machineID string, ended bool) (records []replay.Record, ids []string) {
	for _, id := range j.order {
		r := j.folded[id]
		if r.MachineID == machineID && r.State.Ended() == ended {
			records, ids = append(records, j.records[id]...), append(ids, id)
		}
	}
	return records, ids
}

// fold reads a machine's live replays, as a server that starts does.
func (j *journal) fold(machineID string) (live []*replay.Replay, ended []string) {
	_, ids := j.of(machineID, false)
	for _, id := range ids {
		r, err := replay.Fold(j.records[id])
		if err != nil {
			j.w.fail("I10", "%s cannot be folded: %v", id, err)
			continue
		}
		live = append(live, r)
	}
	_, ended = j.of(machineID, true)
	return live, ended
}

// action finds an action in what is durable.
func (j *journal) action(replayID, actionID string) (*replay.Replay, *replay.Action, error) {
	r := j.folded[replayID]
	if r == nil {
		return nil, nil, fmt.Errorf("%s is not in the journal", replayID)
	}
	a := r.Find(actionID)
	if a == nil {
		return r, nil, fmt.Errorf("%s is not in the journal", actionID)
	}
	return r, a, nil
}
