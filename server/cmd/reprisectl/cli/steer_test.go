package cli

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// pausedFor is a replay that is paused for a reason, with an action to decide on
// unless it is empty.
func pausedFor(reason reprisev1.PauseReason, decide string, checks ...*reprisev1.SafetyCheck) *reprisev1.Replay {
	r := replay(paused, 1)
	r.Pause = &reprisev1.PauseInfo{PauseId: "p-2", Reason: reason, Message: "look", ActionToDecide: decide, SafetyChecks: checks}
	return r
}

func TestAPauseListsTheWaysOutOfIt(t *testing.T) {
	for reason := reprisev1.PauseReason(0); reason.Descriptor().Values().ByNumber(reason.Number()) != nil; reason++ {
		for _, decide := range []string{"", "r-1/b"} {
			var b strings.Builder
			writePause(&b, pausedFor(reason, decide), "ctl")
			var elsewhere bool
			switch word(reason, "PAUSE_REASON_") {
			case "target_not_found", "target_off_screen", "input_swallowed":
				elsewhere = decide != ""
			}
			for command, want := range map[string]bool{
				"ctl resume r-1\n": true, "ctl cancel r-1\n": true,
				"ctl resume r-1 --skip\n": decide != "", "ctl resume r-1 --position X,Y ": elsewhere,
			} {
				if strings.Contains(b.String(), command) != want {
					t.Errorf("%v, to decide %q: %q shown is not %v:\n%s", reason, decide, command, want, b.String())
				}
			}
		}
	}
}

// meetsAGate is a server at which a resumed replay pauses again right away.
func meetsAGate(get func(string) (*reprisev1.Replay, error)) *fake {
	return &fake{
		get: get,
		resume: func(*reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
			r := replay(paused, 1)
			r.Pause = &reprisev1.PauseInfo{Reason: reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST} // all that a head has
			return &reprisev1.ResumeReplayResponse{Replay: r, SessionId: "s-1", RemainingActions: 2}, nil
		},
	}
}

func TestAResumeThatMeetsTheNextPauseSaysWhy(t *testing.T) {
	f := meetsAGate(func(string) (*reprisev1.Replay, error) {
		return pausedFor(reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "", &reprisev1.SafetyCheck{Id: "c1", Label: "The patient is right", Required: true}), nil
	})
	got := ctl(t, f, "resume", "r-1")
	wantExit(t, got, exitOK)
	want := `replay r-1: resumed, and paused, 2 actions to go
PAUSED  user_request: look
  check c1 (required): The patient is right
  go on:            reprisectl resume r-1 --ack c1
  end the replay:   reprisectl cancel r-1
`
	if diff := cmp.Diff(want, got.stdout); diff != "" {
		t.Error(diff)
	}
	got = ctl(t, f, "resume", "r-1", "-o", "json")
	wantExit(t, got, exitOK)
	for _, part := range []string{`"id":"c1"`, `"sessionId":"s-1"`, `"resume":"reprisectl resume r-1 --ack c1"`} {
		if !strings.Contains(got.stdout, part) {
			t.Errorf("%s is missing in %s", part, got.stdout)
		}
	}
}

func TestAResumeIsDoneAlsoWhenTheNextPauseCannotBeRead(t *testing.T) {
	got := ctl(t, meetsAGate(func(string) (*reprisev1.Replay, error) { return nil, errors.New("no") }), "resume", "r-1")
	wantExit(t, got, exitOK)
	if !strings.Contains(got.stdout, "PAUSED  user_request\n") {
		t.Errorf("stdout: %s", got.stdout)
	}
}

func TestAResumeWithoutAnAgentSaysSo(t *testing.T) {
	for _, known := range []bool{false, true} {
		got := ctl(t, &fake{resume: func(*reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
			r := replay(runs, 1)
			r.AgentAway = known
			return &reprisev1.ResumeReplayResponse{Replay: r, RemainingActions: 2}, nil
		}}, "resume", "r-1")
		wantExit(t, got, exitOK)
		if strings.Count(got.stdout, "agent away") != 1 {
			t.Errorf("stdout: %s", got.stdout)
		}
	}
}

func TestARefusedAgentIsShownWithItsTimeAndForTenMinutes(t *testing.T) {
	for ago, want := range map[time.Duration]string{
		0: "connected, another agent was refused at 00:00:00  ", 10 * time.Minute: "connected, another agent was refused at 23:50:00  ",
		-time.Second: "connected, another agent was refused at 00:00:01  ", 10*time.Minute + time.Second: "connected  -",
	} {
		synctest.Test(t, func(t *testing.T) { // its clock stands at midnight
			got := ctl(t, &fake{machines: []*reprisev1.Machine{
				{MachineId: "desk-1", Connected: true, ConflictAt: timestamppb.New(time.Now().Add(-ago))},
			}}, "machines")
			wantExit(t, got, exitOK)
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%v ago: %s", ago, got.stdout)
			}
		})
	}
}
