// Package report says what was measured: the middle of some repetitions, how far
// apart they lie, and whether a goal is met. A goal is about a ratio of two things
// that were measured in the same run, since machines differ and are noisy.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Goal is a limit for a ratio.
type Goal struct {
	Name    string    // such as N1
	What    string    // what is divided by what
	Ratios  []float64 // one per repetition; none: it could not be measured
	Limit   float64
	AtLeast bool   // the limit is the least that is wanted, not the most
	Missing string // why there are no ratios
}

// Met says whether the median keeps the limit. What was not measured is not met.
func (g Goal) Met() bool {
	if len(g.Ratios) == 0 {
		return false
	}
	if g.AtLeast {
		return Median(g.Ratios) >= g.Limit
	}
	return Median(g.Ratios) <= g.Limit
}

// Fact is something measured that no goal is about by itself.
type Fact struct {
	What   string
	Unit   string
	Values []float64 // one per repetition
}

// Section is what one measurement gave.
type Section struct {
	Goals []Goal
	Facts []Fact
}

// Durations returns a fact in microseconds.
func Durations(what string, ds []time.Duration) Fact {
	f := Fact{What: what, Unit: "µs"}
	for _, d := range ds {
		f.Values = append(f.Values, float64(d)/float64(time.Microsecond))
	}
	return f
}

// Write writes the goals as a table and then the facts as another one.
func Write(w io.Writer, sections ...Section) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")) } // Flush says what went wrong
	if slices.ContainsFunc(sections, func(s Section) bool { return len(s.Goals) > 0 }) {
		row("GOAL", "WHAT", "RATIO", "SPREAD", "LIMIT", "")
	}
	for _, s := range sections {
		for _, g := range s.Goals {
			if len(g.Ratios) == 0 {
				row(g.Name, g.What, "-", "-", g.limit(), "not measured: "+g.Missing)
				continue
			}
			row(g.Name, g.What, fmt.Sprintf("%.2f", Median(g.Ratios)), spread(g.Ratios, "%.2f"), g.limit(), verdict(g.Met()))
		}
	}
	row()
	row("", "MEASURED IN THIS RUN", "MEDIAN", "SPREAD", "")
	for _, s := range sections {
		for _, f := range s.Facts {
			format := "%.0f"
			if len(f.Values) > 0 && Median(f.Values) < 10 {
				format = "%.2f"
			}
			row("", f.What, fmt.Sprintf(format, Median(f.Values)), spread(f.Values, format), f.Unit)
		}
	}
	return t.Flush()
}

func (g Goal) limit() string {
	if g.AtLeast {
		return fmt.Sprintf("≥ %.2f", g.Limit)
	}
	return fmt.Sprintf("≤ %.2f", g.Limit)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "not met"
}

func spread(values []float64, format string) string {
	if len(values) == 0 {
		return "-"
	}
	return fmt.Sprintf(format+" to "+format, slices.Min(values), slices.Max(values))
}

// Median returns the middle of some values, 0 when there are none. Of an even
// number it is the mean of the two in the middle.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[half]
}

// Quantile returns the least of the durations that at least the share q, from 0 to
// 1, of them does not exceed; 0 when there are none.
func Quantile(ds []time.Duration, q float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	at := int(q*float64(len(sorted))+0.999999999) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
