package main

import (
	"strings"
	"testing"
	"time"
)

func TestBothGoalsArePrintedWithWhetherTheyAreMet(t *testing.T) {
	var out strings.Builder
	args := []string{"-reps=1", "-machines=50", "-replays=5", "-spread=50ms", "-sweep-every=50ms", "-cpuprofile=" + t.TempDir() + "/cpu"}
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	goals := map[string]int{}
	for line := range strings.Lines(out.String()) {
		cells := strings.Fields(line)
		goals[cells[0]]++
		if strings.HasPrefix(line, "N") && !strings.HasSuffix(strings.TrimSpace(line), "met") && !strings.HasSuffix(strings.TrimSpace(line), "NOT MET") {
			t.Errorf("a goal says not whether it is met: %q", line)
		}
	}
	if goals["N5"] != 2 || goals["N6"] != 1 {
		t.Errorf("the table has not two lines of N5 and one of N6:\n%s", out.String())
	}
}

func TestAGoalIsMetUpToItsLimit(t *testing.T) {
	for got, want := range map[time.Duration]bool{time.Millisecond: true, time.Millisecond + 1: false} {
		var out strings.Builder
		table := newTable(&out)
		compare(table, "N0", "something", got, time.Millisecond)
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		if met := !strings.Contains(out.String(), "NOT MET"); met != want {
			t.Errorf("%v against 1 ms: met is %v", got, met)
		}
	}
}

func TestTheMedianIsTheMiddle(t *testing.T) {
	if got := median([]int{9, 1, 4}, func(n int) int { return n }); got != 4 {
		t.Errorf("median = %d", got)
	}
}
