package service

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSettingsThatAreThereAreKeptUnlessForced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	for _, tt := range []struct {
		content string
		force   bool
		written bool
		want    string
	}{{"a", false, true, "a"}, {"b", false, false, "a"}, {"c", true, true, "c"}} {
		written, err := WriteConfig(path, []byte(tt.content), tt.force)
		got, _ := os.ReadFile(path)
		if err != nil || written != tt.written || string(got) != tt.want {
			t.Errorf("%+v: %v, %v, %q", tt, written, err, got)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := WriteConfig(filepath.Join(dir, "none", "agent.yaml"), nil, false); err == nil {
		t.Error("a folder that is not there is no fault")
	}
}
