// Package service runs the agent as a Windows service and manages that service: it
// installs, starts, stops and removes it, says how it is, and writes what an
// administrator should see to the Windows Event Log.
//
// It decides how the requests of the service control manager become the life of one
// program (control.go), which lines are events and under which number (events.go), and
// the order of an installation (manage.go). All that is portable and tested on fakes;
// what calls Windows is thin (*_windows.go). What the program does is its caller's, and
// which user's desktop is driven is agent/supervise's.
//
// Nothing here asks Windows whether this process is a service: only whoever is started
// with `service run` is one, and the service control manager itself refuses any other.
package service

import (
	"context"
	"errors"
	"time"
)

const (
	// Name is the service's name, and the source of its events.
	Name = "reprise-agent"
	// DisplayName is its name for people.
	DisplayName = "Reprise agent"
	// Description says to administrators what it is for.
	Description = "Replays UI actions of a reprise server on this machine's desktop. Runs in session 0 and drives the desktop of the user who is logged on."
)

// Host is what a service gives its program.
type Host struct {
	// Ready is to be called when the program is about to do its work; until then the
	// service is said to be starting.
	Ready func()
	// Changes tells that a session of the machine began, ended, was locked, unlocked,
	// connected or disconnected. Several changes may come as one. It is never closed.
	Changes <-chan struct{}
	// Events takes entries for the event log; nil: there is none.
	Events Sink
}

// Program is what a service does. It works until ctx ends, ends in order then, and
// returns ctx's cause. Any other return is a failure, which ends the service: its exit
// code is the number of the event that says why, or 0 when ctx had ended. It is called
// again, after it has returned, when a paused service continues.
type Program func(ctx context.Context, h Host) error

// Causes with which a program's context ends.
var (
	// ErrStopped says that the service is to stop.
	ErrStopped = errors.New("the service stops")
	// ErrPaused says that the service is paused: nothing is executed until it continues.
	ErrPaused = errors.New("the service is paused")
)

// Errors that callers branch on.
var (
	// ErrSettings marks the error of a program whose settings are wrong.
	ErrSettings = errors.New("the settings of the service are wrong")
	// ErrUnsupported says that this system has no service control manager.
	ErrUnsupported = errors.New("services are there on Windows alone; start `reprise-agent run` by what this system has, such as systemd")
	// ErrNotByManager says that nobody but the service control manager may run the service.
	ErrNotByManager = errors.New("only Windows itself starts `service run`: in a console use `reprise-agent run`, and `reprise-agent service start` starts the service")
	// ErrNotElevated says that the rights of an administrator are needed.
	ErrNotElevated = errors.New("this needs the rights of an administrator: open the console with \"Run as administrator\" and try again")
	// ErrNotInstalled says that there is no such service.
	ErrNotInstalled = errors.New("the service is not installed: `reprise-agent service install` installs it")
	// ErrSlow says that the service did not come to the state that it was asked to in time.
	ErrSlow = errors.New("the service takes too long")
)

const (
	// EndWithin is how long a program may take to end in order. It is said to the
	// service control manager as long as it lasts; after it the process ends.
	EndWithin = 30 * time.Second
	// progressEvery is how often the service control manager hears that a change of
	// state is under way.
	progressEvery = time.Second
	// progressHint is by when it may expect to hear again.
	progressHint = 5 * progressEvery
)
