package journal

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// How many heads are in a page.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// filter is a replay.Filter with what makes a query of it. A page size of 0 means
// DefaultPageSize, one over MaxPageSize means that.
type filter replay.Filter

// Heads returns a page of heads, the newest replay first, and the token of the
// page after it, which is empty at the end. A token stays true while others
// write: going on from it, no replay comes twice, and none that was there all
// the time and fits the filter is missed. A token that does not belong to the
// filter is replay.ErrPageToken.
func (j *Journal) Heads(ctx context.Context, f replay.Filter) ([]replay.Head, string, error) {
	heads, next, err := j.page(ctx, filter(f))
	if err != nil {
		return nil, "", doing("list replays", err)
	}
	return heads, next, nil
}

func (j *Journal) page(ctx context.Context, f filter) (heads []replay.Head, next string, err error) {
	size := f.PageSize
	if size <= 0 {
		size = DefaultPageSize
	}
	size = min(size, MaxPageSize)
	query, args, err := f.query()
	if err != nil {
		return nil, "", err
	}
	var last int64
	err = j.read(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			if len(heads) == size { // there is one more
				next = f.token(last)
				return nil
			}
			ord, h, err := scanHead(rows)
			heads, last = append(heads, h), ord
			return err
		}, query+` ORDER BY ord DESC LIMIT ?`, append(args, size+1)...)
	})
	return heads, next, err
}

func (f filter) query() (string, []any, error) {
	where, args := []string{"1"}, []any{}
	if f.PageToken != "" {
		before, err := f.position()
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "ord < ?"), append(args, before)
	}
	if f.MachineID != "" {
		where, args = append(where, "machine_id = ?"), append(args, f.MachineID)
	}
	if len(f.States) > 0 {
		where = append(where, "state IN (?"+strings.Repeat(", ?", len(f.States)-1)+")")
		for _, s := range f.States {
			args = append(args, int(s))
		}
	}
	for key, value := range f.Labels {
		where, args = append(where, "EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ? AND value = ?)"), append(args, key, value)
	}
	if !f.CreatedFrom.IsZero() {
		where, args = append(where, "created_at >= ?"), append(args, limit(f.CreatedFrom))
	}
	if !f.CreatedBefore.IsZero() {
		where, args = append(where, "created_at < ?"), append(args, limit(f.CreatedBefore))
	}
	return `SELECT ` + headColumns + ` FROM heads WHERE ` + strings.Join(where, " AND "), args, nil
}

// limit is a time to compare a column with: one that nanoseconds cannot tell is
// the nearest that they can.
func limit(t time.Time) int64 {
	switch n := t.UnixNano(); {
	case time.Unix(0, n).Equal(t):
		return n
	case t.Unix() < 0:
		return never + 1 // what was created at no time is older
	}
	return math.MaxInt64
}

// A token is the position of a page's last head and the sum of the filter.
const tokenSize = 8 + 4

func (f filter) token(ord int64) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, tokenSize), uint64(ord))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, f.sum()))
}

func (f filter) position() (int64, error) {
	b, err := base64.RawURLEncoding.DecodeString(f.PageToken)
	if err != nil || len(b) != tokenSize || binary.BigEndian.Uint32(b[8:]) != f.sum() {
		return 0, replay.ErrPageToken
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

func (f filter) sum() uint32 {
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%q %d %q %d %d", f.MachineID, states, f.Labels, nanos(f.CreatedFrom), nanos(f.CreatedBefore)))
}
