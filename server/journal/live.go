package journal

import (
	"context"
	"database/sql"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Live calls fn with every record of the replays that have not ended: replay
// after replay in the order of their creation, each in the order of its records.
// It stops at fn's first error and returns it.
func (j *Journal) Live(ctx context.Context, fn func(replay.Record) error) error {
	if err := j.live(ctx, fn, ""); err != nil {
		return doing("read the live replays", err)
	}
	return nil
}

// LiveOf returns what Live gives of one machine.
func (j *Journal) LiveOf(ctx context.Context, machineID string) ([]replay.Record, error) {
	var out []replay.Record
	err := j.live(ctx, func(rec replay.Record) error {
		out = append(out, rec)
		return nil
	}, liveOf, machineID)
	if err != nil {
		return nil, doing("read the live replays of machine "+machineID, err)
	}
	return out, nil
}

// sqlLive reads the heads first and the records of each then, so that the rows
// come in order and nothing is sorted. A condition on the heads may stand between.
const (
	sqlLive      = `SELECT r.data FROM heads CROSS JOIN records AS r ON r.replay = heads.ord WHERE ended_at IS NULL `
	liveOf       = `AND machine_id = ?`
	sqlLiveOrder = ` ORDER BY heads.ord, r.seq`
)

// live reads the live replays from one state of the journal.
func (j *Journal) live(ctx context.Context, fn func(replay.Record) error, condition string, args ...any) error {
	return j.read(ctx, func(tx *sql.Tx) error {
		rows := func(ctx context.Context, row func([]byte) error) error {
			return each(ctx, tx, func(rows *sql.Rows) error {
				var data sql.RawBytes
				if err := rows.Scan(&data); err != nil {
					return err
				}
				return row(data)
			}, sqlLive+condition+sqlLiveOrder, args...)
		}
		return decodeAll(ctx, rows, fn)
	})
}

// How much is decoded at a time, in bytes, and how many such parts wait at most
// between the one who reads and the one who takes the records.
const (
	partBytes = 128 << 10
	partsWait = 4
)

// part is some rows in a row.
type part struct {
	data    []byte
	ends    []int // of each row in data
	records []replay.Record
	err     error         // what is wrong with the row behind records
	decoded chan struct{} // closed when the two above are there
}

// decodeAll calls fn with the record in each row, in their order. It reads ahead
// and decodes several parts at a time, since a server that starts has nothing else
// to do. fn runs in the caller's goroutine; when decodeAll returns, rows has.
func decodeAll(ctx context.Context, rows func(context.Context, func([]byte) error) error, fn func(replay.Record) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, read, spare := make(chan *part, partsWait), make(chan error, 1), make(chan []byte, partsWait+2)
	go func() {
		defer close(parts)
		read <- readParts(ctx, rows, parts, spare)
	}()
	var failed error
	for p := range parts {
		<-p.decoded
		if failed == nil {
			if failed = p.each(fn); failed != nil {
				stop()
			}
		}
		select {
		case spare <- p.data[:0]:
		default:
		}
	}
	if err := <-read; failed == nil {
		return err
	}
	return failed
}

// readParts reads rows into parts, in spare room where there is some, and sees to
// it that each is decoded.
func readParts(ctx context.Context, rows func(context.Context, func([]byte) error) error, parts chan<- *part, spare <-chan []byte) error {
	p := newPart(spare)
	hand := func() error {
		select {
		case parts <- p:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		go p.decode()
		p = newPart(spare)
		return nil
	}
	err := rows(ctx, func(data []byte) error {
		p.data = append(p.data, data...)
		p.ends = append(p.ends, len(p.data))
		if len(p.data) < partBytes {
			return nil
		}
		return hand()
	})
	if err == nil && len(p.ends) > 0 {
		err = hand()
	}
	return err
}

func newPart(spare <-chan []byte) *part {
	p := &part{decoded: make(chan struct{})}
	select {
	case p.data = <-spare:
	default:
	}
	return p
}

func (p *part) decode() {
	defer close(p.decoded)
	p.records = make([]replay.Record, 0, len(p.ends))
	from := 0
	for _, end := range p.ends {
		rec, err := decode(p.data[from:end])
		if err != nil {
			p.err = err
			return
		}
		p.records, from = append(p.records, rec), end
	}
}

func (p *part) each(fn func(replay.Record) error) error {
	for _, rec := range p.records {
		if err := fn(rec); err != nil {
			return err
		}
	}
	return p.err
}
