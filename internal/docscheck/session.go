package docscheck

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// session is one shell that a page's blocks run in, one after the other.
type session struct {
	cmd     *exec.Cmd
	scratch string
	in      io.WriteCloser
	out     *os.File
	reader  *bufio.Reader
	blocks  int
}

// errEnded says that the shell ended in the middle of a block.
var errEnded = errors.New("the shell ended")

// mark ends a block's output; what follows it on its line is the exit status.
const mark = "\x1e docs-check done "

// over ends the output of commands that should have gone on.
const over = "\x1e docs-check ended "

// open starts a shell in dir. It and all that it starts end with close.
func open(ctx context.Context, dir, scratch string, environment []string) (*session, error) {
	s := &session{scratch: scratch, cmd: exec.CommandContext(ctx, "bash", "--noprofile", "--norc")}
	s.cmd.Dir, s.cmd.Env = dir, environment
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Cancel = func() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("docscheck: %w", err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("docscheck: %w", err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	s.in, s.out, s.reader = in, out, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("docscheck: %w", err)
	}
	return s, w.Close() // the shell has its own end
}

// close ends the shell and what it left running.
func (s *session) close() {
	_ = s.in.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // the group may be gone already
	_ = s.cmd.Wait()                                      // killed, as it should be
	_ = s.out.Close()
}

// do runs commands and returns what they print and the status of the last one.
// A command that fails before the last one ends the shell, unless lenient.
func (s *session) do(commands string, lenient bool, limit time.Duration) (string, int, error) {
	s.blocks++
	file := filepath.Join(s.scratch, fmt.Sprintf("block-%d.sh", s.blocks))
	if err := os.WriteFile(file, []byte(commands), 0o600); err != nil {
		return "", 0, fmt.Errorf("docscheck: %w", err)
	}
	strict := "set -e"
	if lenient {
		strict = "set +e"
	}
	_, err := fmt.Fprintf(s.in, "%s; . '%s' </dev/null; printf '\\n%s%%d\\n' $?; set +e\n", strict, file, mark)
	if err != nil {
		return "", 0, errEnded
	}
	if err := s.out.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", 0, fmt.Errorf("docscheck: %w", err)
	}
	var out strings.Builder
	for {
		line, err := s.reader.ReadString('\n')
		if rest, ok := strings.CutPrefix(line, mark); ok {
			status := 0
			_, err := fmt.Sscanf(rest, "%d", &status)
			return strings.TrimSuffix(out.String(), "\n"), status, err
		}
		out.WriteString(line)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return out.String(), 0, fmt.Errorf("it did not end within %s", limit)
		case err != nil:
			return out.String(), 0, errEnded
		}
	}
}

// keep starts commands that go on, and returns once a line of theirs matches.
func (s *session) keep(ctx context.Context, commands string, ready *regexp.Regexp, limit time.Duration) (string, error) {
	s.blocks++
	file := filepath.Join(s.scratch, fmt.Sprintf("block-%d.sh", s.blocks))
	printed := file + ".out"
	if err := errors.Join(os.WriteFile(file, []byte("set -e\n"+commands), 0o600), os.WriteFile(printed, nil, 0o600)); err != nil {
		return "", fmt.Errorf("docscheck: %w", err)
	}
	if _, err := fmt.Fprintf(s.in, "{ ( . '%s' ); echo '%s'$?; } >'%s' 2>&1 </dev/null &\n", file, over, printed); err != nil {
		return "", errEnded
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		data, err := os.ReadFile(printed)
		if err != nil {
			return "", fmt.Errorf("docscheck: %w", err)
		}
		if ready.Match(data) {
			return string(data), nil
		}
		if bytes.Contains(data, []byte(over)) {
			return string(data), errors.New("it ended")
		}
		select {
		case <-ctx.Done():
			return string(data), fmt.Errorf("no line matched %q within %s", ready, limit)
		case <-look.C:
		}
	}
}
