package sim

import (
	"fmt"
	"time"
)

// happen lets a fault happen.
func (w *world) happen(f Fault) {
	if w.now > horizon {
		return
	}
	m := w.machines[f.Machine]
	w.faults[f.What]++
	w.tell("FAULT %s", f)
	switch f.What {
	case Pause, Cancel, Resume, ResumeTwice, Skip, ResumeFrom:
		w.after(0, func() { w.person.say(m, f.What) })
	case StopKey, OwnInput, WantsOn:
		w.in(&m.agent.process, 0, func() { m.agent.personActs(f.What) })
	case KillServer, StopServer, FullServer, SlowDisk:
		w.toServer(f)
	case Cut, StallDown, StallUp, StallBoth, SlowLink, Linger, Twice, Lossy:
		w.toLink(f, m)
	case Lock:
		m.desktop.locked = true
		w.after(f.For, func() { m.desktop.locked = false })
	case Twin:
		w.after(0, func() { w.twin(f, m) })
	case CrashLoop:
		m.deadlyUntil = max(m.deadlyUntil, w.now+f.For)
	case Freeze, KillAgent, PowerLoss, StopAgent, LoseSpool, FullAgent:
		w.toAgent(f, m)
	default:
		m.desktop.fate = f.What
	}
}

func (w *world) toServer(f Fault) {
	s := w.server
	switch f.What {
	case KillServer:
		s.crash(min(f.For, 20*time.Second))
	case StopServer:
		w.after(0, func() { s.stop(min(f.For, 20*time.Second)) })
	case FullServer:
		s.disk.fullUntil = max(s.disk.fullUntil, w.now+f.For)
	default:
		s.disk.slowUntil = max(s.disk.slowUntil, w.now+f.For)
	}
}

func (w *world) toLink(f Fault, m *machine) {
	l, until := m.wire, w.now+f.For
	switch f.What {
	case Cut:
		for _, c := range l.live() {
			c.breakUp()
		}
	case StallDown:
		l.downUntil = max(l.downUntil, until)
	case StallUp:
		l.upUntil = max(l.upUntil, until)
	case StallBoth:
		l.downUntil, l.upUntil = max(l.downUntil, until), max(l.upUntil, until)
	case Linger:
		for _, c := range l.live() {
			c.freeUp = max(c.freeUp, until)
		}
	case SlowLink:
		l.slowUntil = max(l.slowUntil, until)
	case Lossy:
		l.lossyUntil = max(l.lossyUntil, until)
	default:
		l.twiceDown, l.twiceUp = 2, 2
	}
}

func (w *world) toAgent(f Fault, m *machine) {
	a := m.agent
	switch f.What {
	case Freeze:
		if !a.alive || a.frozen {
			return
		}
		a.frozen = true
		w.after(f.For, func() {
			if a.frozen {
				w.tell("the %s thaws", a.name)
				w.thaw(&a.process)
			}
		})
	case FullAgent:
		a.disk.fullUntil = max(a.disk.fullUntil, w.now+f.For)
	case StopAgent:
		w.after(0, func() { a.stop(f.For) })
	case LoseSpool:
		if !a.alive {
			return
		}
		w.after(0, func() {
			a.disk = newSpoolDisk(w, fmt.Sprintf("%s'", a.disk.id))
		})
		a.crash(min(f.For, 10*time.Second), false)
	default:
		a.crash(f.For, f.What == PowerLoss)
	}
}

// twin starts another agent for a machine that has one already; it is gone after a
// while.
func (w *world) twin(f Fault, m *machine) {
	if m.twin != nil {
		return
	}
	w.twins++
	t := newAgent(w, m, fmt.Sprintf("twin%d", w.twins), "twin on "+m.name())
	m.twin = t
	t.boot()
	w.after(f.For, func() {
		t.crash(0, false)
		m.twin = nil
	})
}
