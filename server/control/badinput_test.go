package control_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// badInput is one call that is answered with an error and stores nothing.
type badInput struct {
	name   string
	call   func(s *server, at places) error
	code   codes.Code
	reason string
	field  string // that google.rpc.BadRequest names; empty: none
}

// places are the replays that a bad call may aim at.
type places struct{ running, gate, open, done string }

func create(change func(*reprisev1.CreateReplayRequest)) func(*server, places) error {
	return func(s *server, _ places) error {
		req := &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: clicks("one", "two")}
		change(req)
		_, err := s.replays.CreateReplay(s.ctx, req)
		return err
	}
}

// at is create with the first action's point.
func at(x, y float64) func(*server, places) error {
	return create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Actions[0].Target.Point = &reprisev1.Point{X: x, Y: y}
	})
}

func resumes(change func(*reprisev1.ResumeReplayRequest, places)) func(*server, places) error {
	return func(s *server, at places) error {
		req := &reprisev1.ResumeReplayRequest{ReplayId: at.gate}
		change(req, at)
		_, err := s.resume(req)
		return err
	}
}

func appends(change func(*reprisev1.AppendActionsRequest, places)) func(*server, places) error {
	return func(s *server, at places) error {
		req := &reprisev1.AppendActionsRequest{ReplayId: at.open, RequestId: "a", Actions: []*reprisev1.Action{click("new"), click("newer")}}
		change(req, at)
		_, err := s.replays.AppendActions(s.ctx, req)
		return err
	}
}

func lists(req *reprisev1.ListReplaysRequest) func(*server, places) error {
	return func(s *server, _ places) error { _, err := s.replays.ListReplays(s.ctx, req); return err }
}

func actionsOf(req *reprisev1.ListActionsRequest) func(*server, places) error {
	return func(s *server, at places) error {
		if req.ReplayId == "" {
			req.ReplayId = at.running
		}
		_, err := s.replays.ListActions(s.ctx, req)
		return err
	}
}

func watches(after int64) func(*server, places) error {
	return func(s *server, at places) error {
		w, err := s.replays.WatchReplay(s.ctx, &reprisev1.WatchReplayRequest{ReplayId: at.running, AfterRevision: &after})
		if err == nil {
			_, err = w.Recv()
		}
		return err
	}
}

func follows(req *reprisev1.WatchEventsRequest) func(*server, places) error {
	return func(s *server, _ places) error {
		w, err := s.replays.WatchEvents(s.ctx, req)
		if err == nil {
			_, err = w.Recv()
		}
		return err
	}
}

const (
	invalidField = "INVALID_FIELD"
	invalid      = codes.InvalidArgument
)

