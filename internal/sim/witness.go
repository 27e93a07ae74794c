package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// witness sees everything, and says when a rule of the contract is broken. What it
// knows it has from what became durable, what left and what the desktops counted,
// never from the cores' own opinion.
type witness struct {
	w        *world
	seq      int               // of durable records, over all replays
	born     map[string]int    // action id -> when the decision for it was durable
	sent     map[string]int    // action id -> when its first dispatch was durable
	boots    map[string]string // action id -> the agent's process at its last dispatch
	attempts map[string]bool
	takenOf  map[string]int             // action id -> reports of it that were taken
	answers  map[string]bool            // action id -> the server has answered a report of it
	foreign  map[string]bool            // action ids that an agent has reported to which they were not delivered last
	unusable map[string]bool            // attempts that found the desktop unusable, as the server was told
	holders  map[int]*holder            // machine -> the session that holds it
	opening  map[string]*holder         // session id -> that has claimed and is not welcomed
	opens    map[int]*holder            // machine -> the session whose hello it takes in
	welcomed map[string]bool            // session ids
	giveUps  map[int][]time.Time        // machine -> with no report between
	cancels  map[int]string             // machine -> the action that the agent must be told to stop
	agents   map[*agent]*agentWitness   // what is seen of each agent
	stopped  map[*agent]bool            // the person has pressed the stop key, and nobody has taken it back
	inputs   map[string]int             // action id -> executions whose input began
	owed     map[string]map[string]bool // spool id -> action ids whose results are owed
	executed int                        // of the machine's executions, over all

	paused  map[string]bool       // replay ids, by what their records say
	attempt map[string]string     // action id -> its last durable attempt
	heardOf map[string]time.Time  // action id -> when its agent last said how far it is, by the server's clock
	deaf    map[int]string        // machine -> the action whose receipt was missed last
	hangUp  map[int]string        // machine -> the session that must be closed
	away    map[int]time.Duration // machine -> since when its agent is away
	got     map[string]string     // action id -> the attempt that its agent said to have received
	stale   map[int]bool          // machine -> what it takes in now is progress from a session that does not hold it
	moved   map[int]time.Duration // machine -> when the deadline of what is in flight moved last

	hungUp  map[string]time.Duration // session id -> when the server ended it, or died with it
	unheard map[string]bool          // replay and action, as in a cancel that got lost on its way
}

// holder is a session as the server was told of it.
type holder struct {
	id, spool, boot string
	clean, usable   bool
	executing       *dispatch.Ref // what its hello said
	since           time.Time     // by the server's clock
}

func newWitness(w *world) *witness {
	return &witness{
		w: w, born: map[string]int{}, sent: map[string]int{}, boots: map[string]string{}, attempts: map[string]bool{}, takenOf: map[string]int{},
		answers: map[string]bool{}, foreign: map[string]bool{}, unusable: map[string]bool{}, agents: map[*agent]*agentWitness{}, stopped: map[*agent]bool{}, inputs: map[string]int{},
		owed: map[string]map[string]bool{}, giveUps: map[int][]time.Time{}, cancels: map[int]string{},
		heardOf: map[string]time.Time{}, paused: map[string]bool{}, attempt: map[string]string{}, deaf: map[int]string{}, hangUp: map[int]string{}, away: map[int]time.Duration{},
		got: map[string]string{}, stale: map[int]bool{}, moved: map[int]time.Duration{},
		opens: map[int]*holder{}, holders: map[int]*holder{}, opening: map[string]*holder{}, welcomed: map[string]bool{},
		hungUp: map[string]time.Duration{}, unheard: map[string]bool{},
	}
}

func (v *witness) serverStarted() {
	v.holders, v.opening = map[int]*holder{}, map[string]*holder{}
	v.giveUps, v.cancels = map[int][]time.Time{}, map[int]string{}
	v.deaf, v.hangUp, v.away = map[int]string{}, map[int]string{}, map[int]time.Duration{}
}

func (v *witness) serverDied() {
	for _, o := range v.w.server.owners {
		for id := range o.sessions {
			v.sessionEnded(id)
		}
	}
	v.serverStarted()
}

// sessionEnded notes when the server stopped vouching for anything on a session.
func (v *witness) sessionEnded(id string) {
	if _, known := v.hungUp[id]; !known {
		v.hungUp[id] = v.w.now
	}
}

// granted notes a session that has claimed its machine.
func (v *witness) granted(s *session, open dispatch.Open) {
	v.aloneOn(s)
	v.opening[s.id] = &holder{
		id: s.id, spool: open.Session.SpoolID, boot: open.Session.BootID, clean: open.Session.Clean, usable: open.Session.Usable,
		executing: open.Executing,
	}
}

