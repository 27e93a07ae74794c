package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/internal/sim/mutants"
)

func TestTheListHasALineForEveryMutant(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--list"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(mutants.All()) {
		t.Fatalf("%d lines for %d mutants", len(lines), len(mutants.All()))
	}
	for i, m := range mutants.All() {
		if !strings.HasPrefix(lines[i], m.Name+" ") || !strings.Contains(lines[i], m.Promise) {
			t.Errorf("line %d is %q, not of %s", i+1, lines[i], m.Name)
		}
	}
}

func TestOnlyHuntsWhatIsNamed(t *testing.T) {
	all := mutants.All()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--list", "--only", all[3].Name + "," + all[1].Name}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], all[3].Name+" ") || !strings.HasPrefix(lines[1], all[1].Name+" ") {
		t.Errorf("%q", lines)
	}
}

func TestBadArgumentsHuntNothing(t *testing.T) {
	for _, args := range [][]string{{"--only", "no-such-mutant"}, {"--seeds", "0"}, {"--parallel", "0"}, {"--limit", "0s"}, {"--nonsense"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%q: %v, %q", args, err, out.String())
		}
	}
}

func TestALineSaysWhetherAndByWhat(t *testing.T) {
	m := mutants.Mutant{Name: "a-mistake", Promise: "I7: order"}
	for _, c := range []struct {
		res  mutants.Result
		want string
	}{
		{mutants.Result{Mutant: m, Caught: true, Seeds: 12, By: "I7 out of order"}, "caught after   12 schedules: I7 out of order"},
		{mutants.Result{Mutant: m, Seeds: 3000}, "NOT CAUGHT in 3000 schedules; it breaks I7: order"},
		{mutants.Result{Mutant: m, Err: errors.New("does not compile")}, "NOT CAUGHT: does not compile"},
	} {
		if got := line(c.res); !strings.HasPrefix(got, "a-mistake ") || !strings.HasSuffix(got, c.want) {
			t.Errorf("line = %q, want %q", got, c.want)
		}
	}
}
