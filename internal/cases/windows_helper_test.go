//go:build wine

package cases

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// helpers are the processes of this test's agent that have hands and eyes.
func (th *theatre) helpers() []int {
	th.t.Helper()
	entries, err := os.ReadDir("/proc")
	th.must(err)
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue // it has ended meanwhile
		}
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		program := strings.ReplaceAll(args[0], `\`, "/")
		if strings.HasSuffix(program, th.Bin+"/reprise-agent.exe") && slices.Contains(args[1:], "helper") {
			found = append(found, pid)
		}
	}
	return found
}

// killHelper kills the one helper that there is, and waits for its end.
func (th *theatre) killHelper() {
	th.t.Helper()
	list := th.helpers()
	if len(list) != 1 {
		th.t.Fatalf("there are %d helpers, not one", len(list))
	}
	th.must(syscall.Kill(list[0], syscall.SIGKILL))
	th.until("the helper is gone", func() bool { return !slices.Contains(th.helpers(), list[0]) })
}

// cameThrough takes the replay to its end; a person is asked about the middle step, if
// it may be asked at all.
func (th *theatre) cameThrough(mayAsk bool) {
	th.t.Helper()
	var r *reprisev1.Replay
	th.until("the replay ends or asks", func() bool {
		r = th.get()
		return r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING
	})
	if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED {
		th.settled()
		return
	}
	if !mayAsk {
		th.t.Fatalf("a person is asked: %v", r.GetPause())
	}
	r = th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
	if got := stepOf(r.GetPause().GetActionToDecide()); got != middleStep {
		th.t.Errorf("the person is asked about step %d, want %d", got, middleStep)
	}
	th.decideOnWindows()
	th.settled()
}

// B11, B19: the helper dies, the service lives: another helper takes its place, lets go
// of what was held, and what may have run is not run again.
func TestCase_c_OnWindowsTheHelperIsKilledAtEveryStepAndNothingRunsTwice(t *testing.T) {
	for _, l := range actionsLife {
		t.Run(l.point, func(t *testing.T) {
			th := openOnWindowsBy(t, three, "session")
			a := th.standAt(l.point, middleStep)
			th.killHelper()
			th.goOn(a)
			th.passAll()
			// Until the service has noticed, a gesture may go to a helper that is gone, and
			// nobody knows that it did not take it.
			th.cameThrough(rank(l.point) >= rank(faultpoint.AgentBegins) && rank(l.point) <= rank(faultpoint.AgentInputDone))
			if n := len(th.helpers()); n != 1 {
				t.Errorf("%d helpers are left, not one", n)
			}
		})
	}
}

// B11: the service dies, and its helper with it.
func TestCase_c_OnWindowsTheServiceIsKilledAtEveryStepAndItsHelperGoesWithIt(t *testing.T) {
	for _, l := range actionsLife {
		t.Run(l.point, func(t *testing.T) {
			th := openOnWindowsBy(t, three, "session")
			a := th.standAt(l.point, middleStep)
			before := th.helpers()
			th.kill(agentOnly)
			th.until("the helper is gone", func() bool { return len(th.helpers()) == 0 })
			th.goOn(a)
			th.passAll()
			th.restart(agentOnly)
			th.cameToOnWindows(l.agent)
			if after := th.helpers(); len(after) != 1 || slices.Equal(before, after) {
				t.Errorf("the helpers are %v, before %v", after, before)
			}
		})
	}
}

// B11: the service dies again and again; there is one helper.
func TestCase_c_OnWindowsB11AServiceThatDiesThreeTimesHasOneHelper(t *testing.T) {
	th := openOnWindowsBy(t, three, "session")
	a := th.standAt(faultpoint.DispatchDecided, middleStep)
	for range 3 {
		th.until("there is a helper", func() bool { return len(th.helpers()) == 1 })
		th.kill(agentOnly)
		th.restart(agentOnly)
	}
	th.goOn(a)
	th.passAll()
	th.settled()
	if n := len(th.helpers()); n != 1 {
		t.Errorf("there are %d helpers, not one", n)
	}
}
