package cases

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/stage"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// programs builds the programs with fault points, once per run of the tests. They
// are built as they ship, without the race detector: the same code runs under it
// in the bubbles, and pictures take it seconds.
var programs = sync.OnceValues(func() (string, error) {
	bin, err := os.MkdirTemp("", "reprise-cases")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-tags", "faultpoint", "-o", bin+"/",
		"./server/cmd/reprised", "./server/cmd/reprisectl", "./agent/cmd/reprise-agent", "./internal/virtualdesktop/cmd/virtual-desktop")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the programs: %w: %s", err, out)
	}
	return bin, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := programs(); err == nil {
		_ = os.RemoveAll(bin)
	}
	os.Exit(code)
}

// theatre is a stage with a virtual desktop, on which the steps of one workflow
// are played.
type theatre struct {
	*stage.Stage
	t       *testing.T
	ctx     context.Context
	desktop wire.ControlClient
	replay  string
}

// steps is a workflow whose every step leaves its own mark on the desktop.
const steps = `name: marks
actions:
  - {name: save, click: {}, target: {windowTitle: Tools, point: {x: 0.33, y: 0.31}}}
  - {name: note, click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}
  - {name: text, type: {text: "first é€"}, expectedWindowBefore: Notes}
  - {name: again, paste: {text: " second"}, expectedWindowBefore: Notes}
  - {name: end, click: {}, target: {windowTitle: Tools, point: {x: 0.33, y: 0.31}}}
`

// marks are what the desktop counts when each step had its effect once, in order.
var marks = []string{"save clicked", "note focused", "note typed first é€", "note pasted  second", "save clicked"}

// open starts desktop, server and agent and submits the steps.
func open(t *testing.T, serverPoints, agentPoints []string) *theatre {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
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
	th := &theatre{Stage: s, t: t, ctx: ctx}
	input, control, err := s.StartDesktop(ctx, "simple")
	th.must(err)
	th.desktop, err = wire.DialControl(ctx, control)
	th.must(err)
	s.OnClose(th.desktop.Close)
	s.AgentArgs = []string{"--driver", "virtual", "--desktop", input, "--min-display", "800x600"}
	th.must(s.StartServer(ctx, serverPoints...))
	th.must(s.RegisterMachine(ctx))
	th.must(s.StartAgent(ctx, agentPoints...))
	file := filepath.Join(s.Dir, "steps.yaml")
	th.must(os.WriteFile(file, []byte(steps), 0o600))
	th.replay, err = s.Submit(ctx, file)
	th.must(err)
	return th
}

func (th *theatre) must(err error) {
	th.t.Helper()
	if err != nil {
		th.t.Fatal(err)
	}
}

// arrival waits until a program stands at a point with the step named, and lets
// every other arrival pass.
func (th *theatre) arrival(point string, step int) faultpoint.Arrival {
	th.t.Helper()
	for {
		select {
		case a := <-th.Faults.Arrivals():
			if a.Name == point && (strings.HasSuffix(a.Subject, fmt.Sprintf("-%d", step)) || point == faultpoint.AgentMidInput) {
				return a
			}
			a.GoOn()
		case <-th.ctx.Done():
			th.t.Fatalf("nothing stood at %s for step %d", point, step)
		}
	}
}

// passAll lets every later arrival go on until the test ends.
func (th *theatre) passAll() {
	go func() {
		for a := range th.Faults.Arrivals() {
			a.GoOn()
		}
	}()
}

// settledAs waits for the replay's end and compares what the desktop counted.
func (th *theatre) settledAs(want []string) *reprisev1.Replay {
	th.t.Helper()
	if _, err := th.Reprisectl(th.ctx, "watch", th.replay); err != nil {
		th.t.Fatalf("the replay did not complete: %v", err)
	}
	r, err := th.GetReplay(th.ctx, th.replay)
	th.must(err)
	if got := th.marks(); !slices.Equal(got, want) {
		th.t.Errorf("the desktop counted\n %q, want\n %q", got, want)
	}
	down, err := th.desktop.Down(th.ctx)
	th.must(err)
	if len(down) > 0 {
		th.t.Errorf("still held down: %v", down)
	}
	return r
}

