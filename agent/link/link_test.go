package link

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"buf.build/go/protovalidate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

func TestAFullOutboxDropsProgressAndRefusesAllElse(t *testing.T) {
	o := newOutbox()
	report := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: &reprisev1.Report{ActionId: "a"}}}
	progress := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{ActionId: "a"}}}
	for range outboxLength {
		if err := o.push(progress); err != nil {
			t.Fatal(err)
		}
	}
	reports := 0
	for o.push(report) == nil {
		reports++
	}
	if reports != outboxLength/2 {
		t.Errorf("%d reports were taken, want %d", reports, outboxLength/2)
	}
	if err := o.push(report); !errors.Is(err, errOutboxFull) {
		t.Errorf("push = %v", err)
	}
	taken := 0
	for o.take() != nil {
		taken++
	}
	if taken != outboxLength {
		t.Errorf("%d messages came out, want %d", taken, outboxLength)
	}
}

func TestEveryKindThatAnAgentExecutesHasAGesture(t *testing.T) {
	oneof := (&reprisev1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	for i := range oneof.Fields().Len() {
		field := oneof.Fields().Get(i)
		a := &reprisev1.Action{}
		a.ProtoReflect().Set(field, a.ProtoReflect().NewField(field))
		if d := a.GetDrag(); d != nil {
			d.To = &reprisev1.Target{}
		}
		k := kind.Of(a)
		if got := gesture(a); (got == nil) != k.ServerSide {
			t.Errorf("%s: gesture %v", k.Name, got)
		}
	}
}

func TestEveryWordOfOursIsTheSchemas(t *testing.T) {
	codes := []work.Code{
		work.TargetNotFound, work.SystemDialog, work.WrongWindow, work.VerifyFailed, work.DesktopUnavailable, work.InputBlocked,
		work.TargetOffScreen, work.Timeout, work.Interrupted, work.OutcomeUnknown, work.InvalidAction, work.Unsupported, work.Internal,
	}
	l := New(Config{MachineID: "m"})
	for _, c := range codes {
		r := l.report(work.Report{Outcome: work.Failure(c, work.Unknown, "")}, "")
		if got := word(r.GetError().GetCode(), "ERROR_CODE_"); got != string(c) {
			t.Errorf("%s became %s", c, got)
		}
	}
	for _, c := range []work.Completion{work.NotStarted, work.Completed, work.Unknown} {
		for _, e := range []work.Effect{work.Seen, work.NoneSeen, work.NotChecked} {
			r := l.report(work.Report{Outcome: work.Outcome{Completion: c, Effect: e}}, "")
			if word(r.GetCompletion(), "COMPLETION_") != string(c) || word(r.GetEffect(), "EFFECT_") != string(e) {
				t.Errorf("%s, %s became %v, %v", c, e, r.GetCompletion(), r.GetEffect())
			}
		}
	}
	for _, w := range []work.Warning{work.NoScreenChange, work.PopupHandled, work.PopupStayed, work.VisualResolveFailed, work.AlreadyExecuted} {
		r := l.report(work.Report{Outcome: work.Outcome{}.Warned(w)}, "")
		if got := word(r.GetWarnings()[0], "WARNING_"); got != string(w) {
			t.Errorf("%s became %s", w, got)
		}
	}
	values := reprisev1.DesktopStateKind_name
	for k := desktop.Active; k <= desktop.ElevatedWindow; k++ {
		want := "DESKTOP_STATE_KIND_" + strings.ToUpper(strings.ReplaceAll(k.String(), " ", "_"))
		if got := values[int32(desktopState(desktop.State{Kind: k}).GetKind())]; got != want {
			t.Errorf("%v became %s", k, got)
		}
	}
}

func TestATargetComesBackAsItWasDispatched(t *testing.T) {
	in := &reprisev1.Target{
		ByText: "OK", VlmDescription: "the button", WindowTitle: "Editor", Point: &reprisev1.Point{X: 0.1, Y: 0.2},
		ResolveOrder: []reprisev1.Resolver{reprisev1.Resolver_RESOLVER_VLM, reprisev1.Resolver_RESOLVER_UIA, reprisev1.Resolver_RESOLVER_OCR, reprisev1.Resolver_RESOLVER_TEMPLATE},
		AnchorImage:  &reprisev1.AnchorImage{Sha256: strings.Repeat("ab", 32), Offset: &reprisev1.Point{X: 1}, MinScore: 0.9, RecordedScale: 1.25},
		UiaTarget:    &reprisev1.UiaTarget{Name: "n", AutomationId: "i", ControlType: "Button"},
		PicturePoint: &reprisev1.PicturePoint{X: 1, Y: 2, OriginX: -3, OriginY: 4, Scale: 2, Geometry: "g"},
	}
	if diff := cmp.Diff(in, targetOut(target(in)), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	unset := 0
	in.ProtoReflect().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { unset--; return true })
	if unset += in.ProtoReflect().Descriptor().Fields().Len(); unset != 0 {
		t.Errorf("the test leaves %d fields of the target unset", unset)
	}
}

// What a desktop says may be of any length and encoding; no report is refused
// for it.
func TestNoReportBreaksTheSchemasRules(t *testing.T) {
	long := strings.Repeat("é\xff", 30_000)
	l := New(Config{MachineID: "m"})
	r := l.report(work.Report{
		Ref: work.Ref{ReplayID: "r", ActionID: "a", AttemptID: "a1"},
		Outcome: work.Outcome{
			Code: work.SystemDialog, Message: long, Description: long, StartedAt: time.Now(),
			Dialog: &work.Dialog{Category: long, Signal: long, Value: long, Reason: long, Context: long},
		},
	}, "spool")
	p := progress(work.Progress{Ref: work.Ref{ActionID: "a"}, Doing: long})
	s := desktopState(desktop.State{Kind: desktop.Locked, Detail: long})
	if err := errors.Join(protovalidate.Validate(r), protovalidate.Validate(p), protovalidate.Validate(s)); err != nil {
		t.Error(err)
	}
	if m := r.GetError().GetMessage(); !utf8.ValidString(m) || !strings.HasSuffix(m, "…") {
		t.Errorf("the message ends with %q", m[len(m)-8:])
	}
}

func TestAPictureSaysWhereItWasTaken(t *testing.T) {
	one := 1
	got := picture(&work.Picture{
		SHA256: strings.Repeat("ab", 32), Method: "window", Settled: true, Note: "n", Masks: 2, Origin: work.Position{X: -1280, Y: 5},
		Width: 640, Height: 400, Scale: 2, Geometry: "g", Monitor: &one, TakenAt: time.Unix(1, 0),
	})
	unset := got.ProtoReflect().Descriptor().Fields().Len()
	got.ProtoReflect().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { unset--; return true })
	if unset != 0 || got.GetOrigin().GetX() != -1280 || got.GetMonitor() != 1 || got.GetScale() != 2 {
		t.Errorf("%d fields are unset in %v", unset, got)
	}
}

