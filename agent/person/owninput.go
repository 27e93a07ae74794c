package person

import (
	"image"
	"math"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

const (
	// bump is how far, in pixels, a pointer goes when somebody bumps the desk.
	bump = 24.0
	// bumpTime is how long that takes.
	bumpTime = 500 * time.Millisecond
	// handMoves is of how many moves a hand's way consists at least: a pointer that jumps
	// was put there by a program, or by the system, such as onto a dialog's button.
	handMoves = 3
	// tellEvery is how often one device is told of.
	tellEvery = time.Second
)

// By what a person acts, for people.
const (
	byStopKey  = "stop key"
	byKeyboard = "keyboard"
	byMouse    = "mouse"
)

// ownInput decides which input events are a person using the machine.
type ownInput struct {
	at    image.Point // where the pointer is, whoever moved it
	known bool        // at is known
	moves []move      // of the person, within bumpTime
}

type move struct {
	when time.Time
	far  float64
}

// sees takes an input event and says with what the person used the machine; false: it
// does not count.
func (o *ownInput) sees(s winapi.Seen, now time.Time) (by string, counts bool) {
	far := o.follow(s)
	switch {
	case s.Own || s.Up || s.FakeCtrl(): // the right alt after it says whose AltGr it is
		return "", false
	case s.Device == winapi.Keyboard:
		return byKeyboard, true
	case !s.Moved || o.beyond(far, now):
		return byMouse, true
	}
	return "", false
}

// follow returns how far the pointer went with s.
func (o *ownInput) follow(s winapi.Seen) float64 {
	if s.Device != winapi.Mouse || !s.Moved {
		return 0
	}
	way := s.At.Sub(o.at)
	if !o.known {
		way = image.Point{}
	}
	o.at, o.known = s.At, true
	return math.Hypot(float64(way.X), float64(way.Y))
}

// beyond says whether the pointer has gone farther than a bump takes it. A way that
// counted is not counted again.
func (o *ownInput) beyond(far float64, now time.Time) bool {
	if far > 0 {
		o.moves = append(o.moves, move{now, far})
	}
	recent, sum := o.moves[:0], 0.0
	for _, m := range o.moves {
		if now.Sub(m.when) < bumpTime {
			recent, sum = append(recent, m), sum+m.far
		}
	}
	o.moves = recent
	if sum <= bump || len(recent) < handMoves {
		return false
	}
	o.moves = o.moves[:0]
	return true
}
