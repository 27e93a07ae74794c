// Package systems runs the two systems that are compared: the server as it ships,
// with its interceptors, tokens, log and journal on disk, and the raw stream. Each
// serves from a process of its own, and is loaded in the same way: one connection
// and one goroutine per machine.
package systems

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/internal/bench/child"
	"github.com/reprise-rpa/reprise/internal/bench/race"
	"github.com/reprise-rpa/reprise/internal/bench/rawstream"
)

// Measured is what a run gave.
type Measured struct {
	race.Result
	CPU time.Duration // that the server used between the result's beginning and end
}

// CPUPerAction is the server's processor time for one action.
func (m Measured) CPUPerAction() time.Duration { return m.CPU / time.Duration(max(1, m.Actions)) }

// System is one of the two, with its machines connected.
type System interface {
	// Run has each machine do the given number of actions and fails unless all of
	// them were done, once and in order.
	Run(ctx context.Context, actions int) (Measured, error)
	// Close ends the server in order.
	Close() error
}

// measure runs the workers and reads what the server uses meanwhile. A profile of
// that is left at the path, unless it is empty.
func measure(server *child.Server, workers []race.Worker, actions int, profile string) (Measured, error) {
	var m Measured
	var before time.Duration
	res, err := race.Run(workers, actions, race.Hooks{
		Begin: func() (err error) {
			if profile != "" {
				err = server.Profile(profile)
			}
			if err == nil {
				before, err = server.CPU()
			}
			return err
		},
		End: func() error {
			after, err := server.CPU()
			m.CPU = after - before
			if err == nil && profile != "" {
				err = server.EndProfile()
			}
			return err
		},
	})
	m.Result = res
	return m, err
}

// atOnce bounds how many machines are connected or given work at a time.
const atOnce = 16

// each calls f for every machine, several at a time.
func each(machines int, f func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range machines {
		g.Go(func() error { return f(i) })
	}
	return g.Wait()
}

// connect makes a connection for every machine and opens it.
func connect(conns []*grpc.ClientConn, dial func(i int) (*grpc.ClientConn, error)) error {
	return each(len(conns), func(i int) (err error) {
		if conns[i], err = dial(i); err == nil {
			conns[i].Connect()
		}
		return err
	})
}

func closeAll(conns []*grpc.ClientConn) error {
	var errs []error
	for _, c := range conns {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// raw is the raw stream.
type raw struct {
	child *child.Started
	conns []*grpc.ClientConn
}

// StartRaw starts the raw stream's server and connects so many machines to it.
func StartRaw(ctx context.Context, machines int) (System, error) {
	s := &raw{conns: make([]*grpc.ClientConn, machines)}
	var err error
	if s.child, err = child.Start(ctx, "", ServeFlag, kindRaw); err != nil {
		return nil, err
	}
	err = connect(s.conns, func(int) (*grpc.ClientConn, error) { return rawstream.Dial(s.child.Address) })
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *raw) Close() error { return errors.Join(closeAll(s.conns), s.child.Stop()) }

func (s *raw) Run(ctx context.Context, actions int) (Measured, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := make([]race.Worker, len(s.conns))
	err := each(len(workers), func(i int) (err error) {
		workers[i], err = rawstream.Open(ctx, s.conns[i], actions)
		return err
	})
	if err != nil {
		return Measured{}, err
	}
	m, err := measure(&s.child.Server, workers, actions, "")
	if err != nil {
		return Measured{}, fmt.Errorf("the raw stream: %w", err)
	}
	return m, nil
}
