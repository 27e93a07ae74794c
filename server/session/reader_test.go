package session

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// said is a stream on which an agent says what is put in, and then nothing more.
type said struct {
	stream
	messages chan *reprisev1.ConnectRequest
}

func (s said) Recv() (*reprisev1.ConnectRequest, error) {
	if m, ok := <-s.messages; ok {
		return m, nil
	}
	return nil, io.EOF
}

func hello() *reprisev1.ConnectRequest {
	return &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: &reprisev1.Hello{}}}
}

// A session that has ended must not be forgotten while what it read is being taken.
func TestAReaderIsSettledWhenWhatItReadHasBeenTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := said{messages: make(chan *reprisev1.ConnectRequest, 2)}
		st.messages <- hello()
		st.messages <- hello()
		r, taking, took := newReader(), make(chan struct{}), make(chan struct{}, 1)
		go r.run(t.Context(), st)
		<-r.first
		synctest.Wait()
		if len(st.messages) != 1 {
			t.Error("a message was read before anybody takes it")
		}
		r.open(func(_ *reprisev1.ConnectRequest, err error) error {
			if err == nil {
				<-taking
				took <- struct{}{}
			}
			return err
		})
		synctest.Wait()
		settled := make(chan struct{})
		go func() { r.settle(); close(settled) }()
		synctest.Wait()
		select {
		case <-settled:
			t.Error("it is settled while a message is being taken")
		default:
		}
		close(taking)
		<-settled
		if len(took) != 1 {
			t.Error("it is settled before the message was taken")
		}
		close(st.messages)
	})
}

func TestAReaderThatNobodyOpensEndsWithItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		st := said{messages: make(chan *reprisev1.ConnectRequest, 1)}
		st.messages <- hello()
		ended := make(chan struct{})
		go func() { newReader().run(ctx, st); close(ended) }()
		cancel()
		<-ended
	})
}

// counted is an Observer that counts reports.
type counted struct {
	nobody
	reports int
}

func (c *counted) Reported(time.Duration) { c.reports++ }

// empty is a journal in which nothing is.
type empty struct{}

func (empty) Append(context.Context, []replay.Entry) error            { return nil }
func (empty) LiveOf(context.Context, string) ([]replay.Record, error) { return nil, nil }
func (empty) Live(context.Context, func(replay.Record) error) error   { return nil }
func (empty) EndedIDs(context.Context) (map[string][]string, error)   { return nil, nil }

// What was read before the end of a session and comes to be taken after it.
func TestOfAnEndedSessionOnlyReportsAreTaken(t *testing.T) {
	fleet, err := dispatch.Recover(t.Context(), dispatch.FleetConfig{Store: empty{}})
	if err != nil {
		t.Fatal(err)
	}
	seen := &counted{}
	s := New(Config{Observer: seen})
	ses := newSession(t.Context(), "s-1", "desk-1", converter{})
	ses.clock.sent("r-1-1")
	ses.end(registry.ErrFenced)
	loop := fleet.Loop("desk-1")
	if err := s.take(t.Context(), ses, loop, hello()); err != nil {
		t.Errorf("a second hello was taken: %v", err)
	}
	report := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: &reprisev1.Report{ActionId: "r-1-1", Success: true}}}
	if err := s.take(t.Context(), ses, loop, report); err != nil || seen.reports != 1 {
		t.Errorf("%d reports were taken, %v", seen.reports, err)
	}
}
