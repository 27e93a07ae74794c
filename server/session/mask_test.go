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
		payload, err := proto.Marshal(&reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: needle}}}})
		if err != nil {
			t.Fatal(err)
		}
		step := replay.Step{Kind: "type", Payload: payload, Critical: true, MaxRetries: -1}
		w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
			return dispatch.Submit{ReplayID: "r-1", Created: replay.Created{MachineID: machine, Steps: []replay.Step{step, step}}, Reply: reply}
		})
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

func TestWhatAnAgentIsDoingIsMaskedToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		payload, err := proto.Marshal(&reprisev1.Action{Kind: &reprisev1.Action_Paste{Paste: &reprisev1.Paste{Text: "SELECT 42"}}})
		if err != nil {
			t.Fatal(err)
		}
		w.ask(machine, func(reply func(dispatch.Answer)) dispatch.Input {
			return dispatch.Submit{ReplayID: "r-1", Created: replay.Created{MachineID: machine, Steps: []replay.Step{{Kind: "paste", Payload: payload}}}, Reply: reply}
		})
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := a.Dispatch()
		a.Progress(d.GetActionId(), "pasting SELECT 42 now")
		synctest.Wait()
		v, found, err := w.fleet.Loop(machine).View(context.Background(), "r-1")
		if err != nil || !found || v.Actions[0].Doing != "pasting ••• now" {
			t.Errorf("%q, %v, %v", v.Actions[0].Doing, found, err)
		}
	})
}
