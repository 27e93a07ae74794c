package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/agent"
)

func TestASecretIsAFileOfTheFolderAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "secrets")
	for path, content := range map[string]string{inner + "/door": "sesame\n", inner + "/two": "a\nb\n", inner + "/empty": "\n", dir + "/outside": "x"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"door": "sesame", "two": "a\nb", "empty": "", "missing": "", "../outside": "", "..": "", ".": "", "/etc/passwd": "", "": "",
	} {
		got, err := agent.SecretsDir(inner).Secret(t.Context(), name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("the error of %q tells the folder: %v", name, err)
		}
	}
}
