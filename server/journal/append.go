package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/replay"
)

// groupBytes is how much one commit carries at most, unless a single append is
// larger: a long queue of large appends is not one transaction.
const groupBytes = 8 << 20

// appending is one call of Append that has not been answered.
type appending struct {
	rows []row
	size int
	done chan error // one answer

	refusal error // why it is refused, while its group goes on
}

// Append makes the entries durable, all or none, before it returns. Each must
// follow the last record of its replay, the first having seq 1.
//
// It fails with replay.ErrStale when a position is taken or leaves a gap (an
// entry of a replay that is not there any more does), with
// replay.ErrRequestIDTaken when another replay has the request id, and with
// replay.ErrNoSpace when the disk is full. When ctx ends before the entries were
// taken up, nothing of them is written; once they are, Append waits for the
// commit, which does not take long.
//
// After any other error the entries are not in the journal either, with one
// exception: when the disk could not say whether it kept them, they may be there
// after a restart, if nothing else was appended before it.
func (j *Journal) Append(ctx context.Context, entries []replay.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("journal: append: %w", context.Cause(ctx))
	}
	a := &appending{done: make(chan error, 1), rows: make([]row, len(entries))}
	for i, e := range entries {
		var err error
		if a.rows[i], err = newRow(e); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		a.size += len(a.rows[i].data)
	}
	if err := j.await(ctx, a); err != nil {
		return doing("append", err)
	}
	return nil
}

// await queues a and returns its answer. Whoever gets the turn first writes for
// all that are queued by then.
func (j *Journal) await(ctx context.Context, a *appending) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	j.waiting = append(j.waiting, a)
	if len(j.waiting) >= j.wanted {
		j.goOn()
	}
	j.mu.Unlock()
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		if j.withdraw(a) {
			return context.Cause(ctx)
		}
		return <-a.done
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
		for {
			select {
			case err := <-a.done:
				return err
			default:
				j.gather()
				j.commit(j.take())
			}
		}
	}
}

// gatherFor is how long a commit waits at most for as many appends as the one before
// it had. A commit costs as much for one append as for many, and those who were
// answered together come back together.
const gatherFor = time.Millisecond

// gather waits for the appends that share the next commit. Who was alone the last
// time waits for nobody. The caller has the turn.
func (j *Journal) gather() {
	if j.grouped < 2 {
		return
	}
	j.mu.Lock()
	if j.closed || len(j.waiting) >= j.grouped {
		j.mu.Unlock()
		return
	}
	enough := make(chan struct{})
	j.enough, j.wanted = enough, j.grouped
	j.mu.Unlock()
	late := time.NewTimer(gatherFor)
	defer late.Stop()
	select {
	case <-enough:
	case <-late.C:
		j.mu.Lock()
		j.goOn()
		j.mu.Unlock()
	}
}

// goOn ends the waiting of gather. The caller holds mu.
func (j *Journal) goOn() {
	if j.enough != nil {
		close(j.enough)
		j.enough = nil
	}
}

// take takes the next group out of the queue, in the order of the calls.
func (j *Journal) take() []*appending {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, size := 0, 0
	for n < len(j.waiting) && (n == 0 || size+j.waiting[n].size <= groupBytes) {
		size += j.waiting[n].size
		n++
	}
	group := j.waiting[:n:n]
	j.waiting = j.waiting[n:]
	if len(j.waiting) == 0 {
		j.waiting = nil
	}
	return group
}

// withdraw takes a out of the queue, and says whether it was still there.
func (j *Journal) withdraw(a *appending) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, w := range j.waiting {
		if w == a {
			j.waiting = append(j.waiting[:i:i], j.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// commit writes a group in one transaction and answers its callers. The caller
// has the turn.
func (j *Journal) commit(group []*appending) {
	if len(group) == 0 {
		return
	}
	j.grouped = len(group)
	err := j.write(func(w *writer) error {
		for _, a := range group {
			var err error
			if a.refusal, err = w.append(a.rows); err != nil {
				return err
			}
		}
		return nil
	})
	for _, a := range group {
		if err != nil {
			a.done <- err
		} else {
			a.done <- a.refusal
		}
	}
}

// write runs f in a transaction and makes it durable. After a failure nothing
// of it is left, and the connection, whose memory is not to be trusted, is
// replaced. The caller has the turn.
func (j *Journal) write(f func(*writer) error) (err error) {
	if j.isClosed() {
		return ErrClosed
	}
	defer func() { j.noteHealth(err) }()
	if j.writer == nil {
		if j.writer, err = openWriter(j.db); err != nil {
			return j.db.classify(err)
		}
	}
	if err := j.writer.transact(f); err != nil {
		// What it could not roll back is undone by closing it.
		_ = j.writer.close()
		j.writer = nil
		j.recent.forget()
		return j.db.classify(err)
	}
	j.recent.learn(j.writer.added, j.writer.last, j.writer.purged)
	j.mu.Lock()
	j.tell()
	j.mu.Unlock()
	return nil
}

// noteHealth tells the log when commits begin to fail, and when they work again.
func (j *Journal) noteHealth(err error) {
	switch {
	case err != nil && !j.failing:
		j.failing = true
		j.log.Error("journal: commits fail", logkeys.Error, detail(err), logkeys.Path, j.db.path)
	case err == nil && j.failing:
		j.failing = false
		j.log.Info("journal: commits work again", logkeys.Path, j.db.path)
	}
}
