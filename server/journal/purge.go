package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// purgeBatch is how many replays are deleted in one transaction, so that appends
// do not wait long.
const purgeBatch = 50

// Purge deletes the ended replays that ended before endedBefore, and of the
// others the oldest, so that no more than keepEnded ended ones are left; a
// negative keepEnded sets no limit. Live replays stay, and so do those that
// damage keeps from being deleted. It returns the ids of the deleted replays,
// also beside an error.
func (j *Journal) Purge(ctx context.Context, endedBefore time.Time, keepEnded int) (replayIDs []string, err error) {
	for {
		ids, err := j.purgeable(ctx, endedBefore, keepEnded)
		deleted := ids
		if err == nil && len(ids) > 0 {
			deleted, err = j.deleteAll(ctx, ids)
		}
		if err != nil {
			return append(replayIDs, deleted...), doing("purge", err)
		}
		replayIDs = append(replayIDs, deleted...)
		if len(ids) < purgeBatch {
			return replayIDs, nil
		}
	}
}

// purgeable returns the next replays to delete, the oldest first.
func (j *Journal) purgeable(ctx context.Context, endedBefore time.Time, keepEnded int) (ids []string, err error) {
	j.mu.Lock()
	stuck, err := json.Marshal(append([]string{}, j.stuck...))
	j.mu.Unlock()
	if err != nil {
		return nil, err
	}
	const deletable = `heads WHERE ended_at IS NOT NULL AND replay_id NOT IN (SELECT value FROM json_each(?))`
	err = j.read(ctx, func(tx *sql.Tx) error {
		surplus := 0
		if keepEnded >= 0 {
			if err := tx.QueryRowContext(ctx, `SELECT max(0, count(*) - ?) FROM `+deletable, keepEnded, string(stuck)).Scan(&surplus); err != nil {
				return err
			}
		}
		ids, err = texts(ctx, tx, `SELECT replay_id FROM (
			SELECT replay_id, ended_at, row_number() OVER (ORDER BY ended_at, ord) AS n FROM `+deletable+` ORDER BY ended_at, ord LIMIT ?
		) WHERE n <= ? OR ended_at < ? ORDER BY n`, string(stuck), purgeBatch, surplus, nanos(endedBefore))
		return err
	})
	return ids, err
}

// deleteAll deletes replays together. Where damage prevents that it deletes each
// one by itself, and puts aside those that cannot be: retention goes on for the
// others.
func (j *Journal) deleteAll(ctx context.Context, ids []string) (deleted []string, err error) {
	if err = j.delete(ctx, ids); err == nil {
		return ids, nil
	}
	if !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	for _, id := range ids {
		err := j.delete(ctx, []string{id})
		switch {
		case errors.Is(err, ErrDamaged):
			j.log.Error("journal: a replay cannot be deleted", logkeys.Replay, id, logkeys.Error, detail(err))
			j.mu.Lock()
			j.stuck = append(j.stuck, id)
			j.mu.Unlock()
		case err != nil:
			return deleted, err
		default:
			deleted = append(deleted, id)
		}
	}
	return deleted, nil
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
