package systems

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The systems start this program again: the tests' own, here.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == ServeFlag {
		if err := Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestBothSystemsDoWhatTheyAreAsked(t *testing.T) {
	const machines, actions = 3, 6
	raw, err := StartRaw(t.Context(), machines)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := StartReprise(t.Context(), "", t.TempDir(), machines)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]System{"raw": raw, "reprise": ours} {
		for range 2 { // a system is measured again and again
			m, err := s.Run(t.Context(), actions)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if m.Actions < actions-1 || m.Actions > machines*(actions-1) || len(m.RoundTrips) != machines*(actions-1) || m.CPU <= 0 || m.Took <= 0 {
				t.Errorf("%s: %d actions and %v of CPU in %v, %d round trips", name, m.Actions, m.CPU, m.Took, len(m.RoundTrips))
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
	if got := ours.Sizes(); got.Dispatch < 450 || got.Dispatch > 550 || got.Report < 250 || got.Report > 350 {
		t.Errorf("messages of %+v bytes; the raw stream's have 500 and 300", got)
	}
}

func TestAProfileIsOfTheServer(t *testing.T) {
	ours, err := StartReprise(t.Context(), "", t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cpu.pprof")
	if err := ours.Profile(t.Context(), 5, path); err != nil {
		t.Error(err)
	}
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAServerThatCannotServeSaysSo(t *testing.T) {
	if _, err := StartReprise(t.Context(), filepath.Join(t.TempDir(), "missing"), t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a program that is not there: %v", err)
	}
	if err := Serve(t.Context(), "nonsense", strings.NewReader(""), os.Stdout); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a system that is not there: %v", err)
	}
}
