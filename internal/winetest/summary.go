package winetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Counts says how the tests of a run ended. A test with subtests counts by them, and
// itself only when it fails and none of them does.
type Counts struct{ Passed, Failed, Skipped int }

// Run is how many were run.
func (c Counts) Run() int { return c.Passed + c.Failed + c.Skipped }

// Summary is what became of a run of go test.
type Summary struct {
	Total  Counts
	Failed bool // of a package, whether or not a test of it did
}

// Summarize reads what go test -json says and writes a line for each package, each
// skipped test with its reason, each failed one with its output, and the total. What
// is no JSON, such as a compiler's word, is passed on.
func Summarize(in io.Reader, out io.Writer) (Summary, error) {
	s := summarizer{out: out, tests: map[testName]*testRun{}, packages: map[string]*strings.Builder{}}
	d := json.NewDecoder(in)
	for {
		var e testEvent
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.sum, fmt.Errorf("read the run of the tests: %w", err)
		}
		s.take(e)
	}
	t := s.sum.Total
	s.printf("total: %d tests run, %d passed, %d failed, %d skipped\n", t.Run(), t.Passed, t.Failed, t.Skipped)
	if len(s.packages) > 0 {
		s.sum.Failed = true
		for p := range s.packages {
			s.printf("%s did not end\n", p)
		}
	}
	return s.sum, s.err
}

// testEvent is one event of go test -json: see go doc test2json.
type testEvent struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

type testName struct{ pkg, test string }

type testRun struct {
	output      strings.Builder
	parent      bool // it has subtests
	childFailed bool
	ended       string // "pass", "fail", "skip"; empty: it did not end
}

type summarizer struct {
	out      io.Writer
	err      error
	tests    map[testName]*testRun
	order    []testName
	packages map[string]*strings.Builder // those that run: what they say outside of tests
	sum      Summary
}

func (s *summarizer) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, format, args...)
	}
}

func (s *summarizer) take(e testEvent) {
	name := testName{e.Package, e.Test}
	switch {
	case e.Package == "":
		s.printf("%s", e.Output) // of the compiler
	case e.Test == "" && e.Action == "start":
		s.packages[e.Package] = &strings.Builder{}
	case e.Test == "" && e.Action == "output":
		if b := s.packages[e.Package]; b != nil {
			b.WriteString(e.Output)
		}
	case e.Test == "":
		s.endPackage(e)
	case e.Action == "run":
		s.tests[name] = &testRun{}
		s.order = append(s.order, name)
		for _, p := range s.parents(name) {
			p.parent = true
		}
	case s.tests[name] == nil:
	case e.Action == "output":
		s.tests[name].output.WriteString(e.Output)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		s.tests[name].ended = e.Action
		if e.Action == "fail" {
			for _, p := range s.parents(name) {
				p.childFailed = true
			}
		}
	}
}

// parents are the tests that a subtest is in.
func (s *summarizer) parents(name testName) (list []*testRun) {
	for at := name.test; ; {
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return list
		}
		at = at[:i]
		if run := s.tests[testName{name.pkg, at}]; run != nil {
			list = append(list, run)
		}
	}
}

// endPackage says how a package did, and forgets it.
func (s *summarizer) endPackage(e testEvent) {
	if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return
	}
	var c Counts
	var told strings.Builder
	rest := s.order[:0]
	for _, name := range s.order {
		if name.pkg != e.Package {
			rest = append(rest, name)
			continue
		}
		run := s.tests[name]
		delete(s.tests, name)
		c.add(run)
		switch {
		case run.ended == "skip":
			fmt.Fprintf(&told, "    skipped %s: %s\n", name.test, reason(run.output.String()))
		case run.ended != "pass":
			fmt.Fprintf(&told, "    failed %s\n%s", name.test, indent(run.output.String()))
		}
	}
	s.order = rest
	outside := s.packages[e.Package]
	delete(s.packages, e.Package)
	s.sum.Total.Passed += c.Passed
	s.sum.Total.Failed += c.Failed
	s.sum.Total.Skipped += c.Skipped
	word := map[string]string{"pass": "ok", "fail": "FAIL", "skip": "none"}[e.Action]
	s.printf("%-4s %s: %d run, %d passed, %d failed, %d skipped, %v\n%s", word, e.Package, c.Run(), c.Passed, c.Failed, c.Skipped,
		time.Duration(e.Elapsed*float64(time.Second)).Round(100*time.Millisecond), told.String())
	if e.Action == "fail" {
		s.sum.Failed = true
		if outside != nil {
			s.printf("%s", indent(outside.String()))
		}
	}
}

func (c *Counts) add(run *testRun) {
	switch {
	case run.parent && (run.ended == "pass" || run.childFailed):
	case run.ended == "pass":
		c.Passed++
	case run.ended == "skip":
		c.Skipped++
	default:
		c.Failed++
	}
}

// reason is why a test was skipped: its output without the frame of the test.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, after, found := strings.Cut(line, ".go:"); found {
			if _, text, ok := strings.Cut(after, ": "); ok {
				line = text
			}
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return "without a reason"
	}
	return strings.Join(said, " ")
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("        " + strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}
