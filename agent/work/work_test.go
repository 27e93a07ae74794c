package work_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/work"
)

func TestTypedTextPrintsAsItsLengthOnly(t *testing.T) {
	const needle = "S3cr3t-needle-42"
	action := work.Action{Do: work.Type{Text: needle}}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("typing", "text", work.Text(needle))
	printed := fmt.Sprintf("%v %+v %#v %s", action, action, action, work.Text(needle)) + log.String()
	if strings.Contains(printed, needle) {
		t.Errorf("typed text was printed: %s", printed)
	}
	if !strings.Contains(printed, "[16 characters]") {
		t.Errorf("the length is missing: %s", printed)
	}
}

func TestAWarningIsNamedOnceAndTheOriginalStays(t *testing.T) {
	first := work.Outcome{}.Warned(work.NoScreenChange)
	second := first.Warned(work.AlreadyExecuted).Warned(work.AlreadyExecuted)
	if len(first.Warnings) != 1 || len(second.Warnings) != 2 {
		t.Errorf("first %v, second %v", first.Warnings, second.Warnings)
	}
}

func TestEverySettingHasADefault(t *testing.T) {
	got := fmt.Sprint(work.Settings{}.WithDefaults())
	const want = "{10s 1m0s 200ms 5s 1s 30s 0.95 10s 10s 33554432}"
	if got != want {
		t.Errorf("defaults %s, want %s", got, want)
	}
}
