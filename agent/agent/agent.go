// Package agent puts the agent together: the spool, the executor on a desktop's
// driver, the runner and the link to the server. It decides the order in which
// they start and end, and nothing else.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/pictures"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Config sets up an agent.
type Config struct {
	Server    string        // the server's host:port; required
	MachineID string        // the machine that this agent drives; required
	Driver    driver.Driver // its desktop; required
	// StateDir holds the spool and the pictures that wait for their upload. It is
	// required unless Spool is set; then pictures wait in memory.
	StateDir string

	Spool  spool.FS               // nil: in StateDir
	Token  func() (string, error) // asked for each connection; nil: none is shown
	CAFile string                 // PEM; empty: the system's, and plain text to loopback
	// Dial connects; nil means TCP.
	Dial    func(ctx context.Context, address string) (net.Conn, error)
	Secrets execute.Secrets // nil: there are none
	Shower  runner.Shower   // shows pauses; nil: a Driver that is driver.Attended does, or they are logged only

	Backoff          backoff.Policy // zero means its default
	KeepaliveTime    time.Duration  // HTTP/2 keepalive; 0 means 10 s
	KeepaliveTimeout time.Duration  // 0 means 5 s
	Remember         int            // actions remembered; 0 means 256
	Masks            []work.Mask    // what no picture shows, whatever the action
	Popups           []work.Popup   // how windows that get in the way on this machine are closed
	Restless         []work.Mask    // what changes by itself, such as a clock
	MaxWaiting       int64          // bytes of pictures that wait for their upload; 0 means 256 MiB
	MinDisplay       image.Point    // smallest usable primary monitor; zero: any
	Announce         time.Duration  // how long a place is outlined before a gesture goes there; 0: it is not
	Random           func() float64 // for the jitter; nil means math/rand
	Version          string         // for people
	Log              *slog.Logger   // nil discards
}

// Agent drives one machine.
type Agent struct {
	cfg Config
}

var machineID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)

// New returns an agent, or everything that is wrong with cfg.
func New(cfg Config) (*Agent, error) {
	var errs []error
	if _, _, err := net.SplitHostPort(cfg.Server); err != nil {
		errs = append(errs, fmt.Errorf("server %q: host:port is needed", cfg.Server))
	}
	if !machineID.MatchString(cfg.MachineID) {
		errs = append(errs, fmt.Errorf("machine %q: 1 to 63 letters, digits, dots, dashes and underscores are needed, a letter or digit first", cfg.MachineID))
	}
	if cfg.Driver == nil {
		errs = append(errs, errors.New("a driver is needed"))
	}
	if cfg.StateDir == "" && cfg.Spool == nil {
		errs = append(errs, errors.New("a state directory is needed"))
	}
	if cfg.Remember < 0 {
		errs = append(errs, fmt.Errorf("%d actions can't be remembered", cfg.Remember))
	}
	for i, m := range slices.Concat(cfg.Masks, cfg.Restless) {
		what := "mask"
		if i >= len(cfg.Masks) {
			what = "restless rectangle"
		}
		if err := mask.Check(m); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	if err := cfg.Backoff.Validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Agent{cfg: cfg}, nil
}

// Run works until ctx ends; then the action in flight comes to its end or to its
// next safe point, every key is let go of, and what is known is on the disk. It
// returns ctx's cause, or why the agent could not start: a spool that is locked
// (spool.ErrLocked) or damaged (spool.ErrCorrupt) is never worked around.
func (a *Agent) Run(ctx context.Context) error {
	boot := uuid.NewString()
	journal, err := a.openSpool(boot)
	if err != nil {
		return err
	}
	log := a.cfg.Log.With(logkeys.Machine, a.cfg.MachineID)
	waiting := a.openPictures(log)
	evidence := link.NewEvidence(waiting, log)
	executor := execute.New(execute.Config{
		Driver: a.cfg.Driver, Anchors: evidence, Evidence: evidence, Secrets: a.cfg.Secrets,
		Masks: a.cfg.Masks, Begun: journal.Memory().Begun(), Popups: a.cfg.Popups, Restless: a.cfg.Restless,
		MinDisplay: a.cfg.MinDisplay, Announce: a.cfg.Announce, Log: log,
	})
	person := newAttendant(a.cfg.Driver, log)
	person.hold(ctx, journal.Memory().Held())
	run := runner.New(runner.Config{
		Spool: journal, Executor: executor, Release: a.cfg.Driver.Release, BootID: boot, Keep: a.cfg.Remember,
		Shower: cmp.Or[runner.Shower](a.cfg.Shower, person), GoOn: person.goOn, Log: log,
	})
	eyes := desk{executor: executor, driver: a.cfg.Driver, runner: run, masks: a.cfg.Masks, restless: a.cfg.Restless}
	connection := link.New(link.Config{
		Server: a.cfg.Server, MachineID: a.cfg.MachineID, Token: a.cfg.Token, CAFile: a.cfg.CAFile, Dial: a.cfg.Dial,
		Runner: run, Desk: eyes, Evidence: evidence, Camera: executor, Connected: person.showServer, Version: a.cfg.Version, Backoff: a.cfg.Backoff,
		KeepaliveTime: a.cfg.KeepaliveTime, KeepaliveTimeout: a.cfg.KeepaliveTimeout, Random: a.cfg.Random, Log: log,
	})
	log.Info("the agent starts", logkeys.Spool, journal.ID(), logkeys.Boot, boot, "last_exit", journal.LastExit())

	// The link outlives the runner, so that what the runner says last is sent.
	linked, unlink := context.WithCancelCause(context.WithoutCancel(ctx))
	var others sync.WaitGroup
	others.Go(func() { _ = connection.Run(linked) }) // it ends for no other reason
	others.Go(func() { _ = waiting.Run(linked) })
	others.Go(func() { watchDesktop(linked, eyes, connection, log) })
	others.Go(func() { person.show(linked) })
	others.Go(func() { person.attend(linked, run) })
	err = run.Run(ctx)
	unlink(err)
	others.Wait()
	if closed := journal.Close(); closed != nil {
		err = errors.Join(err, closed)
	}
	log.Info("the agent ends", logkeys.Reason, context.Cause(ctx))
	return err
}

// openPictures opens what waits to be brought. The spool's lock keeps other agents
// out of it.
func (a *Agent) openPictures(log *slog.Logger) *pictures.Store {
	cfg := pictures.Config{MaxBytes: a.cfg.MaxWaiting, Log: log}
	if a.cfg.StateDir != "" {
		cfg.Dir = filepath.Join(a.cfg.StateDir, "pictures")
	}
	return pictures.Open(cfg)
}

func (a *Agent) openSpool(boot string) (*spool.Spool, error) {
	fs := a.cfg.Spool
	if fs == nil {
		var err error
		if fs, err = spool.Dir(a.cfg.StateDir); err != nil {
			return nil, err
		}
	}
	journal, err := spool.Open(spool.Config{FS: fs, BootID: boot, Keep: a.cfg.Remember, Log: a.cfg.Log})
	if errors.Is(err, spool.ErrCorrupt) {
		return nil, fmt.Errorf("%w; nothing is executed without a memory of what was: "+
			"move the file spool in %q away, and the server will ask a person about what was in flight", err, a.cfg.StateDir)
	}
	return journal, err
}
