package cli

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// takes appends to an open replay and keeps the requests.
func takes(into *[]*reprisev1.AppendActionsRequest) func(*reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
	return func(req *reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
		*into = append(*into, req)
		r := replay(runs, 1)
		r.Open, r.ActionCount = !req.GetClose(), int32(3+len(req.GetActions()))
		resp := &reprisev1.AppendActionsResponse{Replay: r}
		for i := range req.GetActions() {
			resp.ActionIds = append(resp.ActionIds, fmt.Sprintf("r-1/%s/%d", req.GetRequestId(), i))
		}
		return resp, nil
	}
}

func TestAppendUploadsAndAppends(t *testing.T) {
	path, pictures := file(t)
	var reqs []*reprisev1.AppendActionsRequest
	f := &fake{pictures: map[string][]byte{}, appends: takes(&reqs)}
	got := ctl(t, f, "append", "r-1", path, "--request-id", "turn-7")
	wantExit(t, got, exitOK)
	if got.stdout != "replay r-1: 3 appended, running, open, 1 of 6 actions settled\n" {
		t.Errorf("stdout: %s", got.stdout)
	}
	if !maps.EqualFunc(pictures, f.pictures, bytes.Equal) {
		t.Errorf("%d pictures uploaded, want these %d", len(f.pictures), len(pictures))
	}
	if req := reqs[0]; req.GetReplayId() != "r-1" || req.GetRequestId() != "turn-7" || len(req.GetActions()) != 3 || req.GetClose() {
		t.Errorf("request: %v", req)
	}
	got = ctl(t, f, "append", "r-1", path, "--close", "-o", "json")
	wantExit(t, got, exitOK)
	if req := reqs[1]; !req.GetClose() || len(req.GetRequestId()) < 16 {
		t.Errorf("request: %v, want the last with a fresh id", req)
	}
	if !strings.Contains(got.stdout, `"requestId":"`+reqs[1].GetRequestId()) || !strings.Contains(got.stdout, `"actionIds":["r-1/`) {
		t.Errorf("stdout: %s", got.stdout)
	}
}

func TestAnAppendThatIsCutIsMadeAgainWithTheSameRequest(t *testing.T) {
	path, _ := file(t)
	synctest.Test(t, func(t *testing.T) {
		var reqs []*reprisev1.AppendActionsRequest
		f := &fake{pictures: map[string][]byte{}}
		f.appends = func(req *reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
			resp, err := takes(&reqs)(req)
			if len(reqs) == 1 {
				return nil, status.Error(codes.Unavailable, "the server is stopping")
			}
			return resp, err
		}
		got := ctl(t, f, "append", "r-1", path)
		wantExit(t, got, exitOK)
		if len(reqs) != 2 || reqs[0].GetRequestId() != reqs[1].GetRequestId() || !strings.Contains(got.stdout, ": 3 appended") {
			t.Errorf("%d requests, want the same twice; stdout: %s", len(reqs), got.stdout)
		}
	})
}

func TestAnUnknownFateOfAnAppendIsSaidWithItsRequestID(t *testing.T) {
	path, _ := file(t)
	synctest.Test(t, func(t *testing.T) {
		f := &fake{pictures: map[string][]byte{}, appends: func(*reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
			return nil, status.Error(codes.Unavailable, "the server is stopping")
		}}
		got := ctl(t, f, "append", "r-1", path, "--request-id", "turn-7")
		wantExit(t, got, exitUnreachable)
		if !strings.Contains(got.stderr, "append it again with --request-id turn-7") {
			t.Errorf("stderr: %s", got.stderr)
		}
	})
}

func TestALongFileIsAppendedInSeveralCalls(t *testing.T) {
	w := &reprisev1.Workflow{MonitorResolution: &reprisev1.MonitorResolution{Index: 1}}
	for i := range 2*appendMost + 1 {
		w.Actions = append(w.Actions, &reprisev1.Action{Name: fmt.Sprint(i)})
	}
	w.Actions[5].MonitorResolution = &reprisev1.MonitorResolution{Index: 2}
	reqs := appending("r-1", "turn", w, true)
	var order []*reprisev1.Action
	for i, want := range []struct {
		id      string
		actions int
		last    bool
	}{{"turn", appendMost, false}, {"turn-2", appendMost, false}, {"turn-3", 1, true}} {
		got := reqs[i]
		if got.GetRequestId() != want.id || len(got.GetActions()) != want.actions || got.GetClose() != want.last || got.GetReplayId() != "r-1" {
			t.Errorf("call %d: id %s, %d actions, close %t", i, got.GetRequestId(), len(got.GetActions()), got.GetClose())
		}
		order = append(order, got.GetActions()...)
	}
	if !slices.Equal(w.GetActions(), order) || len(reqs) != 3 {
		t.Errorf("%d calls with %d actions, want 3 with all %d in order", len(reqs), len(order), len(w.GetActions()))
	}
	for i, a := range order {
		if want := map[bool]int32{true: 2, false: 1}[i == 5]; a.GetMonitorResolution().GetIndex() != want {
			t.Fatalf("action %d is on monitor %d, want %d", i, a.GetMonitorResolution().GetIndex(), want)
		}
	}
}

// Masks that nobody applies would let pictures show what they must not; rules for
// popups that nobody follows would leave them in the way.
func TestAFileWithMasksOrPopupsIsNotAppended(t *testing.T) {
	for _, part := range []string{"masks:\n  - {left: 0, top: 0, width: 0.5, height: 0.5}\n", "popups:\n  - window: {title: Update}\n"} {
		path := filepath.Join(t.TempDir(), "w.yaml")
		write(t, path, "name: w\n"+part+"actions:\n  - screenshot:\n")
		got := ctl(t, &fake{}, "append", "r-1", path)
		wantExit(t, got, exitUsage)
		if !strings.Contains(got.stderr, "create it with them") {
			t.Errorf("stderr: %s", got.stderr)
		}
	}
}

func TestARefusedAppendSaysWhy(t *testing.T) {
	path, _ := file(t)
	f := &fake{pictures: map[string][]byte{}, appends: func(*reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
		return nil, status.Error(codes.FailedPrecondition, "the replay is closed")
	}}
	got := ctl(t, f, "append", "r-1", path)
	wantExit(t, got, exitRefused)
	if got.stderr != "reprisectl: append to r-1: the replay is closed (FAILED_PRECONDITION)\n" {
		t.Errorf("stderr: %s", got.stderr)
	}
}

func TestCloseClosesTheReplayThatIsNamed(t *testing.T) {
	var closed string
	f := &fake{closes: func(id string) (*reprisev1.Replay, error) {
		closed = id
		return replay(runs, 1), nil
	}}
	got := ctl(t, f, "close", "r-1")
	wantExit(t, got, exitOK)
	if closed != "r-1" || got.stdout != "replay r-1: running, 1 of 3 actions settled\n" {
		t.Errorf("closed %q, stdout: %s", closed, got.stdout)
	}
}

func TestRunLeavesAReplayOpenOnlyWhenTold(t *testing.T) {
	path, _ := file(t)
	for _, open := range []bool{false, true} {
		var req *reprisev1.CreateReplayRequest
		args := []string{"run", path, "-m", "desk-1", "--wait=false"}
		if open {
			args = append(args, "--leave-open")
		}
		wantExit(t, ctl(t, &fake{pictures: map[string][]byte{}, create: creates(&req)}, args...), exitOK)
		if req.GetLeaveOpen() != open {
			t.Errorf("%v leaves it open: %t", args, req.GetLeaveOpen())
		}
	}
}
