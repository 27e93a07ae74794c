package journal

import (
	"sync"

	"github.com/reprise-rpa/reprise/server/replay"
)

// recentSize is how many records the journal remembers the places of. A watcher
// falls behind them only while it is slow or away.
const recentSize = 4096

// recent remembers whose the newest records are, so that a watcher who waits for
// others is told so without a look at the database. What it does not know it
// leaves to the database: it is never ahead of it, and what it says is what the
// database would.
type recent struct {
	mu      sync.RWMutex // guards the fields below
	known   bool
	places  []place // of the record at position p: places[p % len(places)]
	from    int64   // it knows all records after this position,
	through int64   // which is the newest, up to this one
	purged  int64   // what purged_through is in the database
}

// place says where a record belongs.
type place struct{ machineID, replayID string }

func (p place) fits(f replay.EventFilter) bool {
	return (f.MachineID == "" || f.MachineID == p.machineID) && (f.ReplayID == "" || f.ReplayID == p.replayID)
}

func newRecent(size int) *recent { return &recent{places: make([]place, size)} }

// learn takes up what was committed: the records added, the last of which has the
// position last if there are any, and purged, which what was deleted has changed.
// The caller has the turn and tells nobody of the commit before.
func (r *recent) learn(added []place, last, purged int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := last - int64(len(added)) // the position before them
	if !r.known || r.through != first {
		r.known, r.from = true, first
	}
	for i, p := range added {
		r.places[(first+1+int64(i))%int64(len(r.places))] = p
	}
	r.through, r.purged = last, purged
	r.from = max(r.from, r.through-int64(len(r.places)))
}

// forget is for when it is not known what the database holds.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = false
}

// nothingAfter says that no record after a position fits f, and up to which
// position that is true. ok is false when there may be one, or when the database
// has to be asked: about a position that is too old or was not given yet, or, unless
// keptOnly, one behind which something was purged.
func (r *recent) nothingAfter(after int64, f replay.EventFilter, keptOnly bool) (through int64, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.known || after < r.from || after > r.through || after < r.purged && !keptOnly {
		return 0, false
	}
	for p := after + 1; p <= r.through; p++ {
		if r.places[p%int64(len(r.places))].fits(f) {
			return 0, false
		}
	}
	return r.through, true
}
