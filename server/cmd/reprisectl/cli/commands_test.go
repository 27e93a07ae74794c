package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// pages answers a list of r-1 to r-n in pages.
func pages(n int, asked *[]*reprisev1.ListReplaysRequest) func(*reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
	return func(req *reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
		*asked = append(*asked, req)
		resp := &reprisev1.ListReplaysResponse{NextPageToken: req.GetPageToken() + "x"}
		for range min(int(req.GetPageSize()), 2, n-2*len(req.GetPageToken())) {
			resp.Replays = append(resp.Replays, replay(runs, 1))
		}
		if 2*len(resp.GetNextPageToken()) >= n {
			resp.NextPageToken = ""
		}
		return resp, nil
	}
}

func TestListGoesOnFromPageToPageUpToItsLimit(t *testing.T) {
	tests := []struct {
		name        string
		there       int
		args        []string
		want, pages int
	}{
		{"all there are", 5, nil, 5, 3},
		{"no more than asked for", 5, []string{"-n", "3"}, 3, 2},
		{"none", 0, nil, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked []*reprisev1.ListReplaysRequest
			got := ctl(t, &fake{list: pages(tt.there, &asked)}, append([]string{"list", "-o", "json"}, tt.args...)...)
			wantExit(t, got, exitOK)
			if n := strings.Count(got.stdout, "\n"); n != tt.want || len(asked) != tt.pages {
				t.Errorf("%d replays in %d pages, want %d in %d", n, len(asked), tt.want, tt.pages)
			}
		})
	}
}

func TestListAsksForWhatTheFlagsSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands at midnight
		var asked []*reprisev1.ListReplaysRequest
		got := ctl(t, &fake{list: pages(1, &asked)}, "list", "-m", "desk-1", "-s", "running,PAUSED", "-s", "REPLAY_STATE_QUEUED", "-l", "batch=7", "-l", "note=a=b",
			"--since", "36h", "--until", "1999-12-31T23:00:00-01:00")
		wantExit(t, got, exitOK)
		want := &reprisev1.ListReplaysRequest{
			MachineId: "desk-1", PageSize: 50, States: []reprisev1.ReplayState{runs, paused, queued}, Labels: map[string]string{"batch": "7", "note": "a=b"},
			CreatedFrom: timestamppb.New(time.Now().Add(-36 * time.Hour)), CreatedBefore: timestamppb.New(time.Now()),
		}
		if diff := cmp.Diff(want, asked[0], protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestATimeIsGivenAsPeopleSayIt(t *testing.T) {
	now := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	where := time.FixedZone("there", 3600)
	for text, want := range map[string]string{
		"2h": "2026-03-09T10:00:00Z", "7d": "2026-03-02T12:00:00Z", "0s": "2026-03-09T12:00:00Z", "2026-03-01": "2026-02-28T23:00:00Z",
		"2026-03-01T08:00:00+02:00": "2026-03-01T06:00:00Z", "2026-03-01T08:00:00.5Z": "2026-03-01T08:00:00.5Z",
		"-2h": "", "yesterday": "", "2026-03-01 08:00": "", "d": "", "-1d": "", "12": "",
	} {
		got, err := moment("--since", text, now, where)
		if (err == nil) != (want != "") || err == nil && got.AsTime().Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v; want %q", text, got.AsTime(), err, want)
		}
	}
}

func TestTablesForPeople(t *testing.T) {
	away := replay(runs, 1)
	away.ReplayId, away.AgentAway, away.Open, away.WorkflowName = "r-22", true, true, strings.Repeat("long ", 20)
	f := &fake{
		list: func(*reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
			return &reprisev1.ListReplaysResponse{Replays: []*reprisev1.Replay{away, replay(completed, 3)}}, nil
		},
		machines: []*reprisev1.Machine{
			{MachineId: "desk-1", Connected: true, ConnectionChangedAt: at(0), CurrentReplayId: "r-22", ActionInFlight: "r-22/b", QueuedReplays: 2, AgentVersion: "v1.2.3",
				DesktopState: &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED}},
			{MachineId: "desk-2", ConflictAt: at(1), LastExit: "killed\nat night", QueuedReplays: 3, CurrentReplayId: "r-7", CurrentReplayState: paused,
				PauseReason: reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, DesktopState: &reprisev1.DesktopState{
					Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_AGENT_IMPAIRED, Detail: "its disk is full"}},
		},
		get: func(string) (*reprisev1.Replay, error) {
			first := action(0, acked)
			first.Report = &reprisev1.Report{Success: true, Warnings: []reprisev1.Warning{reprisev1.Warning_WARNING_ALREADY_EXECUTED, 77}}
			second := action(1, needsHelp)
			second.Report = &reprisev1.Report{Error: &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, Message: "not on the screen\nat all"}}
			r := replay(paused, 1, first, second, action(2, waiting))
			r.Labels = map[string]string{"b": "2", "a": "1"}
			r.Pause = &reprisev1.PauseInfo{PauseId: "p", Reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, Message: "lunch", PausedBy: "it's me"}
			return r, nil
		},
		pause:  func(*reprisev1.PauseReplayRequest) (*reprisev1.Replay, error) { return replay(paused, 1), nil },
		cancel: func(*reprisev1.CancelReplayRequest) (*reprisev1.Replay, error) { return replay(cancelled, 1), nil },
		resume: func(*reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
			return &reprisev1.ResumeReplayResponse{Replay: replay(runs, 1), SessionId: "s-1", RemainingActions: 2}, nil
		},
	}
	for _, output := range []string{"plain", "json"} {
		var all strings.Builder
		for _, args := range [][]string{{"list"}, {"machines"}, {"get", "r-1"}, {"pause", "r-1"}, {"cancel", "r-1"}, {"resume", "r-1"}, {"version"}} {
			got := ctl(t, f, append(args, "-o", output)...)
			wantExit(t, got, exitOK)
			all.WriteString("$ reprisectl " + strings.Join(args, " ") + "\n" + got.stdout)
		}
		golden(t, "tables."+output+".golden", all.String())
	}
}

