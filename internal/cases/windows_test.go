//go:build wine

package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/stage"
	"github.com/reprise-rpa/reprise/internal/testkit"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// windowsPrograms builds what runs under Wine, beside the other programs.
var windowsPrograms = sync.OnceValues(func() (string, error) {
	bin, err := programs()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-tags", "faultpoint", "-o", bin+"/",
		"./agent/cmd/reprise-agent", "./agent/winapi/winapitest/cmd/counting-windows")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the Windows programs: %w: %s", err, out)
	}
	return bin, nil
})

// openOnWindows is open with Wine's desktop and the Windows program of the agent. The
// desktop is one, so such tests run one after the other.
func openOnWindows(t *testing.T, p play) *theatre {
	t.Helper()
	return openOnWindowsBy(t, p, "windows")
}

// openOnWindowsBy is openOnWindows with a driver: windows, or session, with which hands
// and eyes are in a process of their own, as those of a service.
func openOnWindowsBy(t *testing.T, p play, driver string) *theatre {
	t.Helper()
	th := openStageOnWindows(t, p)
	th.AgentArgs = []string{"--driver", driver, "--reconnect-backoff", "100ms"}
	th.startAgent() // last: with it begins what stands still at fault points
	return th
}

// openStageOnWindows is openOnWindows without an agent.
func openStageOnWindows(t *testing.T, p play) *theatre {
	t.Helper()
	bin, err := windowsPrograms()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	s, err := stage.New(stage.Config{Bin: bin, Dir: t.TempDir(), Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(s.Log.Name())
			t.Logf("what the programs said:\n%s", log)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	th := &theatre{Stage: s, play: p, t: t, ctx: ctx}
	th.openWindows()
	s.Wine = true
	s.ServerArgs = p.server
	th.startServer()
	th.must(s.RegisterMachine(ctx))
	th.submit(p)
	return th
}

// openWindows opens the windows that count, and their door.
func (th *theatre) openWindows() {
	th.t.Helper()
	p, err := testkit.Start(th.ctx, "counting-windows", th.Log, nil, "wine", filepath.Join(th.Bin, "counting-windows.exe"))
	th.must(err)
	th.OnClose(func() error { p.Kill(); return nil })
	line, err := p.Line(th.ctx, `"control"`)
	th.must(err)
	var door struct{ Control string }
	th.must(json.Unmarshal([]byte(line), &door))
	th.desktop, err = wire.DialControl(th.ctx, door.Control)
	th.must(err)
	th.OnClose(th.desktop.Close)
}

// cameToOnWindows is cameTo where a text arrives character by character: the person who
// finds a part of it lets the step run again, and it clears first.
func (th *theatre) cameToOnWindows(want stepOutcome) {
	th.t.Helper()
	if want.asks {
		r := th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
		if got := stepOf(r.GetPause().GetActionToDecide()); got != middleStep {
			th.t.Errorf("the person is asked about step %d, want %d", got, middleStep)
		}
		th.decideOnWindows()
		want.asks = false
	}
	th.cameTo(want)
}

// decideOnWindows settles a pause for the middle step as a person would who looks at the
// screen: skip what had its effect, else run the step again, which clears first.
func (th *theatre) decideOnWindows() {
	th.t.Helper()
	th.nothingDown()
	seen := th.counted()
	if slices.Equal(seen, th.marks[:middleStep]) {
		th.resume("--skip")
		return
	}
	th.partly(seen)
	th.marks = slices.Concat(seen, th.marks[middleStep-1:])
	th.resume()
}

// partly checks that what is seen is the first step, and a part of the second at most.
func (th *theatre) partly(seen []string) {
	th.t.Helper()
	before := th.marks[:middleStep-1]
	rest, ok := seen, len(seen) >= len(before) && slices.Equal(seen[:len(before)], before)
	if ok {
		rest = seen[len(before):]
	}
	if !ok || len(rest) > 1 || len(rest) == 1 && !strings.HasPrefix(th.marks[middleStep-1], rest[0]) {
		th.t.Errorf("the desktop counted %q, want the first step and at most a part of the second, of %q", seen, th.marks)
	}
}

// killOnWindows kills the agent at each point from the first to the last, and starts it
// again.
func killOnWindows(t *testing.T, first, last string) {
	for _, l := range actionsLife[rank(first) : rank(last)+1] {
		t.Run(l.point, func(t *testing.T) {
			th := openOnWindows(t, three)
			a := th.standAt(l.point, middleStep)
			th.kill(agentOnly)
			th.goOn(a)
			th.passAll()
			th.restart(agentOnly)
			th.cameToOnWindows(l.agent)
		})
	}
}

func TestCase_b_OnWindowsKilledBeforeItHasStartedTheActionIsExecutedOnce(t *testing.T) {
	killOnWindows(t, faultpoint.DispatchDecided, faultpoint.AgentBegins)
}

func TestCase_c_OnWindowsKilledBetweenStartedAndTheResultItGoesToAPerson(t *testing.T) {
	killOnWindows(t, faultpoint.AgentStarted, faultpoint.AgentResultReady)
}

func TestCase_c_OnWindowsKilledOnceTheResultIsStoredItIsNotExecutedAgain(t *testing.T) {
	killOnWindows(t, faultpoint.AgentResultStored, faultpoint.AgentForgot)
}
