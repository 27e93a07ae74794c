package journal

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// putHead writes the head and returns its number.
func (w *writer) putHead(r row) (ord int64, err error) {
	h := r.head
	ord, lives := w.live[h.ReplayID]
	switch {
	case r.record.Seq == 1:
		ord, err = w.numbered(w.insertHead, h.ReplayID, h.MachineID, h.Workflow, h.RequestID, h.RequestHash, r.labels, h.Unattended, nanos(h.CreatedAt),
			h.Actions, h.Open, int(h.State), h.Pausing, h.PauseReason, h.Settled, h.EndReason, nanos(h.UpdatedAt), endOf(h), h.Revision)
	case lives && !h.State.Ended():
		return ord, w.move(ord, h)
	default:
		ord, err = w.numbered(w.updateHead, h.Actions, h.Open, int(h.State), h.Pausing, h.PauseReason, h.Settled, h.EndReason, nanos(h.UpdatedAt), endOf(h),
			h.Revision, h.ReplayID, h.Revision-1)
	}
	switch {
	case err != nil:
	case h.State.Ended():
		delete(w.live, h.ReplayID)
	default:
		w.live[h.ReplayID] = ord
	}
	return ord, err
}

// move writes the head of a replay that lives and goes on living.
func (w *writer) move(ord int64, h replay.Head) error {
	s := w.moveHead
	err := bind(s, h.Actions, h.Open, int(h.State), h.Pausing, h.PauseReason, h.Settled, nanos(h.UpdatedAt), h.Revision, ord, h.Revision-1)
	if err == nil {
		err = s.Exec()
	}
	if err == nil && w.conn.Changes() == 0 {
		return replay.ErrStale
	}
	return err
}

// numbered runs a statement that writes a head and returns its number.
func (w *writer) numbered(s *sqlite3.Stmt, args ...any) (ord int64, err error) {
	if err := bind(s, args...); err != nil {
		return 0, err
	}
	written := s.Step()
	if written {
		ord = s.ColumnInt64(0)
	}
	err = s.Reset() // which also gives the step's error
	switch {
	case errors.Is(err, sqlite3.CONSTRAINT_UNIQUE): // the replay's own id is settled by the statement
		return 0, replay.ErrRequestIDTaken
	case err == nil && !written:
		return 0, replay.ErrStale
	}
	return ord, err
}

// endOf is the column ended_at: nil while the replay lives.
func endOf(h replay.Head) any {
	if !h.State.Ended() {
		return nil
	}
	return nanos(h.EndedAt)
}

func bind(s *sqlite3.Stmt, args ...any) error {
	for i, arg := range args {
		var err error
		switch arg := arg.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case string:
			err = s.BindText(i+1, arg)
		case []byte:
			err = s.BindBlob(i+1, arg)
		case bool:
			err = s.BindBool(i+1, arg)
		case int:
			err = s.BindInt(i+1, arg)
		case int64:
			err = s.BindInt64(i+1, arg)
		default:
			err = fmt.Errorf("the column has no place for %T", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
