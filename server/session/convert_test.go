package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// names returns an enum's names by number, without their prefix.
func names(d protoreflect.EnumDescriptor, prefix string) map[int]string {
	all := map[int]string{}
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		all[int(v.Number())] = strings.TrimPrefix(string(v.Name()), prefix)
	}
	return all
}

// What is cast by its number must mean the same on both sides, value by value.
func TestNumbersThatAreCastMeanTheSameOnBothSides(t *testing.T) {
	verdicts := map[int]string{0: "UNSPECIFIED"}
	for v := replay.Accepted; v <= replay.UnknownAction; v++ {
		verdicts[int(v)] = v.String()
	}
	if diff := cmp.Diff(names(reprisev1.ReportVerdict(0).Descriptor(), "REPORT_VERDICT_"), verdicts); diff != "" {
		t.Errorf("verdicts (-schema +core):\n%s", diff)
	}
	executing := map[int]string{0: "UNSPECIFIED", int(replay.GoOn): "GO_ON", int(replay.Stop): "STOP"}
	if diff := cmp.Diff(names(reprisev1.ExecutingVerdict(0).Descriptor(), "EXECUTING_VERDICT_"), executing); diff != "" {
		t.Errorf("verdicts on what is executing (-schema +core):\n%s", diff)
	}
	reasons := map[int]string{0: "UNSPECIFIED"}
	for r := replay.OrphanTimeout; r <= replay.DesktopUnavailable; r++ {
		reasons[int(r)] = strings.ToUpper(r.String())
	}
	if diff := cmp.Diff(names(reprisev1.ResendReason(0).Descriptor(), "RESEND_REASON_"), reasons); diff != "" {
		t.Errorf("reasons (-schema +core):\n%s", diff)
	}
}

func TestEveryErrorCodeHasItsNameInTheCore(t *testing.T) {
	core := []string{
		replay.CodeTargetNotFound, replay.CodeSystemDialog, replay.CodeWrongWindow, replay.CodeVerifyFailed, replay.CodeDesktopUnavailable,
		replay.CodeInputBlocked, replay.CodeTargetOffScreen, replay.CodeGuardRefused, replay.CodePerson, replay.CodeTimeout,
		replay.CodeInterrupted, replay.CodeOutcomeUnknown, replay.CodeInvalidAction, replay.CodeUnsupported, replay.CodeInternal,
	}
	want := map[reprisev1.ErrorCode]string{0: replay.CodeOther, 9999: replay.CodeOther}
	for i, name := range core {
		want[reprisev1.ErrorCode(i+1)] = name
	}
	got := map[reprisev1.ErrorCode]string{9999: errorCode(9999)}
	for number := range reprisev1.ErrorCode_name {
		got[reprisev1.ErrorCode(number)] = errorCode(reprisev1.ErrorCode(number))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-core +schema):\n%s", diff)
	}
}

// Every reason that the core pauses for is shown as itself: a pause whose reason
// is unspecified tells a person nothing.
func TestEveryPauseReasonHasItsValue(t *testing.T) {
	for number, name := range reprisev1.PauseReason_name {
		if got := PauseReason(strings.ToLower(strings.TrimPrefix(name, "PAUSE_REASON_"))); got != reprisev1.PauseReason(number) {
			t.Errorf("%s becomes %v", name, got)
		}
	}
	if got := PauseReason("of a newer server"); got != reprisev1.PauseReason_PAUSE_REASON_UNSPECIFIED {
		t.Errorf("an unknown reason becomes %v", got)
	}
}

func TestHowFarAnActionCame(t *testing.T) {
	want := map[reprisev1.Completion]replay.Completion{
		reprisev1.Completion_COMPLETION_UNSPECIFIED: replay.CompletionUnknown, reprisev1.Completion_COMPLETION_NOT_STARTED: replay.CompletionNotStarted,
		reprisev1.Completion_COMPLETION_COMPLETED: replay.CompletionCompleted, reprisev1.Completion_COMPLETION_UNKNOWN: replay.CompletionUnknown,
		77: replay.CompletionUnknown,
	}
	if len(want) != len(reprisev1.Completion_name)+1 {
		t.Fatal("the schema has values that this table has not")
	}
	for from, to := range want {
		if r, err := result(&reprisev1.Report{Completion: from}); err != nil || r.Report.Completion != to {
			t.Errorf("%v becomes %v, %v; want %v", from, r.Report.Completion, err, to)
		}
	}
}

// A newer agent's words are kept as they came, and what they are about counts.
func TestWordsOfANewerAgentAreKept(t *testing.T) {
	sent := &reprisev1.Report{
		ActionId: "r-1-1", AttemptId: "r-1-1.1", NeedsHuman: true, SpoolId: "spool",
		Error:    &reprisev1.ActionError{Code: 9999, Message: "novel"},
		Warnings: []reprisev1.Warning{reprisev1.Warning_WARNING_NO_SCREEN_CHANGE, 8888},
	}
	sent.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 7777, protowire.VarintType), 5))
	r, err := result(sent)
	if err != nil {
		t.Fatal(err)
	}
	want := dispatch.Result{Ref: dispatch.Ref{ActionID: "r-1-1", AttemptID: "r-1-1.1"}, Report: replay.Report{
		Code: replay.CodeOther, Message: "novel", NoChange: true, NeedsHuman: true, SpoolID: "spool", Payload: r.Report.Payload,
	}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	kept := &reprisev1.Report{}
	if err := proto.Unmarshal(r.Report.Payload, kept); err != nil || !proto.Equal(sent, kept) {
		t.Errorf("kept %v, %v", kept, err)
	}
}

