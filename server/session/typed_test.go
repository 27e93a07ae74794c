package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

const needle = "S3cr3t \"needle\"-42\nsecond line"

// An agent must not repeat what it typed. One that does is not quoted, whether its
// words come at once, with a later hello or as progress.
func TestTypedTextThatAnAgentRepeatsIsMasked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", needle, needle)
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := a.Dispatch()
		a.Progress(d.GetActionId(), "typing "+needle)
		a.Report(sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, `the field holds "S3cr3t \"needle\"-42\nsecond line"`))
		unquoted(t, a.Next().GetPause().GetMessage(), "the field holds")
		a.Ack()
		w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) {
			return r.DecideResume(replay.ResumeCommand{Skip: true})
		})
		if a.Next().GetResume() == nil {
			t.Fatal("no resume")
		}
		d = a.Dispatch()
		a.Cut()
		synctest.Wait()
		h := sessiontest.Hello(machine, "spool")
		h.Results = []*reprisev1.Report{sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, "below it is: second line.")}
		b, _ := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		unquoted(t, b.Next().GetPause().GetMessage(), "below it is: •••.")
	})
}

// What an action typed is on the screen that the next one tells of.
func TestTypedTextIsMaskedInTheReportsOfLaterActions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", needle, "another text")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		d := a.Dispatch()
		rep := sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, "in front is: S3cr3t \"needle\"-42")
		rep.TargetDescription = "a window with " + needle
		a.Report(rep)
		unquoted(t, a.Next().GetPause().GetMessage(), "in front is")
		a.Ack()
		stored := w.report(d.GetActionId())
		unquoted(t, stored.GetError().GetMessage(), "in front is")
		unquoted(t, stored.GetTargetDescription(), "a window with")
		if stored.GetActionId() != d.GetActionId() {
			t.Errorf("the report is of %q", stored.GetActionId())
		}
	})
}

// report returns the report of an action as it is kept.
func (w *world) report(actionID string) *reprisev1.Report {
	w.t.Helper()
	v, found, err := w.fleet.Loop(machine).View(w.t.Context(), actionID[:strings.LastIndex(actionID, "-")])
	if err != nil || !found {
		w.t.Fatalf("the replay of %s: %v, %v", actionID, found, err)
	}
	for _, a := range v.Actions {
		if a.ID == actionID && a.Report != nil {
			r := &reprisev1.Report{}
			if err := proto.Unmarshal(a.Report.Payload, r); err != nil {
				w.t.Fatal(err)
			}
			return r
		}
	}
	w.t.Fatalf("no report of %s", actionID)
	return nil
}

func unquoted(t *testing.T, message, kept string) {
	t.Helper()
	for _, part := range []string{`needle`, "second line", `S3cr3t`} {
		if strings.Contains(message, part) {
			t.Errorf("%q repeats %q", message, part)
		}
	}
	if !strings.Contains(message, kept) {
		t.Errorf("%q does not say %q", message, kept)
	}
}

// types submits a replay that types these texts.
func (w *world) types(replayID string, texts ...string) {
	w.t.Helper()
	var steps []replay.Step
	for _, text := range texts {
		payload, err := proto.Marshal(&reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}}})
		if err != nil {
			w.t.Fatal(err)
		}
		steps = append(steps, replay.Step{Kind: "type", Payload: payload, Critical: true, MaxRetries: -1})
	}
	w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
		return dispatch.Submit{ReplayID: replayID, Created: replay.Created{MachineID: machine, Steps: steps}, Reply: reply}
	})
}

// doing is what the agent says it is doing about an action, as people see it.
func (w *world) doing(replayID, actionID string) string {
	w.t.Helper()
	synctest.Wait()
	v, found, err := w.fleet.Loop(machine).View(context.Background(), replayID)
	if err != nil || !found {
		w.t.Fatal(found, err)
	}
	for _, a := range v.Actions {
		if a.ID == actionID {
			return a.Doing
		}
	}
	w.t.Fatalf("no action %s", actionID)
	return ""
}

func TestWhatAnAgentIsDoingIsMaskedToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", "SELECT 41", "SELECT 42")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		d := a.Dispatch()
		a.Progress(d.GetActionId(), "typing SELECT 42 now")
		if got := w.doing("r-1", d.GetActionId()); got != "typing ••• now" {
			t.Errorf("%q", got)
		}
		a.Cut() // and goes on executing
		synctest.Wait()
		h := sessiontest.Hello(machine, "spool")
		h.Executing = &reprisev1.ActionRef{ActionId: d.GetActionId(), AttemptId: d.GetAttemptId()}
		b, _ := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		b.Progress(d.GetActionId(), "still typing SELECT 42")
		if got := w.doing("r-1", d.GetActionId()); got != "still typing •••" {
			t.Errorf("in the next session: %q", got)
		}
	})
}

// A decision that another one has replaced typed the same as that one.
func TestALateReportOfAnotherDecisionIsMasked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", "other", "hunter2")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		a.Report(sessiontest.Failed(a.Dispatch(), reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, "no"))
		a.Next()
		a.Ack()
		w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(replay.ResumeCommand{}) })
		a.Next()
		d := a.Dispatch()
		if !strings.HasSuffix(d.GetActionId(), "_resume") {
			t.Fatal(d.GetActionId())
		}
		a.Cut()
		synctest.Wait()
		h := sessiontest.Hello(machine, "spool")
		h.Results = []*reprisev1.Report{sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, "it shows hunter2")}
		b, _ := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		if got := b.Next().GetPause().GetMessage(); !strings.Contains(got, "it shows •••") {
			t.Errorf("%q", got)
		}
	})
}

// What an agent says of its machine may repeat what it typed as well.
func TestWhatAnAgentSaysOfItsMachineIsMasked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", "hunter2")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := a.Dispatch()
		says := func(when, exit, why string) {
			t.Helper()
			synctest.Wait()
			if i := w.registry.Machine(machine).Info; i.LastExit != exit || i.DesktopWhy != why {
				t.Errorf("%s: %q, %q", when, i.LastExit, i.DesktopWhy)
			}
		}
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: &reprisev1.DesktopState{Detail: "hunter2 is in front"}}})
		says("while it goes on", "", "••• is in front")
		a.Cut()
		synctest.Wait()
		h := sessiontest.Hello(machine, "spool")
		h.BootId, h.LastExit, h.DesktopState = "another boot", "panic: typing hunter2", &reprisev1.DesktopState{Detail: "hunter2 is in front"}
		h.Unfinished = []*reprisev1.ActionRef{{ActionId: d.GetActionId()}}
		b, _ := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		says("with a hello", "panic: typing •••", "••• is in front")
		b.Cut()
		synctest.Wait()
		h.Unfinished = append(h.Unfinished, &reprisev1.ActionRef{ActionId: "gone-1"})
		sessiontest.Welcomed(t, t.Context(), w.conn, h)
		says("of an action that is forgotten", "•••", "••• is in front")
	})
}

func TestTheWordsOfAPictureAreMasked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.types("r-1", "hunter2")
		_, picture := sessiontest.PNG(t, 4, 3)
		picture.Note = "it shows hunter2"
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"), sessiontest.Photographs(sessiontest.Showing(picture)))
		a.Dispatch()
		got, err := w.service.Capture(t.Context(), machine, nil)
		if err != nil || got.GetNote() != "it shows •••" || got.GetSha256() != picture.GetSha256() {
			t.Errorf("%v, %v", got, err)
		}
	})
}