func (th *theatre) marks() []string {
	th.t.Helper()
	ledger, err := th.desktop.Ledger(th.ctx)
	th.must(err)
	var got []string
	for _, e := range ledger {
		switch e.Effect {
		case wire.Clicked, wire.Focused:
			got = append(got, e.Widget+" "+string(e.Effect))
		case wire.Typed, wire.Pasted:
			got = append(got, e.Widget+" "+string(e.Effect)+" "+e.Detail)
		}
	}
	return got
}

// skipOrRetry settles an outcome-unknown pause as a person would who looks at the
// screen: skip what had its effect, retry what had not.
func (th *theatre) skipOrRetry(had int) {
	th.t.Helper()
	r, err := th.AwaitPause(th.ctx, th.replay)
	th.must(err)
	if got := r.GetPause().GetReason(); got != reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN {
		th.t.Fatalf("paused with %v, want outcome unknown", got)
	}
	args := []string{"resume", th.replay}
	if len(th.marks()) >= had {
		args = append(args, "--skip")
	}
	_, err = th.Reprisectl(th.ctx, args...)
	th.must(err)
}

func TestCase_b_KilledAfterReceiptAndBeforeExecutionItIsExecutedOnce(t *testing.T) {
	th := open(t, nil, []string{faultpoint.AgentReceived})
	th.arrival(faultpoint.AgentReceived, 2)
	th.Agent.Kill()
	th.must(th.StartAgent(th.ctx))
	th.passAll()
	r := th.settledAs(marks)
	if a := r.GetActions()[1]; a.GetDeliveries() != 2 || a.GetResentCount() != 1 {
		t.Errorf("the step was delivered %d times and spent %d resends; want 2 and 1", a.GetDeliveries(), a.GetResentCount())
	}
}

func TestCase_c_KilledBeforeTheReportLeavesTheStoredResultIsDelivered(t *testing.T) {
	th := open(t, nil, []string{faultpoint.AgentResultStored})
	th.arrival(faultpoint.AgentResultStored, 2)
	th.Agent.Kill()
	th.must(th.StartAgent(th.ctx))
	th.passAll()
	if a := th.settledAs(marks).GetActions()[1]; a.GetDeliveries() != 1 {
		t.Errorf("the step was delivered %d times, want 1: its stored result settles it", a.GetDeliveries())
	}
}

func TestCase_c_KilledBetweenStartedAndTheResultItGoesToAPerson(t *testing.T) {
	for _, point := range []string{faultpoint.AgentStarted, faultpoint.AgentMidInput, faultpoint.AgentInputDone} {
		t.Run(point, func(t *testing.T) {
			th := open(t, nil, []string{point})
			step := 3
			if point == faultpoint.AgentMidInput {
				step = 1 // the driver does not know its action: the first gesture
			}
			th.arrival(point, step)
			th.Agent.Kill()
			th.must(th.StartAgent(th.ctx))
			th.passAll()
			th.skipOrRetry(step)
			th.settledAs(marks)
		})
	}
}

func TestCase_d_TheServerDiesBeforeAcknowledgingAndTakesTheReportOnce(t *testing.T) {
	for _, point := range []string{faultpoint.ReportReceived, faultpoint.ReportJournaled} {
		t.Run(point, func(t *testing.T) {
			th := open(t, []string{point}, nil)
			th.arrival(point, 2)
			th.Server.Kill()
			th.must(th.StartServer(th.ctx))
			th.passAll()
			th.settledAs(marks)
		})
	}
}

func TestCase_i_TheServerIsKilledWithAnActionInFlightAndGoesOnFromItsJournal(t *testing.T) {
	for point, ofServer := range map[string]bool{
		faultpoint.DispatchJournaled: true, faultpoint.AgentReceived: false, faultpoint.AgentStarted: false, faultpoint.AgentInputDone: false,
	} {
		t.Run(point, func(t *testing.T) {
			var onServer, onAgent []string
			if ofServer {
				onServer = []string{point}
			} else {
				onAgent = []string{point}
			}
			th := open(t, onServer, onAgent)
			a := th.arrival(point, 3)
			th.Server.Kill()
			a.GoOn()
			th.must(th.StartServer(th.ctx))
			th.passAll()
			th.settledAs(marks)
		})
	}
}
