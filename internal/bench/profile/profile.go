// Package profile tells where a server's processor time went: by function, as
// `go tool pprof` has it, and by package, which it sums up itself.
package profile

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Share is a package's part of a profile.
type Share struct {
	Package string
	Own     time.Duration // in its own code
	Total   time.Duration // in its own code and what that called
}

// Print writes the first lines of a profile, by function and by package.
func Print(ctx context.Context, w io.Writer, path string, lines int) error {
	top, err := pprof(ctx, "-top", fmt.Sprintf("-nodecount=%d", lines), path)
	if err != nil {
		return err
	}
	traces, err := pprof(ctx, "-traces", path)
	if err != nil {
		return err
	}
	total, shares, err := ByPackage(traces)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n%12s %7s %7s  package\n", top, "", "own", "total"); err != nil {
		return err
	}
	for _, s := range shares[:min(lines, len(shares))] {
		if _, err := fmt.Fprintf(w, "%12s %6.1f%% %6.1f%%  %s\n", "", percent(s.Own, total), percent(s.Total, total), s.Package); err != nil {
			return err
		}
	}
	return nil
}

func percent(part, whole time.Duration) float64 {
	return 100 * float64(part) / float64(max(1, whole))
}

func pprof(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof"}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("profile: go tool pprof %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// ByPackage sums up the stacks that `pprof -traces` prints, the greatest total
// first. A package counts once for a stack, however often it is on it.
func ByPackage(traces string) (total time.Duration, shares []Share, err error) {
	byName := map[string]*Share{}
	var took time.Duration
	var seen map[string]bool // of the stack that is being read; nil: none is
	lines := bufio.NewScanner(strings.NewReader(traces))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if strings.HasPrefix(lines.Text(), "-----------+") {
			seen = map[string]bool{}
			continue
		}
		if seen == nil || len(fields) == 0 {
			continue
		}
		leaf := len(seen) == 0
		if leaf { // the stack's time stands before its innermost function
			if took, err = time.ParseDuration(fields[0]); err != nil || len(fields) < 2 {
				return 0, nil, fmt.Errorf("profile: %q is no stack of a time profile: %w", lines.Text(), err)
			}
			total, fields = total+took, fields[1:]
		}
		name := packageOf(fields[0])
		if byName[name] == nil {
			byName[name] = &Share{Package: name}
		}
		if leaf {
			byName[name].Own += took
		}
		if !seen[name] {
			byName[name].Total += took
		}
		seen[name] = true
	}
	for _, s := range byName {
		shares = append(shares, *s)
	}
	slices.SortFunc(shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Package, b.Package))
	})
	return total, shares, lines.Err()
}

// packageOf returns the package of a function as a profile names it, such as
// a/b.(*T).f or a/b.f[go.shape.int].
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[")
	path, last := "", function
	if slash := strings.LastIndexByte(function, '/'); slash >= 0 {
		path, last = function[:slash+1], function[slash+1:]
	}
	last, _, _ = strings.Cut(last, ".")
	return path + last
}
