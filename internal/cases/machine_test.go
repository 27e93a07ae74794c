package cases

import (
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// welcomes returns when each stream of a station was opened.
func (s *station) welcomes() []time.Time {
	return seen(s.relay, func(m message) (time.Time, bool) { return m.at, m.down.GetWelcome() != nil })
}

// hellos returns when each stream of a station was asked for.
func (s *station) hellos() []time.Time {
	return seen(s.relay, func(m message) (time.Time, bool) { return m.at, m.up.GetHello() != nil })
}

func TestCase_j_TheSameAgentsNewerStreamTakesOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(time.Second)
		old := w.machine().GetSessionId()
		w.relay.abandon() // the server does not learn that its stream has ended
		start := time.Now()
		id := w.create(2)
		w.completed(id)
		w.clicked(1, 2)
		opened := w.welcomes()
		if len(opened) != 2 || w.machine().GetSessionId() == old {
			t.Fatalf("%d streams were opened", len(opened))
		}
		if hello := w.hellos()[1]; opened[1] != hello {
			t.Errorf("the newer stream waited for %v", opened[1].Sub(hello))
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("the replay took %v over a takeover", took)
		}
		w.logged("a newer stream of this agent has taken over")
	})
}

func TestCase_j_AnotherAgentIsRefusedWhileTheFirstOneAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		holder := w.machine().GetSessionId()
		other := w.secondAgent()
		time.Sleep(5 * time.Second)
		m := w.machine()
		if len(other.welcomes()) != 0 || m.GetSessionId() != holder {
			t.Errorf("another agent got the machine: session %s, was %s", m.GetSessionId(), holder)
		}
		if m.GetConflictAt() == nil {
			t.Error("the conflict is not shown")
		}
		if lines := w.log.lines("the server refuses this agent"); len(lines) == 0 {
			t.Error("the other agent says nothing of why it has no machine")
		}
		w.logged("the server refuses this agent", "code")
		goOn()
		w.completed(id)
		w.clicked(1, 2, 3)
		if n := len(other.desktop.inputs()); n != 0 {
			t.Errorf("the other agent sent %d gestures", n)
		}
	})
}

func TestCase_j_AnotherAgentGetsTheMachineWhenTheFirstOneIsSilentForTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(time.Second)
		w.relay.silence()
		other := w.secondAgent()
		id := w.create(2)
		time.Sleep(1900 * time.Millisecond)
		if len(other.welcomes()) != 0 {
			t.Error("the first agent had no two seconds to answer")
		}
		time.Sleep(200 * time.Millisecond)
		if len(other.welcomes()) != 1 {
			t.Fatal("the machine is still held by an agent that is silent")
		}
		// What was sent to the silent one may have arrived: whoever has another
		// memory can't say, so a person decides.
		w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		w.relay.listen()
		w.resume(id)
		w.completed(id)
		time.Sleep(5 * time.Second)
		w.clicked()
		if got := len(other.desktop.clicks()); got != 2 {
			t.Errorf("the agent that got the machine clicked %d times, want 2", got)
		}
	})
}
