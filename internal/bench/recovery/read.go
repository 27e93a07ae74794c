package recovery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	_ "github.com/ncruces/go-sqlite3/driver" // registers "sqlite3", the journal's own driver

	"github.com/reprise-rpa/reprise/server/dispatch"
)

// rows are what the database's own client has read.
type rows struct {
	count int
	bytes int64
}

// readRaw reads the records in order with the database's own client: each is
// copied out of it, none is decoded.
func readRaw(ctx context.Context, dir string) (r rows, err error) {
	file := url.URL{Scheme: "file", Path: filepath.Join(dir, "journal.db"), RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite3", file.String())
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := db.QueryContext(ctx, `SELECT data FROM records ORDER BY replay, seq`)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	for list.Next() {
		var data []byte
		if err := list.Scan(&data); err != nil {
			return r, err
		}
		r.count++
		r.bytes += int64(len(data))
	}
	return r, list.Err()
}

// found is what a recovered fleet knows.
type found struct{ replays, queued int }

// errLooked ends the fleet that was looked at.
var errLooked = errors.New("the fleet was looked at")

// look runs a recovered fleet for as long as it takes to ask each machine for its
// replay.
func look(ctx context.Context, fleet *dispatch.Fleet) (found, error) {
	ctx, stop := context.WithCancelCause(ctx)
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return fleet.Run(running) })
	var f found
	g.Go(func() error {
		for _, machine := range fleet.Machines() {
			if err := f.add(running, fleet.Loop(machine)); err != nil {
				return fmt.Errorf("ask machine %s: %w", machine, err)
			}
		}
		stop(errLooked)
		return nil
	})
	if err := g.Wait(); !errors.Is(err, errLooked) {
		return f, err
	}
	return f, nil
}

func (f *found) add(ctx context.Context, loop *dispatch.Loop) error {
	seen := make(chan dispatch.Status, 1)
	if err := loop.Do(ctx, func(m *dispatch.Machine) { seen <- m.Status() }); err != nil {
		return err
	}
	id := (<-seen).CurrentReplay
	s, is, err := loop.Situation(ctx, id)
	if err == nil && is {
		f.replays++
		f.queued += s.View.Head.Actions - s.View.Head.Settled
	}
	return err
}

// nobody is told what happens.
type nobody struct{}

func (nobody) Note(string, dispatch.Note)    {}
func (nobody) Changed(string, dispatch.View) {}
func (nobody) Appended(time.Duration, error) {}
func (nobody) InFlight(string, int)          {}

func fleetConfig(store dispatch.Store) dispatch.FleetConfig {
	return dispatch.FleetConfig{
		Machine: machineConfig(), Store: store, Observer: nobody{}, Swept: func(dispatch.Swept, int, time.Duration) {},
	}
}
