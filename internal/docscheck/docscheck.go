// Package docscheck finds out whether the pages for users tell the truth: it
// runs their commands and compares what comes out, reads their snippets with
// what the product reads them with, and follows their links. It decides nothing
// about style.
//
// Per page, in the page's order:
//
//   - ```sh blocks run as one shell session in a folder of the page's own, with
//     the programs in front of PATH. A command that fails fails the page.
//   - A ```text block after a ```sh block is its whole output. `…` stands for
//     anything on a line, and alone on a line for any number of lines. Ids,
//     digests, times and durations may differ.
//   - A ```yaml block with actions is a workflow; others are YAML. ```json is JSON.
//     ```proto lines stand in the schema. ```go lines stand in the file that the
//     page names.
//   - Relative links and their anchors lead somewhere. Commands of the programs,
//     in backticks or blocks, those of Windows' ```cmd among them, exist with all their flags.
//
// The addresses, folders and users that pages write are private ones of the run: a
// page says 127.0.0.1:7443 and /tmp/reprise, and disturbs nobody who uses them. It
// begins on an empty host: /etc/reprise and /var/lib/reprise are there once the page
// has made them. What it does as the users reprise and clerk is done as nobody, who
// may read and write as little as they; by the user that runs the check when that one
// is not root.
//
// Comments before a block say what is different about it; nobody who reads the
// page sees them:
//
//	<!-- docs-check: skip: why -->            not run; listed at the end
//	<!-- docs-check: background until: RE --> a terminal of its own: goes on while the
//	                                          page does, once a line matches
//	<!-- docs-check: exits 5 -->              the last command ends so
//	<!-- docs-check: until: RE -->            as often as it takes for the output to match
//	<!-- docs-check: settings of PROGRAM -->  a configuration file that it must take
//	<!-- docs-check: from FILE -->            Go lines that stand in FILE, in order
//	<!-- docs-check: in the repository -->    the page's commands run in its root
//
// A comment whose first line ends in `run`, `background until: RE` and so on, and
// that has further lines, is a block of its own that only the check sees.
package docscheck

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Config says what is checked with what.
type Config struct {
	Root  string // the repository
	Bin   string // folder with the programs
	Limit time.Duration
}

// Fault is one thing that a page says and that is not so.
type Fault struct {
	Page    string
	Line    int
	Message string
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.Page, f.Line, f.Message) }

// Skipped is a block that is not run, and why.
type Skipped struct {
	Page   string
	Line   int
	Reason string
}

// Result is what was found out about one page.
type Result struct {
	Page                                     string
	Run, Compared, Snippets, Links, Commands int
	Faults                                   []Fault
	Skipped                                  []Skipped
	Took                                     time.Duration
}

// Line sums the result up in one line.
func (r Result) Line() string {
	verdict := "ok"
	if n := len(r.Faults); n > 0 {
		verdict = fmt.Sprintf("%d WRONG", n)
	}
	return fmt.Sprintf("%-46s %2d blocks run, %2d outputs compared, %2d snippets, %3d links, %2d commands, %d skipped, %5.1f s  %s",
		r.Page, r.Run, r.Compared, r.Snippets, r.Links, r.Commands, len(r.Skipped), r.Took.Seconds(), verdict)
}

// checker collects what is found out about one page.
type checker struct {
	config Config
	page   page
	result Result
}

func (c *checker) fault(line int, format string, args ...any) {
	c.result.Faults = append(c.result.Faults, Fault{Page: c.page.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Check checks the page at path, which is relative to the root. An error says
// that it could not be checked at all.
func Check(ctx context.Context, config Config, path string) (Result, error) {
	data, err := os.ReadFile(filepath.Join(config.Root, path))
	if err != nil {
		return Result{}, fmt.Errorf("docscheck: %w", err)
	}
	began := time.Now()
	c := &checker{config: config, page: parse(path, string(data))}
	c.result.Page = path
	for _, b := range c.page.blocks {
		if b.kind() == wrongDirective {
			c.fault(b.line, "no such directive: %q", b.directive)
		}
	}
	c.links()
	c.snippets(ctx)
	c.commands(ctx)
	if err := c.run(ctx); err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(c.result.Faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	c.result.Took = time.Since(began)
	return c.result, nil
}