func TestOnlyAnActiveDesktopTakesInput(t *testing.T) {
	for number := range reprisev1.DesktopStateKind_name {
		want := number <= int32(reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE)
		if got := usable(&reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind(number)}); got != want {
			t.Errorf("%v: %v", reprisev1.DesktopStateKind(number), got)
		}
	}
	if !usable(nil) || usable(&reprisev1.DesktopState{Kind: 99}) {
		t.Error("an agent that says nothing has a desktop, an unknown state is none")
	}
}

func TestADispatchSaysAllThatTheServerKnows(t *testing.T) {
	action := &reprisev1.Action{Name: "pay", Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(90 * time.Second)}}}
	payload, err := proto.Marshal(action)
	if err != nil {
		t.Fatal(err)
	}
	rule := &reprisev1.PopupRule{Window: &reprisev1.WindowSelector{Title: "Update"}}
	popup, err := proto.Marshal(rule)
	if err != nil {
		t.Fatal(err)
	}
	c := converter{settings: &reprisev1.SessionSettings{ActionTimeout: durationpb.New(time.Minute)}}
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got, err := c.dispatch("s-1", dispatch.Delivery{
		ReplayID: "r-1", MachineID: "desk-1", ActionID: "r-1-1_resume", AttemptID: "r-1-1_resume.2", Step: replay.Step{Name: "pay", Payload: payload},
		FirstDispatchedAt: first, LastResentAt: first.Add(time.Second), Resent: 1, Number: 2, Reason: replay.OrphanTimeout,
		Replaces: []string{"r-1-1"}, Correction: &replay.Point{X: .25, Y: .75},
		Masks: []replay.Mask{{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}}, Popups: [][]byte{popup},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &reprisev1.Dispatch{
		ReplayId: "r-1", SessionId: "s-1", MachineId: "desk-1", ActionId: "r-1-1_resume", AttemptId: "r-1-1_resume.2", Action: action,
		Replaces: []string{"r-1-1"}, FromNode: "pay", Timeout: durationpb.New(100 * time.Second), CorrectedPosition: &reprisev1.Point{X: .25, Y: .75},
		Masks:  []*reprisev1.Mask{{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}},
		Popups: []*reprisev1.PopupRule{rule},
		DispatchMeta: &reprisev1.DispatchMeta{
			FirstDispatchedAt: timestamp(first), LastResentAt: timestamp(first.Add(time.Second)), ResentCount: 1, Delivery: 2,
			ResendReason: reprisev1.ResendReason_RESEND_REASON_ORPHAN_TIMEOUT,
		},
	}
	if !proto.Equal(want, got) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got, _ := c.dispatch("s-1", dispatch.Delivery{Step: replay.Step{Payload: payload}}); got.GetDispatchMeta().GetLastResentAt() != nil || got.GetCorrectedPosition() != nil {
		t.Errorf("what was not said is sent as %v", got)
	}
	if _, err := c.dispatch("s-1", dispatch.Delivery{Step: replay.Step{Payload: payload}, Popups: [][]byte{{0xff}}}); err == nil {
		t.Error("a rule that cannot be read is left out")
	}
	if _, err := c.dispatch("s-1", dispatch.Delivery{Step: replay.Step{Payload: []byte{0xff}}}); err == nil {
		t.Error("an action that cannot be read is sent")
	}
}

func TestTheRegistryIsToldWhatTheAgentSaysOfItself(t *testing.T) {
	got := info(&reprisev1.Hello{
		Version: "1.2.3", ProtocolVersion: 1, Capabilities: []string{"capture", "fly"}, LastExit: "panic",
		DesktopState: &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "Win+L"},
		Monitors:     []*reprisev1.Monitor{{Index: 1, OffsetX: -1920, OffsetY: 10, Width: 1920, Height: 1080, Scale: 1.5, Primary: true}},
	})
	want := registry.Info{
		AgentVersion: "1.2.3", ProtocolVersion: 1, Capabilities: []string{"capture", "fly"}, LastExit: "panic",
		DesktopKind: int(reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED), DesktopWhy: "Win+L",
		Monitors: []registry.Monitor{{Index: 1, X: -1920, Y: 10, Width: 1920, Height: 1080, Scale: 1.5, Primary: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAResultThatCouldNotBeRecordedIsNotAnswered(t *testing.T) {
	c := converter{results: []dispatch.Ref{{ActionID: "a"}, {ActionID: "b"}}}
	got := c.welcome(dispatch.Welcome{Verdicts: []replay.Verdict{0, replay.Accepted}})
	if len(got.GetResultAcks()) != 1 || got.GetResultAcks()[0].GetActionId() != "b" {
		t.Errorf("answered %v", got.GetResultAcks())
	}
}

func TestOnlyWhatConcernsAnAgentIsSentToIt(t *testing.T) {
	for _, e := range []dispatch.Effect{dispatch.Answer{}, dispatch.Changed{}, dispatch.Note{}, dispatch.Swept{}, dispatch.Fault{}, dispatch.CloseSession{}} {
		if m, err := (converter{}).effect("s-1", e); err == nil {
			t.Errorf("%s is sent as %v", fmt.Sprintf("%T", e), m)
		}
	}
}
