package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// maxFaults bounds what one file can say about itself; nobody reads more.
const maxFaults = 50

// Position is a place in a file; line and column count from 1, the column in
// characters.
type Position struct{ Line, Column int }

func positionOf(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{Line: 1, Column: 1}
	}
	return Position{Line: t.Position.Line, Column: t.Position.Column}
}

// extent is how many characters each line of a file has.
type extent []int

func extentOf(text string) extent {
	lines := strings.Split(text, "\n")
	size := make(extent, len(lines))
	for i, line := range lines {
		size[i] = utf8.RuneCountInString(strings.TrimSuffix(line, "\r"))
	}
	return size
}

// hold returns the place itself when it is in the file, else the nearest one
// that is: the YAML parser puts what is missing at the end beyond it.
func (e extent) hold(at Position) Position {
	line := min(max(at.Line, 1), len(e))
	if at.Line > line {
		return Position{Line: line, Column: e[line-1] + 1}
	}
	return Position{Line: line, Column: min(max(at.Column, 1), e[line-1]+1)}
}

// Fault is one thing that is wrong with a workflow file. It never repeats the
// text that a workflow types.
type Fault struct {
	File string
	Position
	Message string
}

func (f Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Faults is all that is wrong with a workflow file, in the file's order.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// err returns the faults sorted, or nil when there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f
}