var badCreates = []badInput{
	{"no kind", create(func(r *reprisev1.CreateReplayRequest) { r.Workflow.Actions[1].Kind = nil }), invalid, invalidField, "workflow.actions[1].kind"},
	{"a kind of a newer schema", rawCreate(func(w *reprisev1.Workflow) {
		w.Actions[1].Kind = nil
		raw := protowire.AppendTag(nil, 4711, protowire.BytesType)
		w.Actions[1].ProtoReflect().SetUnknown(protowire.AppendBytes(raw, nil))
	}, ""), invalid, invalidField, "workflow.actions[1].kind"},
	{"a key that no keyboard has", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Actions[1].Kind = &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"ctrl", "banana"}}}
	}), invalid, invalidField, "workflow.actions[1].key_combo.keys[1]"},
	{"a title that is no expression", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Actions[1].Kind = &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{Window: &reprisev1.WindowSelector{
			Title: "(", TitleMatch: reprisev1.TitleMatch_TITLE_MATCH_REGEXP,
		}}}
	}), invalid, invalidField, "workflow.actions[1].focus_window.window.title"},
	{"an id of a million bytes", func(s *server, _ places) error {
		_, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: strings.Repeat("Z", 1<<20)})
		if err != nil && len(err.Error()) > 1000 {
			return fmt.Errorf("the error has %d bytes", len(err.Error()))
		}
		return err
	}, invalid, invalidField, "replay_id"},
	{"an unknown supervision", create(func(r *reprisev1.CreateReplayRequest) { r.Supervision = 99 }), invalid, invalidField, "supervision"},
	{"an unknown give-up", create(func(r *reprisev1.CreateReplayRequest) { r.Workflow.Actions[0].OnGiveUp = 99 }), invalid, invalidField, "workflow.actions[0].on_give_up"},
	{"an unknown button", create(func(r *reprisev1.CreateReplayRequest) { r.Workflow.Actions[0].GetClick().Button = -1 }), invalid, invalidField, "workflow.actions[0].click.button"},
	{"no workflow", create(func(r *reprisev1.CreateReplayRequest) { r.Workflow = nil }), invalid, invalidField, "workflow"},
	{"an empty workflow", create(func(r *reprisev1.CreateReplayRequest) { r.Workflow.Actions = nil }), invalid, invalidField, "workflow.actions"},
	{"100,001 actions", create(func(r *reprisev1.CreateReplayRequest) {
		shot := &reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}
		r.Workflow.Actions = make([]*reprisev1.Action, 100_001)
		for i := range r.Workflow.Actions {
			r.Workflow.Actions[i] = shot
		}
	}), invalid, invalidField, "workflow.actions"},
	{"1 MB of text", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Actions[1].Kind = &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: strings.Repeat("x", 1<<20)}}}
	}), invalid, invalidField, "workflow.actions[1].type.text"},
	{"left of the screen", at(-.001, .5), invalid, invalidField, "workflow.actions[0].target.point.x"},
	{"below the screen", at(.5, 1.001), invalid, invalidField, "workflow.actions[0].target.point.y"},
	{"nowhere", at(math.NaN(), .5), invalid, invalidField, "workflow.actions[0].target.point.x"},
	{"infinitely far", at(.5, math.Inf(1)), invalid, invalidField, "workflow.actions[0].target.point.y"},
	{"an unknown monitor", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Actions[1].MonitorResolution = &reprisev1.MonitorResolution{Index: 2}
	}), invalid, invalidField, "workflow.actions[1].monitor_resolution.index"},
	{"an unknown monitor for all", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.MonitorResolution = &reprisev1.MonitorResolution{Index: 2}
	}), invalid, invalidField, "workflow.monitor_resolution.index"},
	{"text that is no UTF-8", rawCreate(func(w *reprisev1.Workflow) { w.Actions[1].Intention = "BAD" }, "BAD"), invalid, invalidField, "workflow.actions[1].intention"},
	{"what is no message", func(s *server, _ places) error { return s.raw("CreateReplay", []byte("nonsense")) }, invalid, "INVALID_MESSAGE", ""},
	{"a label without a name", create(func(r *reprisev1.CreateReplayRequest) { r.Labels = map[string]string{"": "x"} }), invalid, invalidField, `labels[""]`},
	{"a machine that is no name", create(func(r *reprisev1.CreateReplayRequest) { r.MachineId = "../etc" }), invalid, invalidField, "machine_id"},
	{"an unknown machine", create(func(r *reprisev1.CreateReplayRequest) { r.MachineId = "desk-9" }), codes.NotFound, "MACHINE_NOT_FOUND", ""},
	{"a mask off the screen", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Masks = []*reprisev1.Mask{{Left: 1.5, Width: .1, Height: .1}}
	}), invalid, invalidField, "workflow.masks[0].left"},
	{"a popup of any window", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Popups = []*reprisev1.PopupRule{{Window: &reprisev1.WindowSelector{}}}
	}), invalid, invalidField, "workflow.popups[0].window"},
	{"a popup that is closed by no key", create(func(r *reprisev1.CreateReplayRequest) {
		r.Workflow.Popups = []*reprisev1.PopupRule{{
			Window: &reprisev1.WindowSelector{Title: "Update"}, Way: &reprisev1.PopupRule_Keys{Keys: &reprisev1.KeyCombo{Keys: []string{"banana"}}},
		}}
	}), invalid, invalidField, "workflow.popups[0].keys.keys[0]"},
}

