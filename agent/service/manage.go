package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Definition is how the service is installed.
type Definition struct {
	Executable string   // full path of the program
	Arguments  []string // what it is started with
	Account    string   // whom it runs as; empty: LocalSystem
	Password   string   // the account's, if it has one
}

// LocalSystem is the account of the service where none is given. Only it may start
// processes in the sessions of users.
const LocalSystem = "LocalSystem"

// IsLocalSystem says whether an account is that one, by a name that the service control
// manager takes for it or that Windows shows of it; empty: it is.
func IsLocalSystem(account string) bool {
	for _, name := range []string{"", LocalSystem, `.\` + LocalSystem, `NT AUTHORITY\SYSTEM`} {
		if strings.EqualFold(account, name) {
			return true
		}
	}
	return false
}

// Restart is after how long Windows starts a service again that has failed: the first
// time, the second, and any further one. After ResetAfter without a failure it counts
// from the start.
var Restart = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// ResetAfter is how long a service must live for its failures to be forgotten.
const ResetAfter = 24 * time.Hour

// Manager is the service control manager of the machine.
type Manager interface {
	// Create installs a service that starts with the machine. What this Windows can't
	// set up of it is returned as notes for people, and is no error.
	Create(name string, d Definition) (notes []string, err error)
	// Update makes an installed service what Create would make it.
	Update(name string, d Definition) (notes []string, err error)
	// Query says how a service is; one that is not installed is no error.
	Query(name string) (Info, error)
	// Start asks for a service to start. One that has started already is no error.
	Start(name string) error
	// Stop asks for a service to stop. One that has stopped already is no error.
	Stop(name string) error
	// Follow returns how to wait for the end of a process, which comes some time after
	// its service has stopped. Until then its program can't be replaced.
	Follow(pid uint32) (wait func(context.Context) error)
	// Delete removes a service and the source of its events.
	Delete(name string) error
	// Close ends the connection.
	Close() error
}

// Service is the agent's service on one machine.
type Service struct {
	m Manager
}

// With returns the service that a manager manages.
func With(m Manager) *Service { return &Service{m} }

// Close ends the connection to the service control manager.
func (s *Service) Close() error { return s.m.Close() }

// Install installs the service, or updates the one that is there: a process that runs
// goes on as it was started. updated says which; notes say what this Windows can't do.
func (s *Service) Install(d Definition) (updated bool, notes []string, err error) {
	info, err := s.m.Query(Name)
	if err != nil {
		return false, nil, err
	}
	if info.Installed {
		notes, err = s.m.Update(Name, d)
	} else {
		notes, err = s.m.Create(Name, d)
	}
	return info.Installed, notes, err
}

// Uninstall stops the service, waits until it has stopped, and removes it. A service
// that does not stop is not removed.
func (s *Service) Uninstall(ctx context.Context) error {
	if _, err := s.Stop(ctx); err != nil {
		return err
	}
	if err := s.m.Delete(Name); err != nil {
		return err
	}
	_, err := s.await(ctx, func(i Info) bool { return !i.Installed })
	return err
}

// Stop stops the service and waits until it has, and its process has ended. It says
// whether it was running.
func (s *Service) Stop(ctx context.Context) (was bool, err error) {
	info, err := s.installed()
	if err != nil || info.State == Stopped.String() {
		return false, err
	}
	// One that is on its way elsewhere takes no request before it is there.
	if info.State == StartPending.String() {
		if info, err = s.await(ctx, func(i Info) bool { return i.State != StartPending.String() }); err != nil {
			return true, err
		}
	}
	ended := s.m.Follow(info.PID)
	if info.State != StopPending.String() {
		if err := s.m.Stop(Name); err != nil {
			return true, err
		}
	}
	if _, err = s.await(ctx, stopped); err != nil {
		return true, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, patience, ErrSlow)
	defer stop()
	return true, ended(ctx)
}

// Start starts the service and waits until it runs. It says whether it was running
// already. A service that ends at once is an EndedError.
func (s *Service) Start(ctx context.Context) (was bool, err error) {
	info, err := s.installed()
	switch {
	case err != nil:
		return false, err
	case info.State == Running.String():
		return true, nil
	case info.State == Paused.String() || info.State == PausePending.String():
		return false, errors.New("the service is paused; `sc continue reprise-agent` makes it go on")
	case info.State == StopPending.String():
		if _, err = s.await(ctx, stopped); err != nil {
			return false, err
		}
	}
	if err := s.m.Start(Name); err != nil {
		return false, err
	}
	info, err = s.await(ctx, func(i Info) bool { return i.State == Running.String() || stopped(i) })
	if err == nil && info.State != Running.String() {
		err = &EndedError{Info: info}
	}
	return false, err
}

// Status says how the service is; one that is not installed is no error.
func (s *Service) Status() (Info, error) { return s.m.Query(Name) }

func stopped(i Info) bool { return !i.Installed || i.State == Stopped.String() }

func (s *Service) installed() (Info, error) {
	info, err := s.m.Query(Name)
	if err == nil && !info.Installed {
		err = ErrNotInstalled
	}
	return info, err
}

const (
	// lookEvery is how often a service is asked whether it has come to a state.
	lookEvery = 100 * time.Millisecond
	// patience is how long it may take: longer than its program may take to end.
	patience = EndWithin + 15*time.Second
)

// await asks until the service is as wanted.
func (s *Service) await(ctx context.Context, wanted func(Info) bool) (Info, error) {
	ctx, stop := context.WithTimeoutCause(ctx, patience, ErrSlow)
	defer stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		info, err := s.m.Query(Name)
		if err != nil || wanted(info) {
			return info, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return info, fmt.Errorf("%w; it is %s", context.Cause(ctx), info.State)
		}
	}
}
