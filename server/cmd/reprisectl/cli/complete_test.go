package cli

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestTheShellCompletesNamesFromTheServer(t *testing.T) {
	var asked []*reprisev1.ListReplaysRequest
	held := replay(paused, 1, action(0, acked), action(1, needsHelp))
	held.Pause = &reprisev1.PauseInfo{SafetyChecks: []*reprisev1.SafetyCheck{{Id: "viewer", Label: "The viewer is open"}}}
	f := &fake{
		list:     pages(1, &asked),
		get:      func(string) (*reprisev1.Replay, error) { return held, nil },
		machines: []*reprisev1.Machine{{MachineId: "desk-1"}, {MachineId: "desk-2"}},
	}
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"get |", []string{"r-1\tPatients on desk-1, running"}},
		{"resume |", []string{"r-1\tPatients on desk-1, running"}},
		{"get r-1 |", nil},
		{"close |", []string{"r-1\tPatients on desk-1, running"}},
		{"append |", []string{"r-1\tPatients on desk-1, running"}},
		{"append r-1 |", []string{"yaml", "yml", "json"}},
		{"why |", []string{"r-1\tPatients on desk-1, running"}},
		{"events --replay |", []string{"r-1\tPatients on desk-1, running"}},
		{"screenshot |", []string{"desk-1", "desk-2"}},
		{"screenshot desk-1 |", nil},
		{"run w.yaml --machine |", []string{"desk-1", "desk-2"}},
		{"list --state |", []string{"queued", "running", "paused", "completed", "failed", "cancelled"}},
		{"list --output |", []string{"plain", "json"}},
		{"resume r-1 --ack |", []string{"viewer\tThe viewer is open"}},
		{"resume r-1 --from |", []string{"open\tacked", "r-1/b\tneeds_help"}},
	} {
		words := strings.Fields(tt.line)
		words[len(words)-1] = ""
		var got result
		synctest.Test(t, func(t *testing.T) { // a shell waits for a second, which may be short
			got = ctl(t, f, append([]string{"__complete"}, words...)...)
		})
		wantExit(t, got, exitOK)
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		offered := slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, ":") })
		if diff := cmp.Diff(tt.want, offered); diff != "" && len(tt.want)+len(offered) > 0 {
			t.Errorf("%s: %s", tt.line, diff)
		}
	}
	if diff := cmp.Diff([]reprisev1.ReplayState{paused}, asked[1].GetStates()); diff != "" {
		t.Errorf("resume offers replays that are not paused: %s", diff)
	}
}

func TestAServerThatIsAwayCompletesNothing(t *testing.T) {
	f := &fake{list: func(*reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
		return nil, status.Error(codes.Unauthenticated, "a bearer token is needed")
	}}
	for _, h := range []*host{{fake: f}, {fake: f}} {
		got := ctlAt(t, h, "__complete", "get", "")
		if got.exit != exitOK || !strings.HasPrefix(got.stdout, ":") {
			t.Errorf("exit code %d, stdout %q", got.exit, got.stdout)
		}
		h.start()
		defer h.kill()
	}
}

func TestEachShellGetsItsScript(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := ctl(t, &fake{}, "completion", shell)
		wantExit(t, got, exitOK)
		if !strings.Contains(got.stdout, "reprisectl") {
			t.Errorf("%s: %.100s", shell, got.stdout)
		}
	}
}