var badCommands = []badInput{
	{"resume of a running replay", resumes(func(r *reprisev1.ResumeReplayRequest, at places) { r.ReplayId = at.running }), codes.FailedPrecondition, "REPLAY_NOT_PAUSED", ""},
	{"a missing check", resumes(func(*reprisev1.ResumeReplayRequest, places) {}), codes.FailedPrecondition, "SAFETY_CHECKS", ""},
	{"an unknown check", resumes(func(r *reprisev1.ResumeReplayRequest, _ places) {
		r.AcknowledgedCheckIds = []string{"patient", "dose", "bogus"}
	}), codes.FailedPrecondition, "SAFETY_CHECKS", ""},
	{"a check twice", resumes(func(r *reprisev1.ResumeReplayRequest, _ places) {
		r.AcknowledgedCheckIds = []string{"patient", "patient"}
	}), invalid, invalidField, "acknowledged_check_ids"},
	{"an unknown decision", resumes(func(r *reprisev1.ResumeReplayRequest, _ places) { r.Decision = 99 }), invalid, invalidField, "decision"},
	{"a position off the screen", resumes(func(r *reprisev1.ResumeReplayRequest, _ places) {
		r.Position = &reprisev1.Point{X: 2}
	}), invalid, invalidField, "position.x"},
	{"an append to a closed replay", appends(func(r *reprisev1.AppendActionsRequest, at places) { r.ReplayId = at.running }), codes.FailedPrecondition, "REPLAY_NOT_OPEN", ""},
	{"an append to an ended replay", appends(func(r *reprisev1.AppendActionsRequest, at places) { r.ReplayId = at.done }), codes.FailedPrecondition, "REPLAY_ENDED", ""},
	{"an append without a request id", appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.RequestId = "" }), invalid, invalidField, "request_id"},
	{"an append of nothing", appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.Actions = nil }), invalid, invalidField, "actions"},
	{"an append without a place", appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.Actions[1].Target = nil }), invalid, invalidField, "actions[1].target"},
	{"an append of what no server executes", appends(func(r *reprisev1.AppendActionsRequest, _ places) {
		r.Actions[1].Kind = &reprisev1.Action_Condition{Condition: &reprisev1.Condition{Expression: "x"}}
	}), invalid, invalidField, "actions[1].condition"},
	{"an append of a name that is taken", appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.Actions[1].Name = "one" }), invalid, invalidField, "actions[1].name"},
	{"an append of a name twice", appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.Actions[1].Name = "new" }), invalid, invalidField, "actions[1].name"},
	{"an append to an unknown monitor", appends(func(r *reprisev1.AppendActionsRequest, _ places) {
		r.Actions[1].MonitorResolution = &reprisev1.MonitorResolution{Index: 2}
	}), invalid, invalidField, "actions[1].monitor_resolution.index"},
	{"an append without its picture", appends(func(r *reprisev1.AppendActionsRequest, _ places) {
		r.Actions[1].Target = &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: strings.Repeat("a", 64)}}
	}), codes.FailedPrecondition, "PICTURE_MISSING", ""},
	{"closing a cancelled replay", func(s *server, at places) error {
		_, err := s.replays.CloseReplay(s.ctx, &reprisev1.CloseReplayRequest{ReplayId: at.done})
		return err
	}, codes.FailedPrecondition, "REPLAY_ENDED", ""},
	{"a picture of an unknown machine", func(s *server, _ places) error {
		_, err := s.machines.CaptureScreen(s.ctx, &reprisev1.CaptureScreenRequest{MachineId: "desk-9"})
		return err
	}, codes.NotFound, "MACHINE_NOT_FOUND", ""},
	{"a picture of no machine", func(s *server, _ places) error {
		_, err := s.machines.CaptureScreen(s.ctx, &reprisev1.CaptureScreenRequest{})
		return err
	}, invalid, invalidField, "machine_id"},
}

