//go:build x11

// The tests of this file and its neighbours need Xvfb and xterm; `make test-x11`
// runs them.

package x11desktop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startXvfb starts a display of its own on a number that the server picks, and
// ends it with the test.
func startXvfb(t *testing.T, size string) string {
	t.Helper()
	display, _ := startXvfbProcess(t, size)
	return display
}

func startXvfbProcess(t *testing.T, size string) (string, *os.Process) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.CommandContext(context.Background(), "Xvfb", "-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset")
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
	return fmt.Sprintf(":%s", strings.TrimSpace(number)), cmd.Process
}

func open(t *testing.T, config Config) *Driver {
	t.Helper()
	d, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