// taken notes what a machine takes in.
func (v *witness) taken(o *owner, in dispatch.Input) {
	v.touch(o.machine, in)
	v.stale[o.machine] = v.outdated(o, in)
	switch in := in.(type) {
	case dispatch.Progress:
		if h := v.present(o.machine); h != nil && h.id == in.SessionID {
			v.got[in.ActionID] = v.attempt[in.ActionID]
		}
		if v.deaf[o.machine] == in.ActionID {
			v.deaf[o.machine] = ""
		}
		if h := v.holders[o.machine]; h != nil && h.id == in.SessionID {
			v.heardOf[in.ActionID] = o.s.now()
		}
	case dispatch.Open:
		v.deaf[o.machine] = ""
		if h := v.opening[in.Session.ID]; h != nil {
			h.since = o.s.now()
			v.opens[o.machine] = h
		}
		v.holders[o.machine] = nil
		if len(in.Results) > 0 {
			v.giveUps[o.machine] = nil
		}
		for _, r := range in.Results {
			v.heard(r)
		}
	case dispatch.Closed:
		if h := v.holders[o.machine]; h != nil && h.id == in.SessionID {
			v.holders[o.machine] = nil
		}
	case dispatch.Desktop:
		if h := v.holders[o.machine]; h != nil && h.id == in.SessionID {
			h.usable = in.Usable
		}
	case dispatch.Report:
		v.deaf[o.machine] = ""
		v.giveUps[o.machine] = nil
		v.heard(in.Result)
		if in.Report.Code == replay.CodeDesktopUnavailable {
			v.unusable[in.ActionID+in.AttemptID] = true
			if h := v.holders[o.machine]; h != nil && h.id == in.SessionID {
				h.usable = false
			}
		}
	}
}

// heard notes a report from an agent that is not the one that has the action.
func (v *witness) heard(r dispatch.Result) {
	_, a, err := v.w.server.disk.action(replayOf(r.ActionID), r.ActionID)
	if err == nil && a.SpoolID != r.Report.SpoolID {
		v.foreign[r.ActionID] = true
	}
}

// stepped looks at a machine between two steps.
func (v *witness) stepped(o *owner) {
	if o.core.Failing() {
		return
	}
	m := o.core.Machine()
	if err := m.Check(); err != nil {
		v.w.fail("I1", "%v", err)
	}
	if action := v.cancels[o.machine]; action != "" && v.holders[o.machine] != nil {
		v.w.fail("I4", "%s was cancelled, and its agent is not asked to stop", action)
	}
	delete(v.cancels, o.machine)
	if id := v.hangUp[o.machine]; id != "" {
		v.w.fail("3.1", "two receipts in a row are missing, and session %s goes on", id)
	}
	v.sameAsJournal(o, m.Live())
}

// allEnded says whether all that was planned has been submitted and has ended.
func (v *witness) allEnded() bool { return v.standing() == "" }

// standing names a replay that has not ended; empty: there is none.
func (v *witness) standing() string {
	for i := range v.w.plan.Replays {
		id := fmt.Sprintf("r%d", i+1)
		r := v.w.server.disk.folded[id]
		if r == nil {
			return id + " (never in the journal)"
		}
		if !r.State.Ended() {
			return id + " (" + describe(r) + ")"
		}
	}
	return ""
}

func describe(r *replay.Replay) string {
	var steps []string
	for i := range r.Steps {
		a := r.Current(i)
		steps = append(steps, fmt.Sprintf("%s %v", a.ID, a.State))
	}
	out := fmt.Sprintf("%v: %s", r.State, strings.Join(steps, ", "))
	if r.Pause != nil {
		out += "; paused: " + r.Pause.Reason
	}
	return out
}

// afterStep looks at everything.
func (v *witness) afterStep() {
	for i := range v.w.machines {
		v.calledAway(i)
		v.overdue(i)
		v.hearsSilence(i)
	}
	for _, m := range v.w.machines {
		for _, a := range []*agent{m.agent, m.twin} {
			if a != nil && a.alive {
				v.lively(a)
			}
		}
	}
}

// atEnd is what must hold when all is done and everybody has tidied up.
func (v *witness) atEnd() {
	for _, o := range v.w.server.owners {
		if len(o.core.Machine().Live()) > 0 {
			v.w.fail("I4", "%s holds replays that have ended", machineName(o.machine))
		}
		if v.holders[o.machine] == nil {
			v.w.fail("lost", "the agent of %s is there, and has no stream", machineName(o.machine))
		}
	}
	for _, m := range v.w.machines {
		o := m.agent.core.Opening()
		m.agent.disk.sync()
		switch {
		case m.agent.down:
			v.w.fail("C9", "a key is down on %s", m.name())
		case len(o.Results) > 0:
			v.w.fail("C1", "the %s still owes the result of %s", m.agent.name, o.Results[0].ActionID)
		case len(m.agent.disk.memory.In(spool.Started)) > 0:
			v.w.fail("4", "the %s still wonders what became of %s", m.agent.name, m.agent.disk.memory.In(spool.Started)[0].ActionID)
		case m.agent.core.Impaired() != nil:
			v.w.fail("lost", "the %s takes its disk for broken, and it is not", m.agent.name)
		}
	}
}
