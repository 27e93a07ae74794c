package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/desktop"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestAReportWithoutAnAnswerIsToldAgainOnANewStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		first := w.report(c)
		sent := time.Now()
		c = w.accept()
		if waited := time.Since(sent); waited < 10*time.Second || waited > 12*time.Second {
			t.Errorf("reopened after %v", waited)
		}
		results := c.Hello.GetResults()
		if len(results) != 1 || results[0].GetAttemptId() != first.GetAttemptId() {
			t.Fatalf("the hello tells %v", results)
		}
		w.must(c.Welcome(&reprisev1.Welcome{ResultAcks: []*reprisev1.ReportAck{{ActionId: "a", AttemptId: "a1"}}}))
		w.must(c.Dispatch(click("b", "b1")))
		if r := w.report(c); r.GetActionId() != "b" {
			t.Errorf("an acknowledged result was told again: %v", r)
		}
	})
}

func TestACutLinkLosesNothingAndRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		cut := make(chan struct{})
		w.screen.onInput = func() { w.server.Cut(); <-c.Done(); close(cut) }
		w.must(c.Dispatch(click("a", "a1")))
		<-cut
		w.screen.mu.Lock()
		w.screen.onInput = nil
		w.screen.mu.Unlock()
		lost := time.Now()
		c = w.open()
		if away := time.Since(lost); away > time.Second {
			t.Errorf("away for %v", away)
		}
		if c.Hello.GetExecuting() == nil && len(c.Hello.GetResults()) != 1 {
			t.Errorf("the hello says nothing of the action: %v", c.Hello)
		}
		if r := w.report(c); r.GetActionId() != "a" || !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

func TestASilentLineIsNoticedWithin15Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		w.open()
		pass(time.Minute) // an idle minute does no harm
		w.server.Silence()
		silent := time.Now()
		w.open()
		if noticed := time.Since(silent); noticed > 16*time.Second {
			t.Errorf("a new stream after %v", noticed)
		}
	})
}

func TestAServerThatDoesNotAnswerPingsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		c.Deaf() // keepalive goes on: only the stream itself is dead
		deaf := time.Now()
		w.open()
		if left := time.Since(deaf); left < 20*time.Second || left > 21*time.Second {
			t.Errorf("left after %v", left)
		}
	})
}

func TestTheAgentComesBackWhenTheServerSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		w.must(c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_GoAway{
			GoAway: &reprisev1.GoAway{ReconnectAfter: durationpb.New(7 * time.Second)},
		}}))
		<-c.Done() // nothing is in flight: the agent goes by itself
		gone := time.Now()
		w.open()
		if away := time.Since(gone); away != 7*time.Second {
			t.Errorf("back after %v", away)
		}
	})
}

func TestARefusedAgentTriesForEverAndReadsItsTokenAnew(t *testing.T) {
	for _, refusal := range []codes.Code{codes.Unauthenticated, codes.AlreadyExists, codes.FailedPrecondition, codes.Aborted} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.close()
			w.server.Refuse(status.Error(refusal, "no"))
			var reads atomic.Int32
			w.start(func(cfg *agent.Config) {
				cfg.Token = func() (string, error) {
					if reads.Add(1) == 2 {
						return "", errors.New("being rotated")
					}
					return fmt.Sprint("secret-", reads.Load()), nil
				}
			})
			pass(10 * time.Minute)
			if n := reads.Load(); n < 40 || n > 100 {
				t.Errorf("%v: %d tries in ten minutes", refusal, n)
			}
			w.server.Refuse(nil)
			c := w.open()
			if got := c.Header.Get("authorization"); len(got) != 1 || !strings.HasPrefix(got[0], "Bearer secret-") {
				t.Errorf("authorization %q", got)
			}
		})
	}
}

func TestBackoffGrowsUntilAStreamWasStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil) // the jitter is always half of the step
		var waits []time.Duration
		for _, lived := range []time.Duration{0, 0, 0, 14 * time.Second, 20 * time.Second, 0} {
			c := w.open()
			pass(lived)
			c.End(status.Error(codes.Unavailable, "again"))
			<-c.Done()
			ended := time.Now()
			c, err := w.server.Accept(t.Context())
			w.must(err)
			waits = append(waits, time.Since(ended).Round(100*time.Millisecond))
			c.End(status.Error(codes.Unavailable, "never opened"))
		}
		// Each round also has a stream that never opened, one more failure.
		want := []time.Duration{500, 2500, 7500, 7500, 500, 2500}
		for i := range want {
			if waits[i] != want[i]*time.Millisecond {
				t.Fatalf("waits %v, want %v (ms)", waits, want)
			}
		}
	})
}

