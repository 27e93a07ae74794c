package main

import (
	"strings"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// What a rule means, and what else it forbids, is shown in agent/limits.
func TestNoServerLiftsTheLimitsOfTheMachine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules string
		saved int
		code  reprisev1.ErrorCode
	}{
		"of this window": {"never-type-into:\n  - title: tools\n", 0, reprisev1.ErrorCode_ERROR_CODE_INPUT_BLOCKED},
		"of another one": {"never-type-into:\n  - title: vault\n", 1, reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED},
	} {
		d, p := newDesk(t), newPlane(t)
		start(t, args(t, p, d, "--limits-file", write(t, t.TempDir(), "limits.yaml", tt.rules))...)
		report := p.do(p.open(), "a", 1, save())
		if got := d.saved(); got != tt.saved {
			t.Errorf("%s: the button was clicked %d times", name, got)
		}
		if got := report.GetError().GetCode(); got != tt.code {
			t.Errorf("%s: reported %v", name, report)
		}
		if tt.saved == 0 && !strings.Contains(report.GetError().GetMessage(), "never-type-into[0]") {
			t.Errorf("%s: the message does not name the rule: %q", name, report.GetError().GetMessage())
		}
	}
}