func TestSteeringSaysWhatTheFlagsSay(t *testing.T) {
	var pauses *reprisev1.PauseReplayRequest
	var cancels *reprisev1.CancelReplayRequest
	var resumes *reprisev1.ResumeReplayRequest
	f := &fake{
		pause:  func(r *reprisev1.PauseReplayRequest) (*reprisev1.Replay, error) { pauses = r; return nil, nil },
		cancel: func(r *reprisev1.CancelReplayRequest) (*reprisev1.Replay, error) { cancels = r; return nil, nil },
		resume: func(r *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
			resumes = r
			return &reprisev1.ResumeReplayResponse{}, nil
		},
	}
	wantExit(t, ctl(t, f, "pause", "r-1", "--message", "lunch"), exitOK)
	wantExit(t, ctl(t, f, "cancel", "r-1", "--reason", "wrong patient"), exitOK)
	if pauses.GetReplayId() != "r-1" || pauses.GetMessage() != "lunch" || cancels.GetReplayId() != "r-1" || cancels.GetReason() != "wrong patient" {
		t.Errorf("pause: %v, cancel: %v", pauses, cancels)
	}
	skip := reprisev1.ResumeDecision_RESUME_DECISION_SKIP
	for _, tt := range []struct {
		args string
		want *reprisev1.ResumeReplayRequest
	}{
		{"", &reprisev1.ResumeReplayRequest{ReplayId: "r-1"}},
		{"--ack a,b --ack c --skip", &reprisev1.ResumeReplayRequest{ReplayId: "r-1", AcknowledgedCheckIds: []string{"a,b", "c"}, Decision: skip}},
		{"--ack c2 --ack c1 --ack c2", &reprisev1.ResumeReplayRequest{ReplayId: "r-1", AcknowledgedCheckIds: []string{"c2", "c1"}}},
		{"--position 0.25,1", &reprisev1.ResumeReplayRequest{ReplayId: "r-1", Position: &reprisev1.Point{X: 0.25, Y: 1}}},
		{"--from login", &reprisev1.ResumeReplayRequest{ReplayId: "r-1", FromAction: "login"}},
	} {
		wantExit(t, ctl(t, f, append([]string{"resume", "r-1"}, strings.Fields(tt.args)...)...), exitOK)
		if diff := cmp.Diff(tt.want, resumes, protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", tt.args, diff)
		}
	}
}

// disk is a journal with a known content.
type disk struct{ err error }

func (d disk) Dump(_ context.Context, data string, w io.Writer) error {
	_, _ = io.WriteString(w, "dump of "+data+"\n")
	return d.err
}

func (d disk) Verify(_ context.Context, data string, w io.Writer) error {
	_, _ = io.WriteString(w, "check of "+data+"\n")
	return d.err
}

func TestTheJournalIsReadWithoutAServer(t *testing.T) {
	for _, tt := range []struct {
		journal Journal
		command string
		exit    int
		stdout  string
	}{
		{disk{}, "dump", exitOK, "dump of /data\n"},
		{disk{}, "verify", exitOK, "check of /data\n"},
		{disk{errors.New("damaged")}, "verify", exitFailure, "check of /data\n"},
		{nil, "dump", exitFailure, ""},
	} {
		var stdout strings.Builder
		exit := Main(t.Context(), Env{Args: []string{"journal", tt.command, "--data", "/data"}, Stdout: &stdout, Stderr: io.Discard, Journal: tt.journal})
		if exit != tt.exit || stdout.String() != tt.stdout {
			t.Errorf("%s: exit code %d, stdout %q", tt.command, exit, stdout.String())
		}
	}
}

func TestEveryExitCodeIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| code | meaning |\n|---:|---|\n")
	for _, e := range ExitCodes {
		fmt.Fprintf(&table, "| %d | %s |\n", e.Code, e.Meaning)
	}
	if !strings.Contains(string(doc), table.String()) {
		t.Errorf("docs/exit-codes.md lacks this table:\n%s", table.String())
	}
	if help := ctl(t, &fake{}, "--help").stdout; !strings.Contains(help, exitCodeHelp()) {
		t.Errorf("--help lacks the exit codes: %s", help)
	}
}
