package control_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func (s *server) watchMachines(ids ...string) (next func() *reprisev1.WatchMachinesResponse, quiet func() bool) {
	s.t.Helper()
	w, err := s.machines.WatchMachines(s.ctx, &reprisev1.WatchMachinesRequest{MachineIds: ids})
	if err != nil {
		s.t.Fatal(err)
	}
	read := make(chan *reprisev1.WatchMachinesResponse, 1000)
	go func() {
		defer close(read)
		for {
			m, err := w.Recv()
			if err != nil {
				return
			}
			read <- m
		}
	}()
	next = func() *reprisev1.WatchMachinesResponse {
		s.t.Helper()
		select {
		case m, ok := <-read:
			if !ok {
				s.t.Fatal("the watch has ended")
			}
			return m
		case <-time.After(time.Minute):
			s.t.Fatal("nothing came in a minute")
		}
		return nil
	}
	return next, func() bool { time.Sleep(time.Minute); return len(read) == 0 }
}

func TestAWatchOfMachinesTellsWhatChanged(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		s.register("desk-2")
		next, quiet := s.watchMachines()
		first := next()
		if len(first.GetMachines()) != 2 || first.GetMachines()[0].GetMachineId() != machine || first.GetMachines()[1].GetMachineId() != "desk-2" {
			t.Fatalf("%v", first)
		}
		if !quiet() {
			t.Errorf("nothing changed, and %v came", next())
		}
		until := func(what string, is func(*reprisev1.Machine) bool) {
			t.Helper()
			for range 10 {
				m := next()
				if len(m.GetMachines()) != 1 || m.GetMachines()[0].GetMachineId() != machine {
					t.Fatalf("%s: %v came", what, m)
				}
				if is(m.GetMachines()[0]) {
					return
				}
			}
			t.Fatalf("%s is not told", what)
		}
		hello := sessiontest.Hello(machine, "spool")
		hello.Capabilities = []string{"capture"}
		a, _ := sessiontest.Welcomed(t, s.agents, s.conn, hello)
		until("the agent", func(m *reprisev1.Machine) bool {
			return m.GetConnected() && m.GetProtocolVersion() == 1 && len(m.GetCapabilities()) == 1
		})
		id := s.create(clicks("one")).GetReplayId()
		d := a.Dispatch()
		until("the replay", func(m *reprisev1.Machine) bool {
			return m.GetCurrentReplayId() == id && m.GetCurrentReplayState() == running && m.GetCurrentWorkflowName() == "clicks" && m.GetActionInFlight() == d.GetActionId()
		})
		s.pause(id)
		until("the pause", func(m *reprisev1.Machine) bool {
			return m.GetCurrentReplayState() == paused && m.GetPauseReason() == reprisev1.PauseReason_PAUSE_REASON_OPERATOR
		})
		a.Cut()
		until("the cut", func(m *reprisev1.Machine) bool { return !m.GetConnected() })
		s.register("desk-3") // nobody says so: it is found
		if m := next(); len(m.GetMachines()) != 1 || m.GetMachines()[0].GetMachineId() != "desk-3" || m.GetMachines()[0].GetConnected() {
			t.Errorf("%v came", m)
		}
	})
}

func TestAWatchOfSomeMachinesTellsOfNoOthers(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		s.register("desk-2")
		next, quiet := s.watchMachines("desk-2", "desk-9")
		if first := next(); len(first.GetMachines()) != 1 || first.GetMachines()[0].GetMachineId() != "desk-2" {
			t.Fatalf("%v", first)
		}
		s.agent("spool")
		s.create(clicks("one"))
		if !quiet() {
			t.Errorf("%v came", next())
		}
	})
}

func TestWatchersOfEventsAndMachinesEndWhenTheServerGoesAway(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		events, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		machines, err := s.machines.WatchMachines(s.ctx, &reprisev1.WatchMachinesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		go func() {
			_, err := events.Recv()
			for err == nil {
				_, err = events.Recv()
			}
			ended <- err
		}()
		go func() {
			_, err := machines.Recv()
			for err == nil {
				_, err = machines.Recv()
			}
			ended <- err
		}()
		settled()
		s.shutdown()
		for range 2 {
			refused(t, <-ended, codes.Unavailable, "GOING_AWAY")
		}
	})
}
