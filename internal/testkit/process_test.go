package testkit

import (
	"errors"
	"strings"
	"testing"
)

// A program may say its last line and end before whoever waits for the line has looked.
func TestALineThatAProgramEndsWithIsFound(t *testing.T) {
	for range 5000 {
		p := &Process{Name: "p", done: make(chan struct{}), news: make(chan struct{})}
		go func() {
			p.read(strings.NewReader("one\nready\n"), nil)
			close(p.done)
		}()
		if line, err := p.Line(t.Context(), "ready"); line != "ready" {
			t.Fatalf("Line = %q, %v", line, err)
		}
		if _, err := p.Line(t.Context(), "never"); !errors.Is(err, ErrGone) {
			t.Fatalf("Line = %v, want %v", err, ErrGone)
		}
	}
}
