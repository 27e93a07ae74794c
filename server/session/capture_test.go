package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
	"github.com/reprise-rpa/reprise/server/session"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

type taken struct {
	picture *reprisev1.EvidenceRef
	err     error
}

// capture asks for a picture in the background.
func (w *world) capture(ctx context.Context) <-chan taken {
	answer := make(chan taken, 1)
	go func() {
		p, err := w.service.Capture(ctx, machine, nil)
		answer <- taken{p, err}
	}()
	return answer
}

func TestACaptureBringsThePictureAndItsMasksToTheAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, want := sessiontest.PNG(t, 4, 3)
		var asked *reprisev1.Capture
		sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"), sessiontest.Photographs(func(c *reprisev1.Capture) *reprisev1.CaptureResult {
			asked = c
			return &reprisev1.CaptureResult{Picture: want}
		}))
		synctest.Wait()
		got, err := w.service.Capture(t.Context(), machine, []replay.Mask{{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}})
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		masks := []*reprisev1.Mask{{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}}
		if asked.GetCaptureId() == "" || len(asked.GetMasks()) != 1 || !proto.Equal(asked.GetMasks()[0], masks[0]) {
			t.Errorf("the agent was asked %v", asked)
		}
	})
}

// Each caller gets the picture that it asked for, whatever order they come in.
func TestCapturesAreToldApart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		synctest.Wait()
		one := w.capture(t.Context())
		first := a.Capture()
		two := w.capture(t.Context())
		second := a.Capture()
		_, picture1 := sessiontest.PNG(t, 1, 1)
		_, picture2 := sessiontest.PNG(t, 2, 2)
		a.CaptureResult(second, &reprisev1.CaptureResult{Picture: picture2})
		a.CaptureResult(first, &reprisev1.CaptureResult{Picture: picture1})
		if got := <-one; got.err != nil || !proto.Equal(got.picture, picture1) {
			t.Errorf("the first got %v, %v", got.picture, got.err)
		}
		if got := <-two; got.err != nil || !proto.Equal(got.picture, picture2) {
			t.Errorf("the second got %v, %v", got.picture, got.err)
		}
	})
}

func TestACaptureThatFailsSaysWhy(t *testing.T) {
	disk := sessiontest.NotShowing(reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE, "the desktop is locked")
	for name, tt := range map[string]struct {
		hello  func(*reprisev1.Hello)
		answer sessiontest.Photographer
		want   error
		code   codes.Code
		reason string
		says   string
	}{
		"the agent cannot": {
			hello: func(h *reprisev1.Hello) { h.Capabilities = []string{"fly"} },
			want:  session.ErrCaptureUnsupported, code: codes.FailedPrecondition, reason: "CAPTURE_UNSUPPORTED",
		},
		"the agent says why not": {
			answer: disk, want: session.ErrCaptureFailed, code: codes.FailedPrecondition, reason: "CAPTURE_FAILED", says: "desktop_unavailable: the desktop is locked",
		},
		"the agent says nothing": {
			answer: sessiontest.Showing(nil), want: session.ErrCaptureFailed, code: codes.FailedPrecondition, reason: "CAPTURE_FAILED", says: "did not say why",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				h := sessiontest.Hello(machine, "spool")
				if tt.hello != nil {
					tt.hello(h)
				}
				sessiontest.Welcomed(t, t.Context(), w.conn, h, sessiontest.Photographs(tt.answer))
				synctest.Wait()
				_, err := w.service.Capture(t.Context(), machine, nil)
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				refused(t, rpcstatus.Error(err), tt.code, tt.reason)
			})
		})
	}
}

func TestACaptureOfAMachineWhoseAgentIsAwayIsRefusedAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.service.Capture(t.Context(), machine, nil)
		refused(t, rpcstatus.Error(err), codes.Unavailable, "AGENT_AWAY")
		hang := make(chan struct{})
		w.submit("r-1", "one")
		w.store.set(func(s *store) { s.hang = hang })
		a := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		synctest.Wait() // its hello is being written
		_, err = w.service.Capture(t.Context(), machine, nil)
		refused(t, rpcstatus.Error(err), codes.Unavailable, "AGENT_AWAY")
		close(hang)
		if a.Next().GetWelcome() == nil || a.Next().GetDispatch() == nil {
			t.Error("the refused capture has left something")
		}
	})
}

