package mutants

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mistake is one in the program that stands in for the simulator and its core.
func mistake(name, now string) Mutant {
	return Mutant{Name: name, Promise: "X1", File: "core/core.go", Old: "seed > 0", New: now}
}

func hunt(t *testing.T, seeds int) Hunt {
	t.Helper()
	return Hunt{Root: filepath.Join("testdata", "standin"), Program: "./cmd/sim", Scratch: t.TempDir(), Seeds: seeds, Limit: time.Minute}
}

func TestAMistakeIsCaughtByTheFirstScheduleThatShowsIt(t *testing.T) {
	h, m := hunt(t, 300), mistake("fails-late", "seed != 123")
	want := Result{Mutant: m, Caught: true, Seeds: 123, By: "X1 it keeps nothing"}
	if diff := cmp.Diff(want, h.Catch(t.Context(), m)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	source, err := os.ReadFile(filepath.Join(h.Root, "core", "core.go"))
	if err != nil || !strings.Contains(string(source), m.Old) {
		t.Errorf("the code itself was changed: %v", err)
	}
}

func TestWhatNoScheduleShowsIsNotCaught(t *testing.T) {
	m := mistake("shows-later", "seed != 301")
	want := Result{Mutant: m, Seeds: 300}
	if diff := cmp.Diff(want, hunt(t, 300).Catch(t.Context(), m)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A crash, an endless loop and a mistake in the mutant show nothing of the simulator.
func TestOnlyABrokenPromiseCatches(t *testing.T) {
	for _, c := range []struct{ mutant, now, want string }{
		{"crashes", `1/(seed-seed) > 0`, "names no broken promise"},
		{"never-ends", `func() bool { for { } }()`, "does not end"},
		{"does-not-compile", `seed >`, "does not compile"},
	} {
		t.Run(c.mutant, func(t *testing.T) {
			h := hunt(t, 10)
			if c.mutant == "never-ends" {
				h.Limit = 200 * time.Millisecond
			}
			res := h.Catch(t.Context(), mistake(c.mutant, c.now))
			if res.Caught || res.Err == nil || !strings.Contains(res.Err.Error(), c.want) {
				t.Errorf("caught: %v, error: %v; want %q", res.Caught, res.Err, c.want)
			}
		})
	}
}

func TestAnOriginalThatBreaksAPromiseStopsTheHunt(t *testing.T) {
	if err := hunt(t, 10).Original(t.Context()); err != nil {
		t.Errorf("a sound original: %v", err)
	}
	unsound := hunt(t, 10)
	unsound.Root = t.TempDir()
	if err := os.CopyFS(unsound.Root, os.DirFS(filepath.Join("testdata", "standin"))); err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(unsound.Root, "core", "core.go")
	source, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(core, []byte(strings.Replace(string(source), "seed > 0", "seed != 7", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unsound.Original(t.Context()); err == nil || !strings.Contains(err.Error(), "seed 7: X1") {
		t.Errorf("an unsound original: %v", err)
	}
}

func TestResultsComeInTheOrderOfTheList(t *testing.T) {
	list := []Mutant{mistake("first", "seed != 40"), mistake("second", "seed > 0 || true"), mistake("third", "seed != 1")}
	var names []string
	caught := hunt(t, 50).Each(t.Context(), list, 2, func(r Result) { names = append(names, r.Mutant.Name) })
	if diff := cmp.Diff([]string{"first", "second", "third"}, names); diff != "" || caught != 2 {
		t.Errorf("%d caught, want 2; (-want +got)\n%s", caught, diff)
	}
}

func TestAHuntEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	if res := hunt(t, 10).Catch(ctx, mistake("late", "seed != 1")); res.Err == nil || res.Caught {
		t.Errorf("a hunt that was stopped: %+v", res)
	}
}
