package link

import (
	"errors"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// push queues a message; one that can't be queued ends the stream.
func (s *session) push(m *reprisev1.ConnectRequest) {
	if err := s.out.push(m); err != nil {
		s.end(err)
	}
}

// SendReport queues a report.
func (s *session) SendReport(r work.Report) {
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: s.report(r, s.spoolID)}})
	if r.Outcome.Code == work.DesktopUnavailable {
		s.untold()
	}
}

// SendProgress queues progress, which may be dropped.
func (s *session) SendProgress(p work.Progress) {
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: progress(p)}})
}

// SendPerson queues what the person at the machine asks for.
func (s *session) SendPerson(wish work.PersonWish, replayID string) {
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{
		Kind: wishes[wish], ReplayId: replayID,
	}}})
}

var wishes = map[work.PersonWish]reprisev1.PersonRequestKind{
	work.PersonStops:     reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_STOP,
	work.PersonTakesOver: reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_TAKE_OVER,
	work.PersonGoesOn:    reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_GO_ON,
}

// Reopen ends the stream; the link opens the next one.
func (s *session) Reopen(reason string) { s.end(errors.New(reason)) }

func (s *session) tellDesktop(state desktop.State) {
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: desktopState(state)}})
}

func (s *session) ping(number uint64) {
	s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: number}}})
}
