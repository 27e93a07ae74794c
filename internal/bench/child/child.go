// Package child runs a server in a process of its own, so that what it uses of the
// processor can be told apart from what the load uses. Parent and child talk over
// the child's standard input and output, one line each way at a time.
package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// What a parent asks. The child ends when its input does.
const (
	askCPU        = "cpu"        // answered with the nanoseconds used so far
	askProfile    = "profile "   // and the file to write to; answered with done
	askEndProfile = "endprofile" // answered with done
	done          = "done"
)

// Attend tells the parent the server's address and then answers what it asks on in,
// until in ends or ctx does.
func Attend(ctx context.Context, in io.Reader, out io.Writer, address string) error {
	if _, err := fmt.Fprintln(out, address); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	var p profile
	for lines.Scan() && ctx.Err() == nil {
		answer, err := p.answer(lines.Text())
		if err != nil {
			return errors.Join(fmt.Errorf("child: %s: %w", lines.Text(), err), p.end())
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return errors.Join(err, p.end())
		}
	}
	return errors.Join(lines.Err(), p.end())
}

// profile is the profile that is being written. The zero value is none.
type profile struct{ file *os.File }

func (p *profile) answer(line string) (string, error) {
	switch {
	case line == askCPU:
		used, err := cpuTime()
		return strconv.FormatInt(int64(used), 10), err
	case strings.HasPrefix(line, askProfile):
		return done, p.begin(strings.TrimPrefix(line, askProfile))
	case line == askEndProfile:
		return done, p.end()
	}
	return "", errors.New("not known")
}

func (p *profile) begin(path string) (err error) {
	if err := p.end(); err != nil {
		return err
	}
	if p.file, err = os.Create(path); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.file)
}

func (p *profile) end() error {
	if p.file == nil {
		return nil
	}
	pprof.StopCPUProfile()
	file := p.file
	p.file = nil
	return file.Close()
}

// Server is a child, seen from its parent. It is used by one goroutine at a time.
type Server struct {
	Address string

	in  io.WriteCloser
	out *bufio.Reader
}

// CPU returns the processor time that the server has used since its start.
func (s *Server) CPU() (time.Duration, error) {
	line, err := s.ask(askCPU)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("child: %w", err)
	}
	return time.Duration(n), nil
}

// Profile makes the server write a profile of its processor time to a file, until
// EndProfile.
func (s *Server) Profile(path string) error {
	_, err := s.ask(askProfile + path)
	return err
}

// EndProfile completes the profile.
func (s *Server) EndProfile() error {
	_, err := s.ask(askEndProfile)
	return err
}

func (s *Server) ask(line string) (string, error) {
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		return "", fmt.Errorf("child: ask for %s: %w", line, err)
	}
	answer, err := s.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("child: ask for %s: %w", line, err)
	}
	return strings.TrimSpace(answer), nil
}
