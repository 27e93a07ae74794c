// Package commits measures what it takes to make one action durable, with nothing
// else about: an append to the server's journal, and as many bytes written to the
// end of a plain file and synced, which is the least that there can be.
package commits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/server/journal"
	"github.com/reprise-rpa/reprise/server/replay"
)

// bytesEach is about what the record of a report and the dispatch after it takes.
const bytesEach = 600

// Bench is a journal and a file in a folder. It is used by one goroutine.
type Bench struct {
	journal *journal.Journal
	file    *os.File
	entry   replay.Entry // the last one appended
}

// Open makes both in dir, which must not be in use.
func Open(ctx context.Context, dir string) (*Bench, error) {
	j, err := journal.Open(ctx, journal.Options{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("commits: %w", err)
	}
	b := &Bench{journal: j}
	if b.file, err = os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
		err = b.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("commits: %w", err), b.Close())
	}
	return b, nil
}

func (b *Bench) begin(ctx context.Context) error {
	replayID, now := id.New("r"), time.Now().UTC()
	b.entry = replay.Entry{
		Record: replay.Record{ReplayID: replayID, Seq: 1, At: now, Events: []replay.Event{replay.Created{MachineID: "desk-1", Workflow: "bench"}}},
		Head:   replay.Head{ReplayID: replayID, MachineID: "desk-1", Workflow: "bench", State: replay.Running, Revision: 1, CreatedAt: now, UpdatedAt: now},
	}
	return b.journal.Append(ctx, []replay.Entry{b.entry})
}

// Close closes both.
func (b *Bench) Close() error {
	var err error
	if b.file != nil {
		err = b.file.Close()
	}
	return errors.Join(err, b.journal.Close())
}

// Appends makes n records durable in the journal, one after the other, and returns
// how long each took.
func (b *Bench) Appends(ctx context.Context, n int) ([]time.Duration, error) {
	return timed(n, func() error {
		e := &b.entry
		e.Record.Seq++
		e.Head.Revision++
		e.Head.Settled++
		e.Record.At = time.Now().UTC()
		e.Head.UpdatedAt = e.Record.At
		e.Record.Events = []replay.Event{
			replay.Reported{ActionID: e.Record.ReplayID + "-1", AttemptID: "a-1", Outcome: replay.OutcomeAcked, Report: replay.Report{Success: true, Payload: make([]byte, 300)}},
			replay.Dispatched{ActionID: e.Record.ReplayID + "-2", AttemptID: "a-2", SessionID: "s-1", SpoolID: "spool-1", BootID: "boot-1"},
		}
		return b.journal.Append(ctx, []replay.Entry{*e})
	})
}

// Syncs writes n times to the file, each time syncs it, and returns how long each
// took.
func (b *Bench) Syncs(n int) ([]time.Duration, error) {
	data := make([]byte, bytesEach)
	return timed(n, func() error {
		if _, err := b.file.Write(data); err != nil {
			return err
		}
		return b.file.Sync()
	})
}

func timed(n int, f func() error) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		at := time.Now()
		if err := f(); err != nil {
			return nil, fmt.Errorf("commits: %w", err)
		}
		took[i] = time.Since(at)
	}
	return took, nil
}
