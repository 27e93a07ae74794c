package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/stage"
)

// The steps of the Notepad workflow whose effects can be counted.
const (
	opensRun     = 1
	startsEditor = 4
	typesText    = 7
	savesFile    = 15
)

// windowsPlan is what breaks on the way to the saved file, in order.
var windowsPlan = []fault{
	{opensRun, faultpoint.DispatchJournaled, "the link is reset before the dispatch is sent", resetLink},
	{3, faultpoint.AgentReceived, "the link stalls for 6 s: the action is delivered again meanwhile", stallLink},
	{startsEditor, faultpoint.AgentMidInput, "kill -9 the agent while enter is down", killAgent},
	{5, faultpoint.DispatchJournaled, "the link becomes a silent black hole", loseLink},
	{typesText, faultpoint.AgentInputDone, "kill -9 the server while the text is in flight", killServer},
	{8, faultpoint.AgentResultStored, "kill -9 the agent: the result is on disk, not sent", killAgent},
	{savesFile, faultpoint.AgentResultStored, "the link is cut inside the frame of the report", cutReport},
}

// windowsShow is a run on Wine's desktop.
type windowsShow struct {
	*show
	opened   atomic.Int32 // Run dialogs
	prefix   string       // Wine's
	workflow string
}

// Windows runs the workflow with the Windows program of the agent, under Wine on a
// display that DISPLAY names, breaks what the plan says, and returns nil only if the
// file that was saved through Notepad's dialog is what the workflow types, to the
// byte, and nothing that can be counted was done twice.
func Windows(ctx context.Context, c Config) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := stage.New(c.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d := &windowsShow{
		show: &show{Stage: s, plan: windowsPlan, rows: map[int]*row{}}, prefix: os.Getenv("WINEPREFIX"), workflow: c.Workflow,
	}
	d.seen = d.count
	if err := d.start(ctx); err != nil {
		return err
	}
	replayID, err := d.perform(ctx, c.Workflow)
	if err != nil {
		return err
	}
	return errors.Join(keepEvidence(ctx, s, replayID), d.prove(ctx, replayID))
}

func (d *windowsShow) start(ctx context.Context) error {
	if d.prefix == "" {
		return errors.New("there is no WINEPREFIX: run this by tools/demo windows")
	}
	if err := os.Remove(d.saved()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := d.startShell(ctx); err != nil {
		return err
	}
	d.Wine = true
	d.AgentArgs = []string{"--driver", "windows"}
	if err := d.StartServer(ctx, serverPoints...); err != nil {
		return err
	}
	if err := d.RegisterMachine(ctx); err != nil {
		return err
	}
	d.Say("server at %s, reprise-agent.exe under Wine on display %s, through a link that can break", d.Address, os.Getenv("DISPLAY"))
	d.Say("Wine's desktop has no shell: win-r.exe opens Wine's own Run dialog when Win+R is pressed")
	return d.StartAgent(ctx, agentPoints...)
}

// startShell starts what takes Win+R, and counts the dialogs that it opens.
func (d *windowsShow) startShell(ctx context.Context) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	// Files, not copies: what is started from the dialog has them too, and outlives it.
	shell := exec.CommandContext(ctx, "wine", filepath.Join(d.Bin, "win-r.exe"))
	shell.Stdout, shell.Stderr = w, d.Log
	if err := shell.Start(); err != nil {
		return errors.Join(fmt.Errorf("start win-r.exe: %w", err), w.Close(), r.Close())
	}
	_ = w.Close()
	said := bufio.NewScanner(r)
	if !said.Scan() || strings.TrimSpace(said.Text()) != "ready" {
		return errors.Join(errors.New("win-r.exe does not take Win+R"), r.Close(), shell.Process.Kill(), shell.Wait())
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for said.Scan() {
			if strings.TrimSpace(said.Text()) == "opened" {
				d.opened.Add(1)
			}
		}
	}()
	d.OnClose(func() error {
		_ = shell.Process.Kill()
		_ = shell.Wait() // killed: its exit status says nothing
		_ = r.Close()    // what it started may hold the other end
		<-heard
		return nil
	})
	return nil
}

// saved is the file that the workflow saves, as this machine names it.
func (d *windowsShow) saved() string {
	return filepath.Join(d.prefix, "drive_c", "users", "Public", "reprise-demo.txt")
}

// A program that was started shows a moment later, on a slow machine many moments. One
// that is taken for not started is started again.
const (
	editorWithin = time.Minute
	editorPoll   = 100 * time.Millisecond
)

// count implements show's seen. Only the start of Notepad is ever asked for.
func (d *windowsShow) count(ctx context.Context, step int) (int, error) {
	if step != startsEditor {
		return 0, fmt.Errorf("step %d has an effect that cannot be counted before the end", step)
	}
	late := time.NewTimer(editorWithin)
	defer late.Stop()
	again := time.NewTicker(editorPoll)
	defer again.Stop()
	for {
		n, err := d.editors()
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-again.C:
		case <-late.C:
			return 0, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// editors is how many Notepads run in this Wine.
func (d *windowsShow) editors() (int, error) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, path := range environments {
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // it may have ended meanwhile
		program, _, _ := strings.Cut(strings.ToLower(string(command)), "\x00")  // as it was called, with or without its folder
		if strings.TrimSuffix(program[strings.LastIndexByte(program, '\\')+1:], ".exe") != "notepad" {
			continue
		}
		environment, _ := os.ReadFile(path)
		for variable := range bytes.SplitSeq(environment, []byte{0}) {
			if string(variable) == "WINEPREFIX="+d.prefix {
				n++
			}
		}
	}
	return n, nil
}

// prove prints the table and says whether it is as promised.
func (d *windowsShow) prove(ctx context.Context, replayID string) error {
	r, err := d.GetReplay(ctx, replayID)
	if err != nil {
		return err
	}
	want, err := os.ReadFile(strings.TrimSuffix(d.workflow, ".yaml") + ".expected.txt")
	if err != nil {
		return err
	}
	got, err := os.ReadFile(d.saved())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	editors, err := d.editors()
	if err != nil {
		return err
	}
	saves := 0
	if bytes.Equal(got, want) {
		saves = 1
	}
	seen := map[int]int{opensRun: int(d.opened.Load()), startsEditor: editors, typesText: saves, savesFile: saves}
	good := r.GetState() == reprisev1.ReplayState_REPLAY_STATE_COMPLETED
	steps := int(r.GetActions()[len(r.GetActions())-1].GetStep()) + 1
	d.table(r, steps, func(step int) string {
		n, counted := seen[step]
		switch {
		case !counted:
			return "-"
		case n != 1:
			good = false
			return fmt.Sprintf("%d WRONG", n)
		}
		return "1"
	})
	if !good {
		return fmt.Errorf("%w; %s holds %q, want %q", ErrProof, d.saved(), got, want)
	}
	d.Say("%s: %d bytes, UTF-8 with a byte order mark, each as the workflow typed it: %q", d.saved(), len(got), got)
	d.Say("%s: one Run dialog, one Notepad, one text, one file", strings.TrimPrefix(r.GetState().String(), "REPLAY_STATE_"))
	return nil
}
