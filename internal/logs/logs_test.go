package logs

import (
	"bytes"
	"strings"
	"testing"
)

func TestALoggerKeepsToItsLevelAndFormat(t *testing.T) {
	var out bytes.Buffer
	log, err := New(&out, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud")
	if got := out.String(); strings.Contains(got, "quiet") || !strings.Contains(got, `"msg":"loud"`) {
		t.Errorf("logged %q", got)
	}
	if _, err := New(&out, "shout", "text"); err == nil {
		t.Error("an unknown level is taken")
	}
}
