package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scm is a service control manager whose service takes its time.
type scm struct {
	info    Info
	asked   []string
	refuses error         // of every request
	takes   time.Duration // a change of state
	fails   uint32        // the event with which a service that starts ends
	deaf    bool          // a service that stops never

	lingers time.Duration // the process, after its service has stopped; negative: for ever
	gone    bool          // the process

	at   time.Time // when it comes to then; zero: it stays as it is
	then Info
}

func (m *scm) ask(what string) error {
	m.asked = append(m.asked, what)
	return m.refuses
}

// becomes changes the state after a while.
func (m *scm) becomes(pending, then State) {
	m.info.State = pending.String()
	m.at, m.then = time.Now().Add(m.takes), m.info
	m.then.State = then.String()
}

func (m *scm) Create(string, Definition) ([]string, error) {
	m.info = Info{Installed: true, State: Stopped.String(), LastExit: errorServiceNeverStarted}
	return []string{"a note"}, m.ask("create")
}

func (m *scm) Update(string, Definition) ([]string, error) { return nil, m.ask("update") }
func (m *scm) Close() error                                { return nil }

func (m *scm) Query(string) (Info, error) {
	if !m.at.IsZero() && !time.Now().Before(m.at) {
		m.info, m.at = m.then, time.Time{}
	}
	return m.info, nil
}

func (m *scm) Start(string) error {
	if m.fails != 0 {
		m.info.LastExit, m.info.LastEvent = errorServiceSpecific, m.fails
		m.becomes(StartPending, Stopped)
	} else {
		m.becomes(StartPending, Running)
	}
	return m.ask("start")
}

func (m *scm) Stop(string) error {
	if !m.deaf {
		m.becomes(StopPending, Stopped)
	}
	return m.ask("stop")
}

// Follow waits for a process that ends a while after its service has stopped.
func (m *scm) Follow(uint32) func(context.Context) error {
	return func(ctx context.Context) error {
		if m.lingers < 0 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		time.Sleep(m.lingers)
		m.gone = true
		return nil
	}
}

func (m *scm) Delete(string) error {
	m.at, m.then = time.Now().Add(m.takes), Info{}
	return m.ask("delete")
}

func (m *scm) wants(t *testing.T, asked string) {
	t.Helper()
	if got := strings.Join(m.asked, " "); got != asked {
		t.Errorf("asked %q, want %q", got, asked)
	}
}

// in runs a test against a service in a state.
func in(t *testing.T, s State, test func(t *testing.T, m *scm, s *Service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &scm{takes: 3 * time.Second, info: Info{Installed: true, State: s.String()}}
		test(t, m, With(m))
	})
}

func TestInstallUpdatesAServiceThatIsThere(t *testing.T) {
	m := &scm{}
	updated, notes, err := With(m).Install(Definition{})
	if err != nil || updated || len(notes) != 1 {
		t.Errorf("the first: %v, %v, %v", updated, notes, err)
	}
	if updated, _, err = With(m).Install(Definition{}); err != nil || !updated {
		t.Errorf("the second: %v, %v", updated, err)
	}
	m.wants(t, "create update")
}

func TestUninstallStopsFirstAndWaits(t *testing.T) {
	in(t, Running, func(t *testing.T, m *scm, s *Service) {
		began := time.Now()
		if err := s.Uninstall(t.Context()); err != nil {
			t.Error(err)
		}
		m.wants(t, "stop delete")
		if m.info.Installed || time.Since(began) < 2*m.takes {
			t.Errorf("after %v it is %+v", time.Since(began), m.info)
		}
	})
}

// Its program can be replaced when Stop returns.
func TestStopWaitsForTheProcessToo(t *testing.T) {
	in(t, Running, func(t *testing.T, m *scm, s *Service) {
		m.lingers = 2 * time.Second
		if _, err := s.Stop(t.Context()); err != nil || !m.gone {
			t.Errorf("Stop = %v; the process is gone: %v", err, m.gone)
		}
	})
	in(t, Running, func(t *testing.T, m *scm, s *Service) {
		m.lingers = -1
		if _, err := s.Stop(t.Context()); !errors.Is(err, ErrSlow) {
			t.Errorf("Stop = %v, want %v", err, ErrSlow)
		}
	})
}

func TestAServiceThatDoesNotStopIsNotRemoved(t *testing.T) {
	in(t, Running, func(t *testing.T, m *scm, s *Service) {
		m.deaf = true
		if err := s.Uninstall(t.Context()); !errors.Is(err, ErrSlow) || !strings.Contains(err.Error(), "it is running") {
			t.Errorf("Uninstall = %v", err)
		}
		m.wants(t, "stop")
	})
}