func TestAPopupIsClosedByEscapeUnlessItsRuleSaysHow(t *testing.T) {
	update := &reprisev1.WindowSelector{Title: "Update", TitleMatch: reprisev1.TitleMatch_TITLE_MATCH_EXACT}
	got := Popups([]*reprisev1.PopupRule{
		{Window: update},
		{Window: update, Way: &reprisev1.PopupRule_Keys{Keys: &reprisev1.KeyCombo{Keys: []string{"alt", "f4"}}}},
		{Window: update, Way: &reprisev1.PopupRule_Point{Point: &reprisev1.Point{X: 0.5}}},
	})
	w := work.WindowSelector{Title: "Update", Match: work.Exact}
	want := []work.Popup{{Window: w, Keys: []string{"escape"}}, {Window: w, Keys: []string{"alt", "f4"}}, {Window: w, Point: &work.Point{X: 0.5}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlainTextIsSpokenToLoopbackOnly(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		server, ca string
		secure, ok bool
	}{
		{"127.0.0.1:7443", "", false, true},
		{"[::1]:7443", "", false, true},
		{"localhost:7443", "", false, true},
		{"example.org:7443", "", true, true},
		{"localhost.example.org:7443", "", true, true},
		{"127.0.0.1:7443", empty, false, false},
		{"127.0.0.1:7443", filepath.Join(dir, "missing.pem"), false, false},
		{"127.0.0.1", "", false, false},
	} {
		creds, secure, err := Transport(c.server, c.ca)
		if (err == nil) != c.ok || secure != c.secure {
			t.Errorf("%s with CA %q: secure %v, %v", c.server, c.ca, secure, err)
		}
		if err == nil && (creds.Info().SecurityProtocol == "tls") != c.secure {
			t.Errorf("%s speaks %s", c.server, creds.Info().SecurityProtocol)
		}
	}
	if !(bearer{secure: true}).RequireTransportSecurity() {
		t.Error("a token could travel in plain text")
	}
}

func TestATokenFileHoldsOneToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, c := range []struct{ content, want string }{{"secret\n", "secret"}, {" secret \r\n", "secret"}, {"", ""}, {"two\nlines", ""}} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := TokenFile(path)(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v", c.content, got, err)
		}
	}
	if _, err := TokenFile(path + ".missing")(); err == nil {
		t.Error("a missing file is no error")
	}
}
