package testkit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// ErrGone says that a program ended before what was waited for happened.
var ErrGone = errors.New("the program has ended")

// Process is a program that was started here, with all that it prints.
type Process struct {
	Name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; read after done

	mu    sync.Mutex
	lines []string
	news  chan struct{} // closed and replaced at each line
}

// Start starts a program. What it prints is kept, and copied to log if that is
// not nil. It ends with ctx at the latest.
func Start(ctx context.Context, name string, log io.Writer, env []string, program string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	p := &Process{Name: name, cmd: cmd, done: make(chan struct{}), news: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	read := make(chan struct{})
	go func() { defer close(read); p.read(out, log) }()
	go func() {
		p.err = cmd.Wait()
		_ = in.Close()
		<-read
		close(p.done)
	}()
	return p, nil
}

func (p *Process) read(out io.Reader, log io.Writer) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n') // of any length: nobody else would read on
		if line = strings.TrimRight(line, "\r\n"); err != nil && line == "" {
			return
		}
		if log != nil {
			_, _ = fmt.Fprintf(log, "%s %s\n", p.Name, line)
		}
		p.mu.Lock()
		p.lines = append(p.lines, line)
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Line waits for a line that contains text and returns it.
func (p *Process) Line(ctx context.Context, text string) (string, error) {
	for seen := 0; ; {
		over := false // asked first: what it said before its end is looked through then
		select {
		case <-p.done:
			over = true
		default:
		}
		p.mu.Lock()
		lines, news := p.lines[seen:], p.news
		seen = len(p.lines)
		p.mu.Unlock()
		for _, l := range lines {
			if strings.Contains(l, text) {
				return l, nil
			}
		}
		if over {
			return "", fmt.Errorf("%s: %w; it said: %s", p.Name, p.gone(), p.Output())
		}
		select {
		case <-news:
		case <-p.done:
		case <-ctx.Done():
			return "", fmt.Errorf("%s: waiting for %q: %w", p.Name, text, context.Cause(ctx))
		}
	}
}

// gone is ErrGone, with the exit error if there is one.
func (p *Process) gone() error {
	if p.err == nil {
		return ErrGone
	}
	return fmt.Errorf("%w: %w", ErrGone, p.err)
}

// Output returns what the process has printed so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Kill ends the process with SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Terminate asks the process to end with SIGTERM and returns what came of it.
func (p *Process) Terminate(ctx context.Context) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.Wait(ctx)
}

// Wait waits for the end and returns the exit error, or ctx's.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.done }
