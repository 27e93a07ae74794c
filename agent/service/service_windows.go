package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"syscall"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Codes of winerror.h.
const (
	errorInvalidLevel         = syscall.Errno(124)
	errorServiceRunning       = syscall.Errno(1056)
	errorServiceDoesNotExist  = syscall.Errno(1060)
	errorServiceNotActive     = syscall.Errno(1062)
	errorNotByManager         = syscall.Errno(1063)
	errorServiceMarkedDeleted = syscall.Errno(1072)
	errorInvalidOwner         = syscall.Errno(1307)
	errorPrivilegeNotHeld     = syscall.Errno(1314)
)

// Run runs a program as the service, for the service control manager that has started
// this process, and writes to events how it goes; nil: nowhere. It returns when the
// service has ended, however that went. ErrNotByManager: nobody else may. When ctx ends
// the service stops.
func Run(ctx context.Context, p Program, events Sink) error {
	err := svc.Run(Name, &handler{ctx: ctx, program: p, sink: events})
	if errors.Is(err, errorNotByManager) {
		return ErrNotByManager
	}
	if err != nil {
		return fmt.Errorf("run the service: %w", err)
	}
	return nil
}

// handler carries a controller to the service control manager.
type handler struct {
	ctx     context.Context
	program Program
	sink    Sink
}

var requestOf = map[svc.Cmd]request{
	svc.Interrogate: interrogate, svc.Stop: stop, svc.Shutdown: stop, svc.PreShutdown: stop,
	svc.Pause: pause, svc.Continue: proceed, svc.SessionChange: sessionChange,
}

var svcStates = map[State]svc.State{
	Stopped: svc.Stopped, StartPending: svc.StartPending, Running: svc.Running, PausePending: svc.PausePending,
	Paused: svc.Paused, ContinuePending: svc.ContinuePending, StopPending: svc.StopPending,
}

// accepted is what the service control manager may ask in a state. Of two states it
// asks nothing at all, whatever is accepted.
func accepted(s State) svc.Accepted {
	const ends = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptPreShutdown | svc.AcceptSessionChange
	switch s {
	case StartPending, StopPending, Stopped:
		return 0
	case Running, Paused:
		return ends | svc.AcceptPauseAndContinue
	}
	return ends
}

// Execute implements svc.Handler.
func (h *handler) Execute(_ []string, asked <-chan svc.ChangeRequest, told chan<- svc.Status) (bool, uint32) {
	ctx, stop := context.WithCancelCause(h.ctx)
	requests, over := make(chan request), make(chan struct{})
	go func() { // it ends with the service
		defer close(over)
		for {
			select {
			case c := <-asked:
				r, known := requestOf[c.Cmd]
				if !known {
					continue
				}
				select {
				case requests <- r:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	c := &controller{
		program: h.program, requests: requests, endIn: EndWithin, sink: h.sink,
		report: func(s status) {
			told <- svc.Status{
				State: svcStates[s.state], Accepts: accepted(s.state),
				CheckPoint: s.checkPoint, WaitHint: uint32(s.waitHint.Milliseconds()),
			}
		},
	}
	code := c.run(ctx)
	stop(nil)
	<-over
	return true, code
}

// EventLog is the Windows Event Log, under the service's name.
type EventLog struct{ log *eventlog.Log }

// OpenEvents opens the event log.
func OpenEvents() (*EventLog, error) {
	log, err := eventlog.Open(Name)
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	return &EventLog{log}, nil
}

// Write implements Sink.
func (l *EventLog) Write(id uint32, severity slog.Level, text string) error {
	switch {
	case severity >= slog.LevelError:
		return l.log.Error(id, text)
	case severity >= slog.LevelWarn:
		return l.log.Warning(id, text)
	}
	return l.log.Info(id, text)
}

// Close ends the connection.
func (l *EventLog) Close() error { return l.log.Close() }

// OwnedByAdministrators says whether a file or folder belongs to the administrators or
// to the system: no other user can have made it.
func OwnedByAdministrators(path string) (bool, error) {
	return winapi.System{}.OwnedByAdministrators(path)
}

// own keeps others out of a file or folder. ErrNotElevated: this process may not.
func own(path, account string) error {
	err := winapi.System{}.Own(path, account)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errorInvalidOwner) || errors.Is(err, errorPrivilegeNotHeld) {
		return fmt.Errorf("%w (%w)", ErrNotElevated, err)
	}
	return err
}
