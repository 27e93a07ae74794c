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

	"github.com/reprise-rpa/reprise/internal/stage"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// Folder makes an empty folder below keep for one run.
func Folder(keep, name string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(keep, name))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// X11 runs the workflow on a real X display with a terminal, and returns nil only
// if the file that the typed command wrote is what the workflow says, to the byte.
func X11(ctx context.Context, c Config) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := stage.New(c.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	display, err := startX(ctx, s)
	if err != nil {
		return err
	}
	s.AgentArgs = []string{"--driver", "x11", "--display", display, "--min-display", "800x600"}
	if err := s.StartServer(ctx); err != nil {
		return err
	}
	if err := s.RegisterMachine(ctx); err != nil {
		return err
	}
	if err := s.StartAgent(ctx); err != nil {
		return err
	}
	s.Say("server at %s, agent and terminal on display %s", s.Address, display)
	replayID, err := s.Submit(ctx, c.Workflow)
	if err != nil {
		return err
	}
	watch, err := s.StartCtl(ctx, s.Out, "watch", replayID, "--output", "plain", "--fail-on-pause")
	if err != nil {
		return err
	}
	defer watch.Kill()
	if err := watch.Wait(ctx); err != nil {
		return fmt.Errorf("the replay did not complete: %w", err)
	}
	return errors.Join(keepEvidence(ctx, s, replayID), compareFile(s, c.Workflow))
}

// startX starts an X server on a free display and a terminal on it.
func startX(ctx context.Context, s *stage.Stage) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	x := exec.CommandContext(ctx, "Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp")
	x.ExtraFiles, x.Stdout, x.Stderr = []*os.File{w}, s.Log, s.Log
	if err := x.Start(); err != nil {
		return "", errors.Join(fmt.Errorf("start Xvfb: %w", err), w.Close())
	}
	s.OnClose(func() error {
		_ = x.Process.Kill()
		_ = x.Wait() // killed: its exit status says nothing
		return nil
	})
	_ = w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no display from Xvfb: %w", err)
	}
	display := ":" + strings.TrimSpace(line)
	terminal, err := testkit.Start(ctx, "xterm", s.Log, []string{"DISPLAY=" + display, "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "HOME=" + s.Dir},
		"xterm", "-T", "reprise demo", "-geometry", "100x30+40+40", "-fa", "Monospace", "-fs", "11",
		"-e", "cd '"+s.Dir+"' && exec sh")
	if err != nil {
		return "", err
	}
	s.OnClose(func() error { terminal.Kill(); return nil })
	return display, nil
}

// outputFile is what the workflow's command writes, in the terminal's folder.
const outputFile = "reprise-demo.txt"

// compareFile compares the file with the text that the workflow types.
func compareFile(s *stage.Stage, workflow string) error {
	want, err := os.ReadFile(strings.TrimSuffix(workflow, ".yaml") + ".expected.txt")
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, outputFile)
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s holds %q, want %q", path, got, want)
	}
	s.Say("%s: %d bytes, each as the workflow typed it: %q", path, len(got), got)
	return nil
}
