package main

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reprise-rpa/reprise/server/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the service, a server and a desktop, in a bubble: waiting takes no time.
type world struct {
	*servertest.Server
	t       *testing.T
	ctx     context.Context
	desk    *servertest.Agent
	intakes *Intakes
}

var anna = Form{Case: "c-17", Name: "Anna Berg", Born: "1958-03-14"}

// steps of every intake, in order.
var steps = []string{"open the intake", "enter the name", "enter the birthday", "save", "keep a picture"}

func bubble(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		t.Cleanup(cancel)
		srv := servertest.Start(t, servertest.Options{Dir: dir})
		w := &world{Server: srv, t: t, ctx: ctx, desk: srv.Agent("desk-1", nil)}
		w.intakes = w.service()
		f(t, w)
	})
}

// service starts the service; it ends with the test.
func (w *world) service() *Intakes {
	w.t.Helper()
	s := New(context.WithoutCancel(w.t.Context()), w.Conn(), "desk-1", slog.New(slog.NewTextHandler(w.t.Output(), nil)))
	w.t.Cleanup(s.Close)
	return s
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// status returns how the case stands when all has come to rest, or so much later.
func (w *world) status(later time.Duration) Status {
	w.t.Helper()
	time.Sleep(later)
	synctest.Wait()
	s, err := w.intakes.Get(anna.Case)
	w.must(err)
	return s
}

// need returns what a person is asked for, and compares its reason.
func (w *world) need(later time.Duration, reason string) Need {
	w.t.Helper()
	s := w.status(later)
	if s.State != "paused" || s.Need == nil || s.Need.Reason != reason {
		w.t.Fatalf("the front desk is told %+v (need %+v), want a pause for %s", s, s.Need, reason)
	}
	return *s.Need
}

// confirm says that the card was looked at.
func (w *world) confirm() {
	w.t.Helper()
	w.must(w.intakes.Decide(w.ctx, anna.Case, w.need(time.Second, "user_request").PauseID, 0, []string{"identity"}))
}

func (w *world) executed(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.desk.Executed()); diff != "" {
		w.t.Errorf("executed (-want +got):\n%s", diff)
	}
}
