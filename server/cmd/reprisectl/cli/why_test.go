package cli

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// behindAPause is a replay that waits behind one that waits for a person.
func behindAPause() *reprisev1.ExplainReplayResponse {
	pause := &reprisev1.PauseInfo{
		PauseId: "p-1", Reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, Message: "lunch", PausedBy: "alice", ActionToDecide: "r-0/b",
		SafetyChecks: []*reprisev1.SafetyCheck{{Id: "viewer open", Label: "The viewer is open", Required: true}},
	}
	return &reprisev1.ExplainReplayResponse{Replay: replay(queued, 0), Causes: []*reprisev1.Cause{
		{Message: "it waits behind r-0", Since: at(0), Kind: &reprisev1.Cause_BehindReplay{BehindReplay: &reprisev1.BehindReplayCause{ReplayId: "r-0", State: paused}}},
		{Message: "r-0 is paused by alice: lunch", Since: at(1000), Kind: &reprisev1.Cause_Paused{Paused: &reprisev1.PausedCause{ReplayId: "r-0", Pause: pause}}},
	}}
}

func TestWhyShowsTheChainAndTheCommandsThatEndIt(t *testing.T) {
	f := &fake{explain: func(string) (*reprisev1.ExplainReplayResponse, error) { return behindAPause(), nil }}
	var all strings.Builder
	for _, output := range []string{"plain", "json"} {
		got := ctl(t, f, "why", "r-1", "-o", output)
		wantExit(t, got, exitOK)
		all.WriteString(got.stdout)
	}
	golden(t, "why.golden", all.String())
}

// What can be done stands below its cause; a cause that this program does not know
// is told in the server's words.
func TestEachCauseSaysWhatCanBeDone(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause *reprisev1.Cause
		want  string // below the message; empty: nothing
	}{
		{"an action is in flight", &reprisev1.Cause{Kind: &reprisev1.Cause_ActionInFlight{ActionInFlight: &reprisev1.ActionInFlightCause{}}}, ""},
		{"the agent is away", &reprisev1.Cause{Kind: &reprisev1.Cause_MachineOffline{
			MachineOffline: &reprisev1.MachineOfflineCause{MachineId: "desk-1"}}}, "start the agent on desk-1"},
		{"it is open", &reprisev1.Cause{Kind: &reprisev1.Cause_WaitingForActions{
			WaitingForActions: &reprisev1.WaitingForActionsCause{ReplayId: "r-1"}}}, "reprisectl append r-1 FILE\n    or close it:   reprisectl close r-1"},
		{"the journal is damaged", &reprisev1.Cause{Kind: &reprisev1.Cause_JournalUnavailable{
			JournalUnavailable: &reprisev1.JournalUnavailableCause{}}}, "journal verify"},
		{"it is pausing", &reprisev1.Cause{Kind: &reprisev1.Cause_Paused{
			Paused: &reprisev1.PausedCause{ReplayId: "r-1", Pause: &reprisev1.PauseInfo{PauseId: "p"}, Pausing: true}}}, ""},
		{"a cause of a newer server", &reprisev1.Cause{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cause.Message = "in the server's words"
			f := &fake{explain: func(string) (*reprisev1.ExplainReplayResponse, error) {
				return &reprisev1.ExplainReplayResponse{Replay: replay(runs, 1), Causes: []*reprisev1.Cause{{Message: "first"}, tt.cause}}, nil
			}}
			got := ctl(t, f, "why", "r-1")
			wantExit(t, got, exitOK)
			_, below, ok := strings.Cut(got.stdout, "\n↳ first\n  ↳ in the server's words\n")
			if !ok || (tt.want == "") != (below == "") || !strings.Contains(below, tt.want) {
				t.Errorf("stdout: %s\nwant below the cause: %s", got.stdout, tt.want)
			}
		})
	}
}

func TestWhyOfAnUnknownReplay(t *testing.T) {
	got := ctl(t, &fake{explain: func(string) (*reprisev1.ExplainReplayResponse, error) {
		return nil, status.Error(codes.NotFound, "no replay r-9")
	}}, "why", "r-9")
	wantExit(t, got, exitNotFound)
	if got.stderr != "reprisectl: explain r-9: no replay r-9 (NOT_FOUND)\n" {
		t.Errorf("stderr: %s", got.stderr)
	}
}
