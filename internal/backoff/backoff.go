// Package backoff decides how long to wait before the next attempt to connect.
// It is pure: the caller brings the random number and the time a session lived,
// and does the waiting.
package backoff

import (
	"errors"
	"fmt"
	"time"
)

// Policy is a list of ever longer waits. The zero value is Default.
type Policy struct {
	// Steps bound the wait after the first failure in a row, the second, and so
	// on; the last one serves all further failures.
	Steps []time.Duration
	// Stable is how long a session must live before failures are counted anew. A
	// session that opens and dies at once is one more failure: else a crowd that
	// is thrown out together comes back together for ever. 0 means the last step.
	Stable time.Duration
}

// Default returns the waits of 1, 2, 5, 10 and 15 seconds.
func Default() Policy {
	return Policy{Steps: []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	}}
}

// Validate reports every step that is not positive or shorter than the one
// before it.
func (p Policy) Validate() error {
	var errs []error
	for i, step := range p.Steps {
		if step <= 0 {
			errs = append(errs, fmt.Errorf("backoff step %d is %v; it must be positive", i+1, step))
		}
		if i > 0 && step < p.Steps[i-1] {
			errs = append(errs, fmt.Errorf("backoff step %d is %v, shorter than the one before it", i+1, step))
		}
	}
	return errors.Join(errs...)
}

// Failures returns the number of failures in a row, given the number before a
// session and how long that session lived; 0 means that it never opened.
func (p Policy) Failures(before int, lived time.Duration) int {
	stable := p.Stable
	if stable <= 0 {
		stable = p.Longest()
	}
	if lived >= stable {
		return 1
	}
	return before + 1
}

// Wait returns how long to wait after so many failures in a row. It takes the
// whole range from nothing to the step (full jitter), by random in [0, 1), so
// that agents that failed together do not return together.
func (p Policy) Wait(failures int, random float64) time.Duration {
	if failures <= 0 {
		return 0
	}
	steps := p.steps()
	return time.Duration(random * float64(steps[min(failures, len(steps))-1]))
}

// Longest returns the last step.
func (p Policy) Longest() time.Duration {
	steps := p.steps()
	return steps[len(steps)-1]
}

func (p Policy) steps() []time.Duration {
	if len(p.Steps) == 0 {
		return Default().Steps
	}
	return p.Steps
}
