package journal

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// row is one entry as it goes into the tables.
type row struct {
	record replay.Record
	data   []byte // the record, encoded
	head   replay.Head
	labels string // the head's, as JSON; of a first record only, since they stay
}

func newRow(e replay.Entry) (row, error) {
	rec, head := e.Record, e.Head
	switch {
	case rec.ReplayID == "" || rec.Seq < 1:
		return row{}, fmt.Errorf("append record %d of replay %q: a record needs a replay and a position from 1", rec.Seq, rec.ReplayID)
	case head.ReplayID != rec.ReplayID || head.Revision != rec.Seq:
		return row{}, fmt.Errorf("append record %d of replay %s: the head is of record %d of replay %s", rec.Seq, rec.ReplayID, head.Revision, head.ReplayID)
	case head.State.Ended() == head.EndedAt.IsZero():
		return row{}, fmt.Errorf("append record %d of replay %s: state %v with the end %v", rec.Seq, rec.ReplayID, head.State, head.EndedAt)
	}
	data, err := encode(rec)
	if err != nil {
		return row{}, err
	}
	r := row{record: rec, data: data, head: head}
	if rec.Seq == 1 {
		labels, err := json.Marshal(head.Labels)
		if err != nil {
			return row{}, fmt.Errorf("encode the labels of replay %s: %w", rec.ReplayID, err)
		}
		r.labels = string(labels)
	}
	return r, nil
}

// never stands for the zero time, which has no nanoseconds since 1970.
const never = math.MinInt64

// nanos and instant are how a time lies in a column.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == never {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