func TestACaptureEndsWithTheStreamOrItsCaller(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, errDisk)
		defer cancel()
		if got := <-w.capture(ctx); !errors.Is(got.err, errDisk) {
			t.Errorf("after its time: %v", got.err)
		}
		// The answer that comes too late is nobody's, and harms nobody.
		_, picture := sessiontest.PNG(t, 1, 1)
		a.CaptureResult(a.Capture(), &reprisev1.CaptureResult{Picture: picture})
		a.CaptureResult(&reprisev1.Capture{CaptureId: "never-asked"}, &reprisev1.CaptureResult{Picture: picture})
		got := w.capture(t.Context())
		a.Capture()
		a.Cut()
		refused(t, rpcstatus.Error((<-got).err), codes.Unavailable, "AGENT_AWAY")
	})
}

// Nobody can fill a session with captures: the fifth is refused, and one that is
// over makes room.
func TestAFewCapturesAtATime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		synctest.Wait()
		for range 4 {
			w.capture(t.Context())
		}
		synctest.Wait()
		_, err := w.service.Capture(t.Context(), machine, nil)
		refused(t, rpcstatus.Error(err), codes.ResourceExhausted, "CAPTURE_BUSY")
		_, picture := sessiontest.PNG(t, 1, 1)
		a.CaptureResult(a.Capture(), &reprisev1.CaptureResult{Picture: picture})
		synctest.Wait()
		again := w.capture(t.Context())
		for range 4 {
			a.CaptureResult(a.Capture(), &reprisev1.CaptureResult{Picture: picture})
		}
		if got := <-again; got.err != nil {
			t.Error(got.err)
		}
	})
}

// Captures that are given up are still in the way of an agent that does not read.
// They leave room for what must not be lost, and do not cost it its stream.
func TestCapturesNeverFillTheQueue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		blind := sessiontest.Open(t, t.Context(), w.dial(), sessiontest.Hello(machine, "spool"), sessiontest.Blind)
		synctest.Wait()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		busy := 0
		wide := make([]replay.Mask, 64)
		for range 2000 {
			_, err := w.service.Capture(gone, machine, wide)
			if errors.Is(err, session.ErrCaptureBusy) {
				busy++
			}
		}
		if busy == 0 || !w.connected() {
			t.Errorf("%d captures were refused; connected %v", busy, w.connected())
		}
		w.submit("r-1", "one")
		synctest.Wait()
		if n := w.store.fold(t, "r-1").Actions[0].Dispatches; n != 1 || !w.connected() {
			t.Errorf("%d dispatches; connected %v", n, w.connected())
		}
		blind.Cut()
	})
}

// What an action typed is not told to whoever asks for a picture.
func TestTypedTextInTheAnswerToACaptureIsMasked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		payload, err := proto.Marshal(&reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: needle}}}})
		if err != nil {
			t.Fatal(err)
		}
		step := replay.Step{Kind: "type", Payload: payload, Critical: true, MaxRetries: -1}
		w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
			return dispatch.Submit{ReplayID: "r-1", Created: replay.Created{MachineID: machine, Steps: []replay.Step{step}}, Reply: reply}
		})
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"),
			sessiontest.Photographs(sessiontest.NotShowing(reprisev1.ErrorCode_ERROR_CODE_INTERNAL, "while typing "+needle)))
		a.Dispatch()
		_, err = w.service.Capture(t.Context(), machine, nil)
		if !errors.Is(err, session.ErrCaptureFailed) || strings.Contains(err.Error(), "S3cr3t") || !strings.Contains(err.Error(), "•••") {
			t.Errorf("%v", err)
		}
	})
}