func TestStopAndStartTakeAServiceInAnyState(t *testing.T) {
	for _, tt := range []struct {
		from         State
		stops, start string // what is asked
		was, runs    bool
	}{
		{Stopped, "", "start", false, false},
		{Running, "stop", "", true, true},
		{Paused, "stop", "refused", true, false},
		{StopPending, "", "start", true, false},
		{StartPending, "stop", "start", true, false},
	} {
		t.Run(tt.from.String(), func(t *testing.T) {
			in(t, tt.from, func(t *testing.T, m *scm, s *Service) {
				settles(m, tt.from)
				was, err := s.Stop(t.Context())
				if err != nil || was != tt.was || m.info.State != Stopped.String() {
					t.Errorf("Stop = %v, %v; it is %s", was, err, m.info.State)
				}
				m.wants(t, tt.stops)
			})
			in(t, tt.from, func(t *testing.T, m *scm, s *Service) {
				settles(m, tt.from)
				was, err := s.Start(t.Context())
				if tt.start == "refused" {
					if err == nil || !strings.Contains(err.Error(), "paused") {
						t.Errorf("Start = %v", err)
					}
					return
				}
				if err != nil || was != tt.runs || m.info.State != Running.String() {
					t.Errorf("Start = %v, %v; it is %s", was, err, m.info.State)
				}
				m.wants(t, tt.start)
			})
		})
	}
}

// settles lets a service that is on its way come where it goes.
func settles(m *scm, from State) {
	switch from {
	case StopPending:
		m.becomes(StopPending, Stopped)
	case StartPending:
		m.becomes(StartPending, Running)
	}
}

func TestAServiceThatEndsAtOnceSaysWhy(t *testing.T) {
	in(t, Stopped, func(t *testing.T, m *scm, s *Service) {
		m.fails = EventSettings
		_, err := s.Start(t.Context())
		var ended *EndedError
		if !errors.As(err, &ended) || ended.Info.LastEvent != EventSettings {
			t.Fatalf("Start = %v", err)
		}
		for _, want := range []string{"the settings are wrong", "what to do", "Application, source reprise-agent, event 301", "`reprise-agent doctor`"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Start = %v\ndoes not say %q", err, want)
			}
		}
	})
}

func TestWaitingForAServiceEndsWithTheContext(t *testing.T) {
	in(t, Running, func(t *testing.T, m *scm, s *Service) {
		m.deaf = true
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if _, err := s.Stop(ctx); err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("Stop = %v", err)
		}
	})
}

func TestWhatIsNotInstalledCannotBeManaged(t *testing.T) {
	s := With(&scm{})
	_, started := s.Start(t.Context())
	_, stopped := s.Stop(t.Context())
	for _, err := range []error{started, stopped, s.Uninstall(t.Context())} {
		if !errors.Is(err, ErrNotInstalled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestARefusalOfTheManagerIsTold(t *testing.T) {
	refusal := errors.New("no rights")
	in(t, Stopped, func(t *testing.T, m *scm, s *Service) {
		m.refuses = refusal
		if _, err := s.Start(t.Context()); !errors.Is(err, refusal) {
			t.Errorf("Start = %v", err)
		}
		if err := s.Uninstall(t.Context()); !errors.Is(err, refusal) {
			t.Errorf("Uninstall = %v", err)
		}
		if _, _, err := s.Install(Definition{}); !errors.Is(err, refusal) {
			t.Errorf("Install = %v", err)
		}
	})
}

func TestStatusIsToldToPeopleAndByItsExitCode(t *testing.T) {
	for _, tt := range []struct {
		info Info
		code int
		text string
	}{
		{Info{}, ExitNotInstalled, "installed: no\n"},
		{
			Info{Installed: true, State: "running", PID: 7, StartType: "automatic (delayed)", Account: LocalSystem, Config: `C:\a.yaml`}, 0,
			"installed: yes\nstate:     running\npid:       7\nstart:     automatic (delayed)\naccount:   LocalSystem\nconfig:    C:\\a.yaml\nlast exit: as asked, or none\n",
		},
		{
			Info{Installed: true, State: "stopped", LastExit: errorServiceSpecific, LastEvent: EventLocked}, ExitStopped,
			"installed: yes\nstate:     stopped\nlast exit: event 302: another agent uses the same state directory, so the service has ended; what to do: end the `reprise-agent run` in a console, or give each its own `state-dir`\n",
		},
		{
			Info{Installed: true, State: "stopped", LastExit: 1067}, ExitStopped,
			"installed: yes\nstate:     stopped\nlast exit: exit code 1067 of Windows; `net helpmsg 1067` explains it\n",
		},
		{
			Info{Installed: true, State: "stopped", LastExit: errorServiceNeverStarted}, ExitStopped,
			"installed: yes\nstate:     stopped\nlast exit: none since the machine started\n",
		},
		{Info{Installed: true, State: "paused"}, ExitPaused, "installed: yes\nstate:     paused\nlast exit: as asked, or none\n"},
		{Info{Installed: true, State: "stopping"}, ExitPending, "installed: yes\nstate:     stopping\nlast exit: as asked, or none\n"},
	} {
		if got := tt.info.Text(); got != tt.text {
			t.Errorf("got\n%swant\n%s", got, tt.text)
		}
		if got := tt.info.ExitCode(); got != tt.code {
			t.Errorf("exit code %d of %+v", got, tt.info)
		}
	}
}
