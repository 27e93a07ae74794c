package person

import (
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// state is what the icon says of the agent.
type state int

const (
	idle state = iota + 1
	working
	paused
	stopped
	unconnected
)

// Lines of the icon's menu.
const (
	menuState = iota + 1
	menuStop
	menuGoOn
)

// afterglow is how long the icon says "working" after a gesture: between two of them
// the agent works as well.
const afterglow = 3 * time.Second

// icon decides how the icon in the notification area looks.
type icon struct {
	machine machine
	words   *words
	chosen  func(id int)
	once    *faults
	changed chan struct{} // holds something when it may have to look otherwise

	mu        sync.Mutex
	connected bool
	worked    time.Time // when the last gesture began

	shown state // of the guard's loop
}

func newIcon(m machine, w *words, chosen func(int), once *faults) *icon {
	return &icon{machine: m, words: w, chosen: chosen, once: once, connected: true, changed: make(chan struct{}, 1)}
}

func (i *icon) works(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.worked = now
	poke(i.changed)
}

func (i *icon) connect(connected bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.connected = connected
	poke(i.changed)
}

// state is the first that is true: what a person did, what a person is to do, what is
// wrong, what goes on. It may change by itself after more; 0: it does not.
func (i *icon) state(isStopped, isPaused bool, now time.Time) (is state, more time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch glow := afterglow - now.Sub(i.worked); {
	case isStopped:
		return stopped, 0
	case isPaused:
		return paused, 0
	case !i.connected:
		return unconnected, 0
	case glow > 0:
		return working, glow
	}
	return idle, 0
}

// show has the icon say a state. One that could not be shown is tried again with the
// next change.
func (i *icon) show(s state) {
	if i.shown == s {
		return
	}
	i.shown = s
	if err := i.machine.ShowTray(i.words.tray(s), i.chosen); err != nil {
		i.once.note("the icon does not show in the notification area", err)
	}
}

// tray is the icon of a state with its menu.
func (w *words) tray(s state) winapi.Tray {
	menu := []winapi.MenuItem{{ID: menuState, Text: w.states[s], Off: true}}
	if s != stopped {
		menu = append(menu, winapi.MenuItem{ID: menuStop, Text: w.stop})
	}
	if s == stopped || s == paused {
		menu = append(menu, winapi.MenuItem{ID: menuGoOn, Text: w.goOn})
	}
	return winapi.Tray{Tip: w.states[s], Icon: drawIcon(s), Menu: menu}
}
