package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Hunt says where mutants are hunted, and how long.
type Hunt struct {
	Root    string        // the module's root
	Program string        // the simulator's package, such as ./internal/sim/cmd/sim
	Scratch string        // a folder for what is built
	Seeds   int           // schedules at most, those of the seeds from 1
	Limit   time.Duration // the longest that one program may run
}

// Result is what became of one mutant.
type Result struct {
	Mutant Mutant
	Caught bool
	Seeds  int    // schedules up to the one that caught it; without one, all that ran
	By     string // what the simulator says is broken
	Err    error  // why nothing can be said: it does not compile, for example
}

// Original runs the simulator without any mistake. It fails when that breaks a
// promise as well: whatever catches everything has caught nothing.
func (h Hunt) Original(ctx context.Context) error {
	program, err := h.build(ctx, "original", nil)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(program) }()
	verdict, err := h.run(ctx, program, 1, h.Seeds)
	if err == nil && verdict.broken != "" {
		err = fmt.Errorf("without any mistake, seed %d: %s", verdict.seed, verdict.broken)
	}
	return err
}

// Catch runs the simulator with one mistake in it, over more and more schedules
// until one breaks a promise.
func (h Hunt) Catch(ctx context.Context, m Mutant) Result {
	res := Result{Mutant: m}
	program, err := h.mutate(ctx, m)
	if err != nil {
		res.Err = err
		return res
	}
	defer func() { _ = os.Remove(program) }()
	for size := 50; res.Seeds < h.Seeds; size *= 4 {
		size = min(size, h.Seeds-res.Seeds)
		first := res.Seeds + 1
		verdict, err := h.run(ctx, program, first, size)
		switch {
		case err != nil:
			res.Err = err
			return res
		case verdict.broken != "":
			res.Caught, res.By, res.Seeds = true, verdict.broken, verdict.seed
			return res
		}
		res.Seeds += size
	}
	return res
}

// mutate builds the simulator with a mistake in it. The file itself stays as it
// is: the compiler reads another one in its place.
func (h Hunt) mutate(ctx context.Context, m Mutant) (string, error) {
	file, err := filepath.Abs(filepath.Join(h.Root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	changed, err := m.Apply(source)
	if err != nil {
		return "", err
	}
	instead := filepath.Join(h.Scratch, m.Name+".go")
	if err := os.WriteFile(instead, changed, 0o600); err != nil {
		return "", err
	}
	return h.build(ctx, m.Name, map[string]string{file: instead})
}

// build compiles the simulator with some files replaced.
func (h Hunt) build(ctx context.Context, name string, replace map[string]string) (string, error) {
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list, program := filepath.Join(h.Scratch, name+".json"), filepath.Join(h.Scratch, name+".bin")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", list, "-o", program, h.Program)
	cmd.Dir = h.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutant %s does not compile: %w\n%s", name, err, out)
	}
	return program, nil
}

// verdict is what the simulator found.
type verdict struct {
	broken string // empty: nothing
	seed   int    // the schedule that broke it
}

// run runs a simulator over some schedules. Only a broken promise that the
// simulator names is a verdict: a program that crashes or does not end has caught
// nothing.
func (h Hunt) run(ctx context.Context, program string, first, seeds int) (verdict, error) {
	bounded, cancel := context.WithTimeout(ctx, h.Limit)
	defer cancel()
	cmd := exec.CommandContext(bounded, program, "--first", strconv.Itoa(first), "--seeds", strconv.Itoa(seeds), "--shrink=false")
	cmd.Dir = h.Root
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return verdict{}, nil
	case ctx.Err() != nil:
		return verdict{}, context.Cause(ctx)
	case bounded.Err() != nil:
		return verdict{}, fmt.Errorf("the simulator does not end within %v\n%s", h.Limit, tail(out))
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		if v, ok := read(string(out)); ok {
			return v, nil
		}
	}
	return verdict{}, fmt.Errorf("the simulator failed and names no broken promise: %w\n%s", err, tail(out))
}

var (
	brokenLine = regexp.MustCompile(`(?m)^broken: (.+)$`)
	seedWord   = regexp.MustCompile(`(?m)\bseed[ =](\d+)\b`)
)

// read finds the broken promise and its seed in what the simulator printed.
func read(out string) (verdict, bool) {
	broken := brokenLine.FindAllStringSubmatch(out, -1)
	seed := seedWord.FindStringSubmatch(out)
	if len(broken) == 0 || seed == nil {
		return verdict{}, false
	}
	n, err := strconv.Atoi(seed[1])
	return verdict{broken: strings.TrimSpace(broken[len(broken)-1][1]), seed: n}, err == nil
}

// tail returns the end of what a program printed.
func tail(out []byte) string {
	const most = 2000
	return strings.TrimSpace(string(out[max(0, len(out)-most):]))
}
