package supervise

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// NewMachine returns this machine, whose helpers are started with the command, the
// program first. It reads its invitation on its standard input, by Dial.
func NewMachine(command []string) (Machine, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("supervise: a helper needs a command")
	}
	owner, err := winapi.System{}.OwnSID()
	if err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	return &machine{command: command, owner: owner}, nil
}

type machine struct {
	system  winapi.System
	command []string
	owner   string // of the pipes: this process's user
}

// Sessions implements Machine.
func (m *machine) Sessions() ([]Session, error) {
	list, err := m.system.LogonSessions()
	if err != nil {
		return nil, err
	}
	sessions := make([]Session, len(list))
	for i, l := range list {
		sessions[i] = Session{
			ID: l.ID, User: l.User, Domain: l.Domain, State: ConnectState(l.State),
			Locked: l.Locked, Remote: l.Remote, Console: l.Console, Unseen: l.Unseen,
		}
	}
	return sessions, nil
}

// Start implements Machine.
func (m *machine) Start(session uint32, secret []byte) (Process, error) {
	user, err := m.system.UserOf(session)
	if err != nil {
		return nil, err
	}
	defer user.Close()
	random := make([]byte, pipeRandom)
	_, _ = rand.Read(random) // never fails
	name := pipePrefix + hex.EncodeToString(random)
	// The pipe is there before the helper is, which finds nobody else's.
	pipe, err := m.system.ListenPipe(name, user.SID())
	if err != nil {
		return nil, err
	}
	text, err := invitation{Pipe: name, Server: uint32(os.Getpid()), Owner: m.owner, Secret: secret}.encode()
	if err != nil {
		pipe.Close()
		return nil, err
	}
	started, err := user.Start(m.command, text)
	if err != nil {
		pipe.Close()
		return nil, err
	}
	return &process{started: started, pipe: pipe}, nil
}

type process struct {
	started *winapi.Process
	pipe    *winapi.PipeListener
}

// Accept implements Process.
func (p *process) Accept(ctx context.Context) (net.Conn, error) {
	defer p.pipe.Close()
	file, err := p.pipe.Accept(ctx, p.started.PID())
	if err != nil {
		return nil, err
	}
	return pipeConn{file}, nil
}

// Wait implements Process.
func (p *process) Wait() Exit {
	code, said, err := p.started.Wait()
	return Exit{Code: code, Said: said, Err: err}
}

// Kill implements Process.
func (p *process) Kill() error { return p.started.Kill() }

func dial(ctx context.Context, i invitation) (net.Conn, error) {
	file, err := winapi.System{}.DialPipe(ctx, i.Pipe, i.Server, i.Owner)
	if err != nil {
		return nil, err
	}
	return pipeConn{file}, nil
}
