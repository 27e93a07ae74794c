package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

var errTestEnds = errors.New("the test ends")

func TestItSaysWhereItsDoorsAreOnceTheyAreOpen(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		c := command()
		c.SetArgs([]string{"--scene", "simple"})
		c.SetOut(in)
		ended <- c.ExecuteContext(ctx)
	}()
	var doors struct{ Input, Control string }
	if err := json.NewDecoder(out).Decode(&doors); err != nil {
		t.Fatal(err)
	}
	input, err := wire.DialInput(t.Context(), doors.Input)
	if err != nil {
		t.Fatal(err)
	}
	if monitors, err := input.Monitors(t.Context()); err != nil || len(monitors) != 2 {
		t.Errorf("monitors = %v, %v", monitors, err)
	}
	control, err := wire.DialControl(t.Context(), doors.Control)
	if err != nil {
		t.Fatal(err)
	}
	if ledger, err := control.Ledger(t.Context()); err != nil || len(ledger) != 0 {
		t.Errorf("ledger = %v, %v", ledger, err)
	}
	stop(errTestEnds)
	if err := <-ended; !errors.Is(err, errTestEnds) {
		t.Errorf("ended with %v", err)
	}
}

func TestABadSettingStopsTheStart(t *testing.T) {
	for flag, args := range map[string][]string{
		"--scene":   {"--scene", "none"},
		"--input":   {"--input", "0.0.0.0:0"},
		"--control": {"--control", "nowhere"},
	} {
		c := command()
		c.SetArgs(args)
		c.SetOut(io.Discard)
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v: %v; want an error that names %s", args, err, flag)
		}
	}
}

func TestAnchorsAreWrittenToAFolder(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	c := command()
	c.SetArgs([]string{"anchors", dir})
	c.SetOut(&out)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if !strings.Contains(out.String(), f.Name()+"\n") {
			t.Errorf("%s was written and not named", f.Name())
		}
	}
}
