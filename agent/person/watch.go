package person

import (
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

const (
	// watchEvery is how often the guard looks whether its hooks still see.
	watchEvery = 5 * time.Second
	// hookTime is after how long the hooks are set anew, whether or not they see.
	hookTime = time.Minute
)

// watch sets the hooks.
func (g *Guard) watch(now time.Time) {
	g.hooked = now
	if err := g.machine.Hook(g.senses.see); err != nil {
		g.once.note("keyboard and mouse can't be watched: no stop key, and the person's own input is not noticed", err)
	}
}

// look sets the hooks anew when it is time, or when input came by that they did not
// see: Windows takes a hook away, without a word, when it was slow a few times
// (LowLevelHooksTimeout).
func (g *Guard) look(now time.Time) {
	if g.hooked.IsZero() {
		return
	}
	last, err := g.machine.LastInput()
	behind := err == nil && g.senses.behind(last)
	if !behind && now.Sub(g.hooked) < hookTime {
		return
	}
	g.watch(now)
	g.senses.forget(g.machine.Pressed)
}

// run keeps the hooks set, the icon right and the log informed, until the guard closes.
func (g *Guard) run() {
	defer close(g.ended)
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	fade := time.NewTimer(0)
	defer fade.Stop()
	said := false
	for {
		select {
		case <-g.closing:
			return
		case now := <-ticker.C:
			g.look(now)
			g.stage.refit()
			continue
		case <-fade.C:
		case <-g.acts.stirred:
		case <-g.icon.changed:
		}
		act, isStopped := g.brake.stopped()
		if isStopped != said {
			said = isStopped
			g.sayStop(isStopped, act.By)
		}
		is, more := g.icon.state(isStopped, g.stage.shown.Load(), time.Now())
		if more > 0 {
			fade.Reset(more)
		}
		g.icon.show(is)
	}
}

func (g *Guard) sayStop(isStopped bool, by string) {
	if !isStopped {
		g.log.Info("the stop of the person at the machine is taken back")
		return
	}
	g.log.Warn("the person at the machine has stopped the agent; no input is sent", logkeys.Detail, by)
}
