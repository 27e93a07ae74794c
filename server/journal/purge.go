package journal

import (
	"context"
	"database/sql"
	"time"
)

// purgeBatch is how many replays are deleted in one transaction, so that appends
// do not wait long.
const purgeBatch = 50

// Purge deletes the ended replays that ended before endedBefore, and of the
// others the oldest, so that no more than keepEnded ended ones are left; a
// negative keepEnded sets no limit. Live replays stay. It returns the ids of the
// deleted replays, also beside an error.
func (j *Journal) Purge(ctx context.Context, endedBefore time.Time, keepEnded int) (replayIDs []string, err error) {
	for {
		ids, err := j.purgeable(ctx, endedBefore, keepEnded)
		if err == nil && len(ids) > 0 {
			err = j.delete(ctx, ids)
		}
		if err != nil {
			return replayIDs, doing("purge", err)
		}
		replayIDs = append(replayIDs, ids...)
		if len(ids) < purgeBatch {
			return replayIDs, nil
		}
	}
}

// purgeable returns the next replays to delete, the oldest first.
func (j *Journal) purgeable(ctx context.Context, endedBefore time.Time, keepEnded int) (ids []string, err error) {
	err = j.read(ctx, func(tx *sql.Tx) error {
		surplus := 0
		if keepEnded >= 0 {
			if err := tx.QueryRowContext(ctx, `SELECT max(0, count(*) - ?) FROM heads WHERE ended_at IS NOT NULL`, keepEnded).Scan(&surplus); err != nil {
				return err
			}
		}
		ids, err = texts(ctx, tx, `SELECT replay_id FROM (
			SELECT replay_id, ended_at, row_number() OVER (ORDER BY ended_at, ord) AS n FROM heads WHERE ended_at IS NOT NULL ORDER BY ended_at, ord LIMIT ?
		) WHERE n <= ? OR ended_at < ? ORDER BY n`, purgeBatch, surplus, nanos(endedBefore))
		return err
	})
	return ids, err
}

func (j *Journal) delete(ctx context.Context, ids []string) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
	}
	return j.write(func(w *writer) error { return w.delete(ids) })
}
