package journal

import (
	"context"
	"database/sql"
)

// EndedIDs returns the ids of the ended replays that are still kept, by machine.
func (j *Journal) EndedIDs(ctx context.Context) (map[string][]string, error) {
	ids := map[string][]string{}
	err := j.read(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var machine, id string
			if err := rows.Scan(&machine, &id); err != nil {
				return err
			}
			ids[machine] = append(ids[machine], id)
			return nil
		}, `SELECT machine_id, replay_id FROM heads WHERE ended_at IS NOT NULL ORDER BY ord`)
	})
	if err != nil {
		return nil, doing("list the ended replays", err)
	}
	return ids, nil
}
