package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func logTo(t *testing.T, file string, args ...string) settings {
	t.Helper()
	s, err := loadWith(t, "", nil, append(append(args, "--log-file="+file), needs...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLogLinesGoToTheFileAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "logs", "agent.log")
	var out bytes.Buffer
	for _, line := range []string{"first", "second"} { // a second run goes on where the first one ended
		log, closer, err := openLog(&out, logTo(t, file))
		if err != nil {
			t.Fatal(err)
		}
		log.Info(line)
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(got), "msg=first") || !strings.Contains(string(got), "msg=second") {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if out.Len() > 0 {
		t.Errorf("beside the file there is %q", out.String())
	}
}

func TestAFullLogFileIsPutAsideAndTheOldestGo(t *testing.T) {
	dir := t.TempDir()
	log, closer, err := openLog(nil, logTo(t, filepath.Join(dir, "agent.log"), "--log-file-max-mb=1", "--log-files=2"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closer.Close() }()
	line := strings.Repeat("x", 600<<10)
	for range 4 {
		log.Info(line)
	}
	files := func() []os.DirEntry {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	// The oldest are removed in the background.
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for len(files()) != 2 {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%d files stay", len(files()))
		}
	}
	for _, f := range files() {
		if info, err := f.Info(); err != nil || info.Size() > 1<<20 {
			t.Errorf("%s: %v, %v", f.Name(), info, err)
		}
	}
}

func TestALogFileThatCannotBeWrittenStopsTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := openLog(nil, logTo(t, filepath.Join(file, "agent.log")))
	if err == nil || !strings.Contains(err.Error(), "log-file") {
		t.Errorf("openLog = %v", err)
	}
}

// broken takes every line and fails.
type broken struct{}

func (broken) Enabled(context.Context, slog.Level) bool  { return true }
func (broken) Handle(context.Context, slog.Record) error { return errors.New("full") }
func (b broken) WithAttrs([]slog.Attr) slog.Handler      { return b }
func (b broken) WithGroup(string) slog.Handler           { return b }

func TestAFaultOfOneLogKeepsNoLineFromTheOther(t *testing.T) {
	var second bytes.Buffer
	h := fanOut{broken{}, slog.NewTextHandler(&second, nil)}
	slog.New(h).With("a", 1).WithGroup("g").Info("said", "b", 2)
	if got := second.String(); !strings.Contains(got, "msg=said a=1 g.b=2") {
		t.Errorf("the second log has %q", got)
	}
	if err := h.Handle(t.Context(), slog.Record{}); err == nil {
		t.Error("the fault is not told")
	}
}
