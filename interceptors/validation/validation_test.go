package validation

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func newValidation(t *testing.T) *Validation {
	t.Helper()
	v, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func violations(err error) []*errdetails.BadRequest_FieldViolation {
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			return bad.GetFieldViolations()
		}
	}
	return nil
}

func report(r *reprisev1.Report) *reprisev1.ConnectRequest {
	return &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: r}}
}

// newer is a report of an agent that knows more words than this server.
func newer() *reprisev1.Report {
	return &reprisev1.Report{
		ActionId: "a", Error: &reprisev1.ActionError{Code: 4711}, Warnings: []reprisev1.Warning{4711},
		Completion: 4711, Effect: 4711,
		Target: &reprisev1.Target{ResolveOrder: []reprisev1.Resolver{4711}},
	}
}

func TestAReportIsNeverRefusedForItsVocabulary(t *testing.T) {
	v := newValidation(t)
	if err := v.Check(report(newer())); err != nil {
		t.Errorf("a report: %v", err)
	}
	hello := &reprisev1.Hello{MachineId: "m", AgentInstanceId: "s", BootId: "b", ProtocolVersion: 1, Results: []*reprisev1.Report{newer()}}
	if err := v.Check(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: hello}}); err != nil {
		t.Errorf("a report in a Hello: %v", err)
	}
	// Nor is what else a newer agent says; a caller's words must be known.
	progress := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{ActionId: "a", State: 4711}}}
	if err := v.Check(progress); err != nil {
		t.Errorf("progress: %v", err)
	}
	person := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{Kind: 4711}}}
	if err := v.Check(person); err != nil {
		t.Errorf("a request of the person at the machine: %v", err)
	}
	// The exception is for words alone.
	long := newer()
	long.ReplayId = strings.Repeat("r", 101)
	if got := violations(v.Check(report(long))); len(got) != 1 || got[0].GetField() != "report.replay_id" {
		t.Errorf("too long: %v", got)
	}
	upload := &reprisev1.CreateReplayRequest{Workflow: &reprisev1.Workflow{Name: "w", Actions: []*reprisev1.Action{{OnGiveUp: 4711, Kind: &reprisev1.Action_Move{}}}}}
	if err := v.Check(upload); status.Code(err) != codes.InvalidArgument {
		t.Errorf("an unknown word in a workflow: %v", err)
	}
}

func TestARefusalNamesFieldsAndRulesAndNoValues(t *testing.T) {
	err := newValidation(t).Check(&reprisev1.FindMissingRequest{Sha256: []string{"the patient's name"}})
	if status.Code(err) != codes.InvalidArgument {
		t.Fatal(err)
	}
	got := violations(err)
	if len(got) != 1 || got[0].GetField() != "sha256[0]" || got[0].GetReason() != "STRING_PATTERN" || got[0].GetDescription() == "" {
		t.Errorf("%v", got)
	}
	if msg := status.Convert(err).Message(); !strings.HasPrefix(msg, "sha256[0]: ") || strings.Contains(fmt.Sprint(err, got), "patient") {
		t.Errorf("message %q, fields %v", msg, got)
	}
}

func TestARefusalStaysSmall(t *testing.T) {
	bad := make([]string, 500)
	err := newValidation(t).Check(&reprisev1.FindMissingRequest{Sha256: bad})
	if got := len(violations(err)); got != maxNamed {
		t.Errorf("%d fields named", got)
	}
	if msg := status.Convert(err).Message(); !strings.HasSuffix(msg, "(and 499 more)") {
		t.Error(msg)
	}
}

func TestWhatIsNoMessageIsOurFault(t *testing.T) {
	if err := newValidation(t).Check("text"); status.Code(err) != codes.Internal {
		t.Error(err)
	}
}

// infoOf returns what an error's ErrorInfo says.
func infoOf(err error) (reason, domain string) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason(), info.GetDomain()
		}
	}
	return "", ""
}

func TestARefusalHasTheDocumentedReason(t *testing.T) {
	err := newValidation(t).Check(&reprisev1.FindMissingRequest{Sha256: []string{"x"}})
	if reason, domain := infoOf(err); reason != InvalidField || domain != Domain {
		t.Errorf("%q of %q", reason, domain)
	}
}
