package cases

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// screenOfPauses is what the person at the machine is shown.
type screenOfPauses struct {
	mu     sync.Mutex
	shown  []work.Pause
	at     []time.Time
	hidden []string
}

// Show implements runner.Shower.
func (s *screenOfPauses) Show(p work.Pause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.at = append(s.shown, p), append(s.at, time.Now())
}

// Hide implements runner.Shower.
func (s *screenOfPauses) Hide(_, pauseID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = append(s.hidden, pauseID)
}

// counts returns how many pauses were shown and taken away.
func (s *screenOfPauses) counts() (shown, hidden int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shown), len(s.hidden)
}

// watched makes the agent show its pauses on s.
func watched(s *screenOfPauses) func(*setup) {
	return func(with *setup) { with.agent = func(c *agent.Config) { c.Shower = s } }
}

func TestCase_l_AnActionThatEndsWhileTheLinkIsCutCountsForItsPausedReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		w.relay.takeApart()
		if r := w.pause(id); !r.GetPausing() {
			t.Error("the replay does not show that it is pausing")
		}
		goOn()
		time.Sleep(20 * time.Second)
		w.relay.join()
		time.Sleep(time.Minute)
		w.clicked(1)
		r := w.get(id)
		if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED || r.GetPausing() || r.GetSettledCount() != 1 {
			t.Errorf("%v, pausing %v, %d settled; want paused with the report counted", r.GetState(), r.GetPausing(), r.GetSettledCount())
		}
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2, 3)
	})
}

func TestCase_l_AnActionThatStillRunsAfterTheCutGoesOnUnderThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.relay.takeApart()
		w.pause(id)
		w.relay.join()
		time.Sleep(10 * time.Second)
		if got := w.executingVerdicts(); !slices.Equal(got, []reprisev1.ExecutingVerdict{reprisev1.ExecutingVerdict_EXECUTING_VERDICT_GO_ON}) {
			t.Errorf("the welcome said %v of what runs", got)
		}
		if r := w.get(id); !r.GetPausing() {
			t.Error("the action that runs does not count as dispatched")
		}
		goOn()
		time.Sleep(time.Minute)
		w.clicked(1)
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

// executingVerdicts returns what the welcomes said of the action that was running.
func (s *station) executingVerdicts() []reprisev1.ExecutingVerdict {
	return seen(s.relay, func(m message) (reprisev1.ExecutingVerdict, bool) {
		v := m.down.GetWelcome().GetExecutingVerdict()
		return v, v != reprisev1.ExecutingVerdict_EXECUTING_VERDICT_UNSPECIFIED
	})
}

func TestCase_m_AnActionCancelledWhileTheLinkIsCutStopsWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext() // it ends by the cancel alone
		id := w.create(3)
		<-held
		w.relay.takeApart()
		w.cancel(id)
		w.relay.join()
		time.Sleep(10 * time.Second)
		if got := w.executingVerdicts(); !slices.Equal(got, []reprisev1.ExecutingVerdict{reprisev1.ExecutingVerdict_EXECUTING_VERDICT_STOP}) {
			t.Errorf("the welcome said %v of what runs", got)
		}
		rep := w.relay.reports()
		if len(rep) != 1 || rep[0].GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED {
			t.Fatalf("the agent reported %v, want interrupted", rep)
		}
		if got := w.verdicts(); !slices.Equal(got, []reprisev1.ReportVerdict{reprisev1.ReportVerdict_REPORT_VERDICT_NO_ACTIVE_REPLAY}) {
			t.Errorf("the late report was answered %v", got)
		}
		w.completed(w.create(2))
		w.clicked(1, 1, 2)
	})
}

func TestCase_m_AResultOfACancelledReplayIsAnsweredInTheWelcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		w.relay.takeApart()
		goOn()
		synctest.Wait()
		w.cancel(id)
		before := w.get(id)
		time.Sleep(time.Second)
		w.relay.join()
		time.Sleep(10 * time.Second)
		if got := w.verdicts(); !slices.Equal(got, []reprisev1.ReportVerdict{reprisev1.ReportVerdict_REPORT_VERDICT_NO_ACTIVE_REPLAY}) {
			t.Errorf("the stored result was answered %v", got)
		}
		if after := w.get(id); after.GetRevision() != before.GetRevision() {
			t.Errorf("the late result changed the replay: revision %d, was %d", after.GetRevision(), before.GetRevision())
		}
		w.completed(w.create(1))
		w.clicked(1, 1)
	})
}

func TestCase_m_CancellingTwiceIsCancellingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.cancel(id)
		before := w.get(id)
		w.cancel(id)
		if after := w.get(id); after.GetRevision() != before.GetRevision() || after.GetState() != reprisev1.ReplayState_REPLAY_STATE_CANCELLED {
			t.Errorf("%v at revision %d, was %d", after.GetState(), after.GetRevision(), before.GetRevision())
		}
	})
}

func TestCase_r_APausedAgentThatKeepsReconnectingIsToldEachTimeAndShowsItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown screenOfPauses
		w := newWorld(t, watched(&shown))
		r := w.pausedAfterFirst(3)
		for range 5 {
			w.relay.cutAll()
			time.Sleep(20 * time.Second)
		}
		told := seen(w.relay, func(m message) (string, bool) { p := m.down.GetPause(); return p.GetPauseId(), p != nil })
		if want := slices.Repeat([]string{r.GetPause().GetPauseId()}, 6); !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
		if n, hidden := shown.counts(); n != 1 || hidden != 0 {
			t.Errorf("shown %d times, taken away %d times; want once and not", n, hidden)
		}
		w.clicked(1)
		w.resume(r.GetReplayId())
		w.completed(r.GetReplayId())
		if n, hidden := shown.counts(); n != 1 || hidden != 1 {
			t.Errorf("after the resume: shown %d times, taken away %d times", n, hidden)
		}
	})
}

// pausedAfterFirst makes a replay of n clicks, pauses it in its first one and lets
// that end.
func (w *world) pausedAfterFirst(n int) *reprisev1.Replay {
	w.t.Helper()
	held, goOn := w.desktop.holdNext()
	id := w.create(n)
	<-held
	w.pause(id)
	goOn()
	time.Sleep(5 * time.Second)
	return w.get(id)
}

func TestCase_r_ANewPauseIsShownAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown screenOfPauses
		w := newWorld(t, watched(&shown))
		w.cancel(w.pausedAfterFirst(2).GetReplayId())
		time.Sleep(time.Second)
		if n, hidden := shown.counts(); n != 1 || hidden != 1 {
			t.Errorf("shown %d times, taken away %d times; the replay has ended", n, hidden)
		}
		next := w.pausedAfterFirst(2).GetReplayId()
		w.relay.cutAll()
		time.Sleep(20 * time.Second)
		w.resume(next)
		w.completed(next)
		if n, hidden := shown.counts(); n != 2 || hidden != 2 {
			t.Errorf("two pauses were shown %d times and taken away %d times", n, hidden)
		}
	})
}
