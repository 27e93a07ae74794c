package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints a line per goal, and lines below it that explain it.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) *table {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.line("goal", "what", "measured", "limit", "")
	return t
}

// compare prints a goal, which is met when got is no more than the limit.
func compare[T time.Duration | float64](t *table, goal, what string, got, limit T) {
	met := "met"
	if got > limit {
		met = "NOT MET"
	}
	t.line(goal, what, show(got), show(limit), met)
}

func (t *table) note(what string, values ...any) {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = show(v)
	}
	t.line("", "  "+what, strings.Join(shown, " / "), "", "")
}

// line writes one line; what goes wrong with the writer shows at the end.
func (t *table) line(cells ...string) { _, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

func (t *table) flush() error { return t.w.Flush() }

func show(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return v.Round(max(10*time.Nanosecond, v/1000)).String()
	case float64:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprint(v)
}
