package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Connect connects to the service control manager of this machine. ErrNotElevated: it
// wants the rights of an administrator.
func Connect() (*Service, error) {
	m, err := mgr.Connect()
	if err != nil {
		return nil, failure("connect to the service control manager", err)
	}
	return With(manager{m, (*mgr.Mgr).OpenService}), nil
}

// ConnectToLook connects as Connect does, with the rights of any user: Status alone can be
// asked.
func ConnectToLook() (*Service, error) {
	m, err := winapi.ServicesToLook()
	if err != nil {
		return nil, failure("connect to the service control manager", err)
	}
	return With(manager{m, winapi.ServiceToLook}), nil
}

// failure names what went wrong, by our errors where there is one.
func failure(doing string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", doing, ErrNotElevated)
	case errors.Is(err, errorServiceDoesNotExist):
		return ErrNotInstalled
	case errors.Is(err, errorServiceMarkedDeleted):
		return fmt.Errorf("%s: the service is being removed; close programs that show services, such as services.msc, and try again: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (d Definition) account() string {
	if d.Account == "" {
		return LocalSystem
	}
	return d.Account
}

type manager struct {
	m    *mgr.Mgr
	open func(m *mgr.Mgr, name string) (*mgr.Service, error)
}

func (m manager) Close() error { return m.m.Disconnect() }

// with opens the service, for one use.
func (m manager) with(name, doing string, use func(*mgr.Service) error) error {
	s, err := m.open(m.m, name)
	if err != nil {
		return failure(doing, err)
	}
	err = use(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return failure(doing, err)
	}
	return nil
}

// Follow implements Manager.
func (m manager) Follow(pid uint32) func(context.Context) error {
	gone := func(context.Context) error { return nil }
	if pid == 0 {
		return gone
	}
	p, err := os.FindProcess(int(pid))
	if err != nil {
		return gone // it has ended, or nobody may look at it
	}
	return func(ctx context.Context) error {
		ended := make(chan struct{})
		go func() { _, _ = p.Wait(); close(ended) }() // that it is over is all that counts
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("its process %d is still there: %w", pid, context.Cause(ctx))
		}
	}
}

// Create implements Manager.
func (m manager) Create(name string, d Definition) ([]string, error) {
	s, err := m.m.CreateService(name, d.Executable, mgr.Config{
		StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal, DisplayName: DisplayName,
		ServiceStartName: d.account(), Password: d.Password,
	}, d.Arguments...)
	if err != nil {
		return nil, failure("create the service", err)
	}
	if err = s.Close(); err != nil {
		return nil, failure("create the service", err)
	}
	return m.Update(name, d)
}

// Update implements Manager.
func (m manager) Update(name string, d Definition) (notes []string, err error) {
	err = m.with(name, "set up the service", func(s *mgr.Service) error {
		err := s.UpdateConfig(mgr.Config{
			ServiceType: ownProcess, StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal,
			BinaryPathName: commandLine(d), DisplayName: DisplayName, Description: Description,
			ServiceStartName: d.account(), Password: d.Password, DelayedAutoStart: true,
		})
		if errors.Is(err, errorInvalidLevel) { // what all Windows know is set before
			notes, err = append(notes, "this Windows starts it at once, not some time after the machine's start, and shows no description"), nil
		}
		if err != nil {
			return err
		}
		recovery := make([]mgr.RecoveryAction, len(Restart))
		for i, after := range Restart {
			recovery[i] = mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: after}
		}
		if err := s.SetRecoveryActions(recovery, uint32(ResetAfter.Seconds())); err != nil {
			notes = append(notes, "this Windows does not start it again when it dies: "+err.Error())
		}
		if err := s.SetRecoveryActionsOnNonCrashFailures(true); err != nil {
			notes = append(notes, "this Windows does not start it again when it ends with a fault: "+err.Error())
		}
		if err := winapi.SetPreshutdownTimeout(s, shutdownWithin); err != nil {
			notes = append(notes, "a shutdown of this Windows may end it before the agent has ended in order: "+err.Error())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return append(notes, registerEvents(name)...), nil
}

// shutdownWithin is how long a shutdown of the machine waits for the service: until its
// program has ended, or is left.
const shutdownWithin = EndWithin + 5*time.Second

// ownProcess is the type of a service with a process of its own:
// SERVICE_WIN32_OWN_PROCESS of winnt.h.
const ownProcess = 0x10

// commandLine is the program with its arguments, as CreateService puts it.
func commandLine(d Definition) string {
	words := []string{syscall.EscapeArg(d.Executable)}
	for _, a := range d.Arguments {
		words = append(words, syscall.EscapeArg(a))
	}
	return strings.Join(words, " ")
}

// registerEvents makes the service's name a source of events, whose entries are shown by
// the message file that Windows brings for such.
func registerEvents(name string) (notes []string) {
	_ = eventlog.Remove(name) // one that is there is no fault, and may be of an older version
	if err := eventlog.InstallAsEventCreate(name, eventlog.Info|eventlog.Warning|eventlog.Error); err != nil {
		return []string{"its events are shown without their text: " + err.Error()}
	}
	return nil
}

// Start implements Manager.
func (m manager) Start(name string) error {
	return m.with(name, "start the service", func(s *mgr.Service) error {
		if err := s.Start(); err != nil && !errors.Is(err, errorServiceRunning) {
			return err
		}
		return nil
	})
}

// Stop implements Manager.
func (m manager) Stop(name string) error {
	return m.with(name, "stop the service", func(s *mgr.Service) error {
		if _, err := s.Control(svc.Stop); err != nil && !errors.Is(err, errorServiceNotActive) {
			return err
		}
		return nil
	})
}

// Delete implements Manager.
func (m manager) Delete(name string) error {
	if err := m.with(name, "remove the service", (*mgr.Service).Delete); err != nil {
		return err
	}
	_ = eventlog.Remove(name) // it may never have been registered
	return nil
}

// Query implements Manager.
func (m manager) Query(name string) (Info, error) {
	info := Info{Installed: true}
	err := m.with(name, "ask for the service", func(s *mgr.Service) error {
		st, err := s.Query()
		if err != nil {
			return err
		}
		for ours, theirs := range svcStates {
			if st.State == theirs {
				info.State = ours.String()
			}
		}
		info.PID, info.LastExit = st.ProcessId, st.Win32ExitCode
		if st.Win32ExitCode == errorServiceSpecific {
			info.LastEvent = st.ServiceSpecificExitCode
		}
		// Not every Windows tells; what it does not tell stays empty.
		if c, err := s.Config(); err == nil {
			info.StartType, info.Account, info.Command = startType(c), c.ServiceStartName, c.BinaryPathName
		}
		return nil
	})
	if errors.Is(err, ErrNotInstalled) || errors.Is(err, errorServiceMarkedDeleted) {
		return Info{}, nil
	}
	return info, err
}

func startType(c mgr.Config) string {
	switch {
	case c.StartType == mgr.StartAutomatic && c.DelayedAutoStart:
		return "automatic (delayed)"
	case c.StartType == mgr.StartAutomatic:
		return "automatic"
	case c.StartType == mgr.StartManual:
		return "manual"
	}
	return "disabled"
}
