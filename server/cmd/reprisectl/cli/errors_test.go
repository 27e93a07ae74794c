package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestEachAnswerOfTheServerHasItsExitCode(t *testing.T) {
	want := map[codes.Code]int{
		codes.InvalidArgument: 2, codes.OutOfRange: 2, codes.Unavailable: 6, codes.DeadlineExceeded: 6, codes.NotFound: 7,
		codes.FailedPrecondition: 8, codes.AlreadyExists: 8, codes.ResourceExhausted: 8, codes.Aborted: 8,
		codes.Unauthenticated: 9, codes.PermissionDenied: 9,
		codes.Canceled: 1, codes.Unknown: 1, codes.Internal: 1, codes.Unimplemented: 1, codes.DataLoss: 1,
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		f := &fake{get: func(string) (*reprisev1.Replay, error) { return nil, status.Error(code, "no") }}
		got := ctl(t, f, "get", "r-1")
		wantExit(t, got, want[code])
		if !strings.HasPrefix(got.stderr, "reprisectl: get r-1: no (") {
			t.Errorf("%v: stderr: %s", code, got.stderr)
		}
	}
}

// invalid is the server's answer to a request with two bad fields.
func invalid(string) (*reprisev1.Replay, error) {
	st, err := status.New(codes.InvalidArgument, "the request is invalid").WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "machine_id", Description: "does not match"}, {Field: "workflow.actions[2].click.count", Description: "must be at most 3"},
		},
	})
	if err != nil {
		return nil, err
	}
	return nil, st.Err()
}

func TestViolationsAreListedByField(t *testing.T) {
	f := &fake{get: invalid}
	got := ctl(t, f, "get", "r-1")
	want := "reprisectl: get r-1: the request is invalid (INVALID_ARGUMENT)\n  machine_id: does not match\n  workflow.actions[2].click.count: must be at most 3\n"
	if diff := cmp.Diff(want, got.stderr); diff != "" {
		t.Error(diff)
	}
	got = ctl(t, f, "get", "r-1", "-o", "json")
	want = `{"type":"error","code":"INVALID_ARGUMENT","message":"get r-1: the request is invalid","violations":[` +
		`{"field":"machine_id","description":"does not match"},{"field":"workflow.actions[2].click.count","description":"must be at most 3"}],"exitCode":2}` + "\n"
	if diff := cmp.Diff(want, got.stderr); diff != "" {
		t.Error(diff)
	}
	if got.stdout != "" {
		t.Errorf("stdout: %s", got.stdout)
	}
}

func TestASingleViolationIsToldOnce(t *testing.T) {
	st, err := status.New(codes.InvalidArgument, "page_size: must be at most 1000").WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "page_size", Description: "must be at most 1000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := ctl(t, &fake{get: func(string) (*reprisev1.Replay, error) { return nil, st.Err() }}, "get", "r-1")
	want := "reprisectl: get r-1: page_size: must be at most 1000 (INVALID_ARGUMENT)\n"
	if diff := cmp.Diff(want, got.stderr); diff != "" {
		t.Error(diff)
	}
}

func TestAWrongCommandLineReachesNoServer(t *testing.T) {
	path, _ := file(t)
	for _, args := range []string{
		"nonsense", "get", "get a b", "get r-1 --nonsense", "list -o xml", "list -s sleeping", "list -s unspecified", "list -n 0", "list extra", "list -l nolabel",
		"list --since soon", "list --until -2h", "list --since 1h --until 2h",
		"run " + path, "run gone.yaml -m desk-1", "run " + path + " -m desk-1 -l nolabel", "run " + path + " -m desk-1 -l =x", "run " + path + " -m desk-1 --wait=maybe",
		"resume r-1 --position 0.5", "resume r-1 --position a,b", "resume r-1 --position 0.5,1.5", "resume r-1 --position NaN,0", "resume r-1 --skip --position 0,0",
		"journal dump", "journal mend --data d", "completion bogus", "help bogus", "list --server nowhere", "list --timeout soon", "list --ca-file gone",
	} {
		f := &fake{}
		got := ctl(t, f, strings.Fields(args)...)
		wantExit(t, got, exitUsage)
		if got.stderr == "" {
			t.Errorf("%s: nothing is said", args)
		}
	}
}

func TestAWordThatNamesNoCommandIsNamedWithWhatIsNearIt(t *testing.T) {
	for line, want := range map[string]string{
		"wach r-1":      "unknown command \"wach\" for \"reprisectl\"; did you mean watch?\nSee reprisectl --help.\n",
		"journal verfy": "unknown command \"verfy\" for \"reprisectl journal\"; did you mean verify?\nSee reprisectl --help.\n",
		"journal mend":  "unknown command \"mend\" for \"reprisectl journal\"; \"reprisectl journal --help\" lists them\n",
	} {
		got := ctl(t, &fake{}, strings.Fields(line)...)
		wantExit(t, got, exitUsage)
		if got.stderr != "reprisectl: "+want || got.stdout != "" {
			t.Errorf("%s: stderr: %s\nstdout: %s", line, got.stderr, got.stdout)
		}
	}
	got := ctl(t, &fake{}, "journal")
	wantExit(t, got, exitOK)
	if !strings.Contains(got.stdout, "verify ") || got.stderr != "" {
		t.Errorf("a group alone: stdout: %s\nstderr: %s", got.stdout, got.stderr)
	}
	if got = ctl(t, &fake{}, "completion", "bash"); got.exit != exitOK || !strings.Contains(got.stdout, "__start_reprisectl") {
		t.Errorf("the completion script: %+v", got)
	}
}

func TestACallHasATimeLimit(t *testing.T) {
	answer := make(chan struct{})
	defer close(answer)
	f := &fake{get: func(string) (*reprisev1.Replay, error) {
		<-answer
		return nil, nil
	}}
	got := ctl(t, f, "get", "r-1", "--timeout", "20ms")
	wantExit(t, got, exitUnreachable)
}
