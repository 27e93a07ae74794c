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

// programDir is where the programs are, once a test has needed them.
var programDir string

// programs builds the programs with fault points, once per run of the tests. They
// are built as they ship, without the race detector: the same code runs under it
// in the bubbles, and pictures take it seconds.
var programs = sync.OnceValues(func() (_ string, err error) {
	if programDir, err = os.MkdirTemp("", "reprise-cases"); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-tags", "faultpoint", "-o", programDir+"/",
		"./server/cmd/reprised", "./server/cmd/reprisectl", "./agent/cmd/reprise-agent", "./internal/virtualdesktop/cmd/virtual-desktop")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the programs: %w: %s", err, out)
	}
	return programDir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// patience is how long a play may take, on however slow a machine.
const patience = 15 * time.Minute

// atOnce is how many stages stand at the same time.
var atOnce = make(chan struct{}, 3)

// play is what is played on a stage. Its steps each leave a mark of their own on
// the desktop.
type play struct {
	steps  string   // the actions of the workflow
	marks  []string // what the desktop counts when each step had its effect once, in order
	server []string // settings of the server
}

// three is a play whose second step is the one that things happen to: its input is
// many events, and it is not safe to run twice.
var three = play{
	steps: `
  - {name: note, click: {}, target: {windowTitle: Notes, point: {x: 0.5, y: 0.5}}}
  - {name: text, type: {text: "hé€", clearFirst: true}, expectedWindowBefore: Notes}
  - {name: save, click: {}, target: {windowTitle: Tools, point: {x: 0.33, y: 0.31}}}
`,
	marks: []string{"note focused", "note typed hé€", "save clicked"},
}

// middleStep is the step of three that things happen to, from 1.
const middleStep = 2

// theatre is a stage with a virtual desktop, on which a play is played. Server and
// agent stand still at every fault point until they are let go on.
type theatre struct {
	*stage.Stage
	play
	t       *testing.T
	ctx     context.Context
	desktop wire.ControlClient
	replay  string
	script  script
}

// open starts desktop and server, submits the play and starts the agent.
func open(t *testing.T, p play) *theatre {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	atOnce <- struct{}{}
	t.Cleanup(func() { <-atOnce })
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
	input, control, err := s.StartDesktop(ctx, "simple")
	th.must(err)
	th.desktop, err = wire.DialControl(ctx, control)
	th.must(err)
	s.OnClose(th.desktop.Close)
	s.ServerArgs = p.server
	s.AgentArgs = []string{"--driver", "virtual", "--desktop", input, "--min-display", "800x600", "--reconnect-backoff", "100ms"}
	th.startServer()
	th.must(s.RegisterMachine(ctx))
	th.submit(p)
	th.startAgent() // last: with it begins what stands still at fault points
	return th
}

// submit creates the replay of a play.
func (th *theatre) submit(p play) {
	th.t.Helper()
	file := filepath.Join(th.Dir, "steps.yaml")
	th.must(os.WriteFile(file, []byte("name: marks\nactions:"+p.steps), 0o600))
	var err error
	th.replay, err = th.Submit(th.ctx, file)
	th.must(err)
}

func (th *theatre) startServer() {
	th.t.Helper()
	th.must(th.StartServer(th.ctx, faultpoint.Points()...))
}

func (th *theatre) startAgent() {
	th.t.Helper()
	th.must(th.StartAgent(th.ctx, faultpoint.Points()...))
}

func (th *theatre) must(err error) {
	th.t.Helper()
	if err != nil {
		th.t.Fatal(err)
	}
}

// ended waits until the replay has completed; nothing is held down then.
func (th *theatre) ended() *reprisev1.Replay {
	th.t.Helper()
	if _, err := th.Reprisectl(th.ctx, "watch", th.replay); err != nil {
		th.t.Fatalf("the replay did not complete: %v", err)
	}
	th.nothingDown()
	return th.get()
}

// settled is ended, with every mark once and in order.
func (th *theatre) settled() *reprisev1.Replay {
	th.t.Helper()
	r := th.ended()
	if got := th.counted(); !slices.Equal(got, th.marks) {
		th.t.Errorf("the desktop counted\n %q, want\n %q", got, th.marks)
	}
	return r
}

func (th *theatre) get() *reprisev1.Replay {
	th.t.Helper()
	r, err := th.GetReplay(th.ctx, th.replay)
	th.must(err)
	return r
}

func (th *theatre) nothingDown() {
	th.t.Helper()
	down, err := th.desktop.Down(th.ctx)
	th.must(err)
	if len(down) > 0 {
		th.t.Errorf("still held down: %v", down)
	}
}

// counted is what the desktop has counted so far. That a text was selected to be
// cleared is no effect of its own.
func (th *theatre) counted() []string {
	th.t.Helper()
	ledger, err := th.desktop.Ledger(th.ctx)
	th.must(err)
	var got []string
	for _, e := range ledger {
		switch e.Effect {
		case wire.Clicked, wire.Focused, wire.Opened:
			got = append(got, e.Widget+" "+string(e.Effect))
		case wire.Typed, wire.Pasted, wire.Scrolled:
			got = append(got, e.Widget+" "+string(e.Effect)+" "+e.Detail)
		}
	}
	return got
}

// paused waits for a pause and checks its reason, and that it says something.
func (th *theatre) paused(want reprisev1.PauseReason) *reprisev1.Replay {
	th.t.Helper()
	r, err := th.AwaitPause(th.ctx, th.replay)
	th.must(err)
	if got := r.GetPause().GetReason(); got != want {
		th.t.Fatalf("paused with %v (%s), want %v", got, r.GetPause().GetMessage(), want)
	}
	if strings.TrimSpace(r.GetPause().GetMessage()) == "" {
		th.t.Error("the pause says nothing that a person understands")
	}
	return r
}

// decide settles a pause for a step as a person would who looks at the screen: skip
// what had its effect, retry what had not. Nothing is held down then.
func (th *theatre) decide(step int) {
	th.t.Helper()
	th.nothingDown()
	args := []string{"resume", th.replay}
	if slices.Equal(th.counted(), th.marks[:step]) {
		args = append(args, "--skip")
	}
	_, err := th.Reprisectl(th.ctx, args...)
	th.must(err)
}

// firstAction is the step's first action; a decision to run it again has one of its own.
func firstAction(r *reprisev1.Replay, step int) *reprisev1.ActionStatus {
	for _, a := range r.GetActions() {
		if int(a.GetStep()) == step-1 {
			return a
		}
	}
	return nil
}