var badReads = []badInput{
	{"a page of less than nothing", lists(&reprisev1.ListReplaysRequest{PageSize: -1}), invalid, invalidField, "page_size"},
	{"a page of too much", lists(&reprisev1.ListReplaysRequest{PageSize: 1001}), invalid, invalidField, "page_size"},
	{"a broken page token", lists(&reprisev1.ListReplaysRequest{PageToken: "x"}), invalid, "PAGE_TOKEN_INVALID", ""},
	{"a state that none has", lists(&reprisev1.ListReplaysRequest{States: []reprisev1.ReplayState{0}}), invalid, invalidField, "states[0]"},
	{"an unknown state", lists(&reprisev1.ListReplaysRequest{States: []reprisev1.ReplayState{99}}), invalid, invalidField, "states[0]"},
	{"a filter by a label without a name", lists(&reprisev1.ListReplaysRequest{Labels: map[string]string{"": "x"}}), invalid, invalidField, "labels"},
	{"an empty time", lists(&reprisev1.ListReplaysRequest{
		CreatedFrom: timestamppb.New(time.Unix(9, 0)), CreatedBefore: timestamppb.New(time.Unix(9, 0)),
	}), invalid, invalidField, "created_before"},
	{"no time at all", lists(&reprisev1.ListReplaysRequest{CreatedFrom: &timestamppb.Timestamp{Nanos: -1}}), invalid, invalidField, "created_from"},
	{"actions: a page of less than nothing", actionsOf(&reprisev1.ListActionsRequest{PageSize: -1}), invalid, invalidField, "page_size"},
	{"actions: a page of too much", actionsOf(&reprisev1.ListActionsRequest{PageSize: 1001}), invalid, invalidField, "page_size"},
	{"actions: a broken page token", actionsOf(&reprisev1.ListActionsRequest{PageToken: "x"}), invalid, "PAGE_TOKEN_INVALID", ""},
	{"a revision below nothing", watches(-1), invalid, invalidField, "after_revision"},
	{"a revision that is not there yet", watches(1 << 40), invalid, invalidField, "after_revision"},
	{"events after what is no id", follows(&reprisev1.WatchEventsRequest{AfterEventId: "x"}), invalid, "EVENT_ID_INVALID", ""},
	{"events after an id of another journal", follows(&reprisev1.WatchEventsRequest{AfterEventId: strings.Repeat("a", 32) + "-1"}), invalid, "EVENT_ID_INVALID", ""},
	{"events after an id and from the beginning", follows(&reprisev1.WatchEventsRequest{AfterEventId: "x", FromBeginning: true}), invalid, invalidField, "from_beginning"},
}

// Each bad call is answered with a code, a documented reason and the field that is
// at fault, and stores nothing.
func TestBadInputNamesItsFieldAndStoresNothing(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		at, _ := s.someReplays()
		before := s.position()
		for _, list := range [][]badInput{badCreates, badCommands, badReads} {
			for _, tt := range list {
				err := tt.call(s, at)
				if got := detail[*errdetails.ErrorInfo](err).GetReason(); status.Code(err) != tt.code || got != tt.reason {
					t.Errorf("%s: %v with reason %q; want %v, %q", tt.name, err, got, tt.code, tt.reason)
				}
				if got := fields(err); tt.field != "" && (len(got) != 1 || got[0] != tt.field) {
					t.Errorf("%s: names %q, want %q", tt.name, got, tt.field)
				}
				if now := s.position(); now != before {
					t.Fatalf("%s: something was stored: %s, then %s", tt.name, before, now)
				}
			}
		}
	})
}

// Nobody's id is answered the same way by every call that takes one.
func TestEveryCallRefusesAReplayThatNobodyKnows(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		for name, call := range map[string]func(id string) error{
			"GetReplay": func(id string) error {
				_, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
				return err
			},
			"without": func(id string) error {
				_, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id, WithoutActions: true})
				return err
			},
			"ListActions": func(id string) error {
				_, err := s.replays.ListActions(s.ctx, &reprisev1.ListActionsRequest{ReplayId: id})
				return err
			},
			"ExplainReplay": func(id string) error {
				_, err := s.replays.ExplainReplay(s.ctx, &reprisev1.ExplainReplayRequest{ReplayId: id})
				return err
			},
			"AppendActions": func(id string) error {
				return appends(func(r *reprisev1.AppendActionsRequest, _ places) { r.ReplayId = id })(s, places{})
			},
			"CloseReplay": func(id string) error {
				_, err := s.replays.CloseReplay(s.ctx, &reprisev1.CloseReplayRequest{ReplayId: id})
				return err
			},
			"PauseReplay": func(id string) error {
				_, err := s.replays.PauseReplay(s.ctx, &reprisev1.PauseReplayRequest{ReplayId: id})
				return err
			},
			"ResumeReplay": func(id string) error { _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); return err },
			"CancelReplay": s.cancel,
			"WatchReplay":  func(id string) error { _, err := s.watch(id).Recv(); return err },
		} {
			if err := call("r-9"); status.Code(err) != codes.NotFound || detail[*errdetails.ErrorInfo](err).GetReason() != "REPLAY_NOT_FOUND" {
				t.Errorf("%s: %v", name, err)
			}
			if got := fields(call("")); len(got) != 1 || got[0] != "replay_id" {
				t.Errorf("%s without an id names %q", name, got)
			}
		}
	})
}

// A request over the limit ends its call alone, and says what the limit is.
func TestARequestThatIsTooLargeSaysTheLimit(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		err := s.raw("CreateReplay", make([]byte, 16<<20+1))
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(status.Convert(err).Message(), "larger than max") {
			t.Error(err)
		}
		s.create(clicks("one"))
	})
}
