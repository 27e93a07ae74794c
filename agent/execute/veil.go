package execute

import (
	"slices"
	"sync"

	"github.com/reprise-rpa/reprise/agent/work"
)

// veil is what is masked on the screen beyond what is asked for. A window outlives
// its replay and whoever asks for a picture may not know of it, so the masks of a
// replay hold until an action of another one has been carried out: that action's own
// pictures are still covered, what comes after them is no more. A replay that has
// sent no input has put nothing on the screen and uncovers nothing.
type veil struct {
	mu       sync.Mutex
	received []work.Mask // of the newest dispatch
	last     work.Begun  // the action that began last
	before   []work.Mask // of the replay before it, while last is the first action of its own
}

// receive takes in the masks of a dispatch, before anything of it is done.
func (v *veil) receive(masks []work.Mask) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.received = masks
}

// begin says that input of an action may leave from now on.
func (v *veil) begin(b work.Begun) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case b.ReplayID != v.last.ReplayID:
		v.before = v.last.Masks
	case b.ActionID != v.last.ActionID:
		v.before = nil
	}
	v.last = b
}

// left returns what other replays may have left on the screen of an action.
func (v *veil) left(action work.Ref) []work.Mask {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case action.ReplayID != v.last.ReplayID:
		return union(v.last.Masks, v.before)
	case action.ActionID == v.last.ActionID:
		return v.before
	}
	return nil
}

// all returns what may be on the screen. It is asked after the picture was taken:
// what an action shows comes after its dispatch.
func (v *veil) all() []work.Mask {
	v.mu.Lock()
	defer v.mu.Unlock()
	return union(v.received, v.last.Masks, v.before)
}

// union returns all the masks, each once.
func union(sets ...[]work.Mask) []work.Mask {
	var all []work.Mask
	for _, m := range slices.Concat(sets...) {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}
