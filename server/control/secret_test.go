package control_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// typing is a workflow that types a text as often as there are names.
func typing(text string, names ...string) *reprisev1.Workflow {
	w := &reprisev1.Workflow{Name: "types"}
	for _, n := range names {
		w.Actions = append(w.Actions, &reprisev1.Action{
			Name:        n,
			Kind:        &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}},
			RetryPolicy: &reprisev1.RetryPolicy{MaxRetries: proto.Int32(0), OnExhausted: reprisev1.RetriesExhausted_RETRIES_EXHAUSTED_FAIL},
		})
	}
	return w
}

// repeat puts a text into all fields of a report that are one, but ids by which
// the server knows the report, and digests.
func repeat(m protoreflect.Message, text string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.Kind() == protoreflect.MessageKind && !f.IsList() && f.Message().FullName().Parent() == "reprise.v1":
			if sub := m.Mutable(f).Message(); f.Message().Name() != "AnchorImage" {
				repeat(sub, text)
			}
		case f.Kind() != protoreflect.StringKind || f.IsList():
		case f.Name() == "sha256":
			m.Set(f, protoreflect.ValueOfString(strings.Repeat("0", 64)))
		case f.Name() != "action_id" && f.Name() != "attempt_id" && f.Name() != "machine_id" && f.Name() != "spool_id":
			m.Set(f, protoreflect.ValueOfString(text))
		}
	}
}

// leaky is a report of an agent that repeats a text wherever it can.
func leaky(d *reprisev1.Dispatch, code reprisev1.ErrorCode, text string) *reprisev1.Report {
	r := sessiontest.NotStarted(d, code, "")
	repeat(r.ProtoReflect(), text)
	r.Target.PicturePoint.Scale = 1
	r.ResolutionElapsed = durationpb.New(1)
	return r
}

// answers collects everything that callers are told, in every way there is.
type answers struct {
	*server
	all []proto.Message
}

func (s *answers) told(m proto.Message, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.all = append(s.all, m)
}

// look asks for whatever can be asked about a replay.
func (s *answers) look(id string) {
	s.t.Helper()
	get, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
	s.told(get, err)
	actions, err := s.replays.ListActions(s.ctx, &reprisev1.ListActionsRequest{ReplayId: id})
	s.told(actions, err)
	replays, err := s.replays.ListReplays(s.ctx, &reprisev1.ListReplaysRequest{})
	s.told(replays, err)
	why, err := s.replays.ExplainReplay(s.ctx, &reprisev1.ExplainReplayRequest{ReplayId: id})
	s.told(why, err)
	machines, err := s.machines.ListMachines(s.ctx, &reprisev1.ListMachinesRequest{})
	s.told(machines, err)
	watch, err := s.replays.WatchReplay(s.ctx, &reprisev1.WatchReplayRequest{ReplayId: id, AfterRevision: proto.Int64(0)})
	if err == nil {
		m, err := watch.Recv()
		s.told(m, err)
	}
	events, err := s.replays.WatchEvents(s.ctx, &reprisev1.WatchEventsRequest{FromBeginning: true, UntilPresent: true})
	for err == nil {
		var m *reprisev1.WatchEventsResponse
		if m, err = events.Recv(); err == nil {
			s.told(m, nil)
		}
	}
	if !errors.Is(err, io.EOF) {
		s.t.Fatal(err)
	}
}

// say lets an agent type a text twice and repeat it wherever it can: the first time
// a person has to help, the second time the replay fails of it.
func (s *answers) say(text, repeated string) (id string) {
	s.t.Helper()
	id = s.create(typing(text, "one", "two")).GetReplayId()
	watch := s.watch(id)
	a := s.agent("spool")
	d := a.Dispatch()
	a.Progress(d.GetActionId(), "doing "+repeated)
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: &reprisev1.DesktopState{Detail: "in front is " + repeated}}})
	synctest.Wait()
	s.look(id)
	a.Report(leaky(d, reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, "paused by "+repeated))
	s.all = append(s.all, a.Next().GetPause()) // the agent shows it to whoever is there
	a.Ack()
	s.look(id)
	if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id, Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP}); err != nil {
		s.t.Fatal(err)
	}
	a.Next()
	a.Report(leaky(a.Dispatch(), reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, "failed by "+repeated))
	for {
		m, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		s.told(m, err)
	}
	s.look(id)
	a.Cut()
	synctest.Wait()
	return id
}

// B26: what is typed is on the wire to the agent, in the journal and in the report
// as the agent stored it; nowhere else, even when the agent repeats it in every
// text that it says.
func TestTypedTextIsInNoLogAndNoAnswer(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		const needle = "S3cr3t-needle-42"
		got := &answers{server: s}
		id := got.say(needle, needle)
		var text strings.Builder
		for _, m := range got.all {
			if one := protojson.Format(m); strings.Contains(one, needle) {
				t.Errorf("an answer says %s", one)
			}
			text.WriteString(protojson.Format(m))
		}
		for _, said := range []string{"doing •••", "in front is •••", "paused by •••", "failed by •••"} {
			if !strings.Contains(text.String(), said) {
				t.Errorf("nobody was told %q", said)
			}
		}
		if r := s.get(id); !strings.Contains(r.GetEndReason(), "failed by •••") || r.GetActions()[1].GetReport().GetSystemDialog().GetContext() != "failed by •••" {
			t.Errorf("%v", r)
		}
		if log := s.log.String(); strings.Contains(log, needle) || !strings.Contains(log, "session opened") {
			t.Errorf("the log says:\n%s", log)
		}
	})
}

// Whatever form a text is repeated in, also when only one of its lines is.
func TestNoFormOfTypedTextIsInAnAnswer(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		const text = "NEEDLE <\"one\">\tNEEDLE é\nNEEDLE\\three\n"
		for name, repeated := range map[string]string{
			"as it is":             text,
			"without its end":      strings.TrimSpace(text),
			"quoted":               fmt.Sprintf("%q", text),
			"in ASCII":             fmt.Sprintf("%+q", text),
			"as JSON":              protojson.Format(&reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}),
			"as Windows has it":    strings.ReplaceAll(text, "\n", "\r\n"),
			"the second field":     "the field holds NEEDLE é, not more",
			"the third, quoted":    fmt.Sprintf("the field holds %q", `NEEDLE\three`),
			"until it was cut":     text[:len(text)-4] + "…",
			"more often than once": text + text,
		} {
			got := &answers{server: s}
			got.say(text, repeated)
			for _, m := range got.all {
				if one := protojson.Format(m); strings.Contains(one, "NEEDLE") {
					t.Errorf("%s: an answer says %s", name, one)
				}
			}
		}
	})
}