func TestTheServerIsToldOfTheDesktopWithoutAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		state := func() string {
			for {
				m, err := c.Recv(t.Context())
				w.must(err)
				if s := m.GetDesktopState(); s != nil {
					return s.GetKind().String()
				}
			}
		}
		w.screen.become(desktop.Locked)
		if got := state(); got != "DESKTOP_STATE_KIND_LOCKED" {
			t.Fatalf("told %s", got)
		}
		w.must(c.Dispatch(click("a", "a1")))
		if r := w.report(c); code(r) != "ERROR_CODE_DESKTOP_UNAVAILABLE" || w.screen.count() != 0 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
		if got := state(); got != "DESKTOP_STATE_KIND_LOCKED" {
			t.Errorf("after the report it is told anew: %s", got)
		}
		w.screen.become(desktop.Active)
		if got := state(); got != "DESKTOP_STATE_KIND_ACTIVE" {
			t.Errorf("told %s", got)
		}
		w.must(c.Dispatch(click("a", "a2")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

func TestACancelStopsAnActionAndTheKeysAreLetGoOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		d := click("a", "a1")
		d.Action.Kind = &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(time.Hour)}}
		w.must(c.Dispatch(d))
		w.must(c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Cancel{Cancel: &reprisev1.Cancel{ReplayId: "r"}}}))
		if r := w.report(c); code(r) != "ERROR_CODE_INTERRUPTED" || r.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
			t.Errorf("report %v", r)
		}
	})
}

// anchor is a picture with structure, and its PNG.
func anchor(t *testing.T) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		img.SetRGBA(i%16, i/16, color.RGBA{uint8(i * i), uint8(i * 7), uint8(i), 255})
	}
	var buffer bytes.Buffer
	if err := png.Encode(&buffer, img); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func TestAnAnchorIsFetchedOnceAndBelievedByItsDigestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.accept()
		w.must(c.Welcome(&reprisev1.Welcome{Settings: &reprisev1.SessionSettings{ResolveTimeout: durationpb.New(2 * time.Second)}}))
		look := func(id, digest string) *reprisev1.Report {
			d := move(id, id+"1")
			d.Action.Target = &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: digest}}
			w.must(c.Dispatch(d))
			r := w.report(c)
			w.must(c.Ack(r))
			return r
		}
		data := anchor(t)
		genuine := w.server.Put(data)
		for _, id := range []string{"a", "b"} {
			if r := look(id, genuine); code(r) != "ERROR_CODE_TARGET_NOT_FOUND" || !strings.Contains(r.GetError().GetMessage(), "anchor is not on the screen") {
				t.Errorf("%s: %v", id, r.GetError())
			}
		}
		if n := w.server.Transfers(); n != 1 {
			t.Errorf("the anchor was fetched %d times", n)
		}
		forged := strings.Repeat("ab", 32)
		w.server.PutAs(forged, data)
		if r := look("c", forged); !strings.Contains(r.GetError().GetMessage(), "another digest") {
			t.Errorf("a forged picture: %v", r.GetError())
		}
		if r := look("d", strings.Repeat("cd", 32)); !strings.Contains(r.GetError().GetMessage(), "no such picture") {
			t.Errorf("a missing picture: %v", r.GetError())
		}
	})
}

func TestTheLastReportLeavesBeforeTheAgentEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		inside := make(chan struct{})
		goOn := make(chan struct{})
		w.screen.onInput = func() { close(inside); <-goOn }
		w.must(c.Dispatch(click("a", "a1")))
		<-inside
		stopped := make(chan struct{})
		go func() { w.stop(); close(stopped) }()
		pass(time.Second)
		close(goOn)
		if r := w.report(c); !r.GetSuccess() {
			t.Errorf("report %v", r)
		}
		<-stopped
		w.start(nil)
		if c := w.open(); len(c.Hello.GetResults()) != 1 || c.Hello.GetLastExit() != "" {
			t.Errorf("the next process says %v", c.Hello)
		}
		if w.screen.releases() == 0 {
			t.Error("the keys were not let go of")
		}
	})
}

// A control plane that never welcomes must not hold the agent.
func TestAStreamThatDoesNotOpenIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.accept()
		began := time.Now()
		<-c.Done()
		if waited := time.Since(began); waited > 10*time.Second {
			t.Errorf("left after %v", waited)
		}
		w.open()
	})
}
