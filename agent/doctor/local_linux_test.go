package doctor

import "testing"

func TestALogFileNeedsAFolderThatTakesFiles(t *testing.T) {
	if err := local(t).LogFile("/proc/logs/agent.log"); err == nil { // which takes none, not even root's
		t.Error("it can be written")
	}
}
