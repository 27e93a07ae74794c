package drivertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Xvfb starts an X display of its own, whose screen has a size such as 1280x800x24, and
// ends it with the test. It returns the display's name and its process.
func Xvfb(t testing.TB, size string) (display string, process *os.Process) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "Xvfb", "-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	if err = cmd.Start(); err != nil {
		t.Fatalf("Xvfb: %v", err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	return ":" + strings.TrimSpace(number), cmd.Process
}
