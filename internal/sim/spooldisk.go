package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
)

var errSpoolFull = errors.New("no space left for the spool")

// spoolDisk is the agent's disk, as package spool writes it: a record is durable once
// its write has ended, but for acknowledgements and closings, which the next durable
// one takes along.
type spoolDisk struct {
	w         *world
	id        string
	memory    *spool.Memory  // what is durable
	unsynced  []spool.Record // written, and lost if the machine dies now
	writing   []spool.Record
	fresh     bool // no process has used it
	clean     bool // the last process ended in order
	broken    bool // a write failed; none succeeds until a rewrite
	fullUntil time.Duration
}

func newSpoolDisk(w *world, id string) *spoolDisk {
	return &spoolDisk{w: w, id: id, memory: spool.NewMemory(), clean: true, fresh: true}
}

// takes is how long a write takes.
func (d *spoolDisk) takes() time.Duration {
	if d.w.chance(30) {
		return d.w.between(5*time.Millisecond, 300*time.Millisecond)
	}
	return d.w.between(100*time.Microsecond, 3*time.Millisecond)
}

func (d *spoolDisk) begin(r spool.Record) { d.writing = append(d.writing, r) }

func (d *spoolDisk) end(r spool.Record) error {
	for i := range d.writing {
		if d.writing[i].ActionID == r.ActionID && d.writing[i].Type == r.Type {
			d.writing = slices.Delete(d.writing, i, i+1)
			break
		}
	}
	if d.broken || d.w.now < d.fullUntil {
		d.broken = true
		return errSpoolFull
	}
	d.write(r)
	return nil
}

func (d *spoolDisk) write(r spool.Record) {
	if r.Type == spool.TypeAcknowledged || r.Type == spool.TypeClosed {
		d.unsynced = append(d.unsynced, r)
		return
	}
	d.sync()
	d.memory.Apply(r)
}

func (d *spoolDisk) sync() {
	for _, r := range d.unsynced {
		d.memory.Apply(r)
	}
	d.unsynced = nil
}

// rewrite puts what the process knows in the place of all that was written.
func (d *spoolDisk) rewrite(m *spool.Memory) error {
	if d.w.now < d.fullUntil {
		return errSpoolFull
	}
	d.memory, d.unsynced, d.broken = m, nil, false
	return nil
}

// crash settles by chance what was not durable: of what was written any first part
// is there, and what was being written is there or not.
func (d *spoolDisk) crash() {
	keep := d.w.rng.IntN(len(d.unsynced) + 1)
	d.unsynced = d.unsynced[:keep]
	d.sync()
	for _, r := range d.writing {
		if !d.broken && d.w.now >= d.fullUntil && d.w.chance(2) {
			d.memory.Apply(r)
		}
	}
	d.writing = nil
	d.broken = d.w.now < d.fullUntil
}
