package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const typed = "tŷped-sëcret-42"

// drawn are two pictures; noise does not compress, so the large one needs two
// messages.
var drawn = sync.OnceValue(func() map[string][]byte {
	pictures := map[string][]byte{}
	for name, side := range map[string]int{"small.png": 8, "large.png": 260} {
		img := image.NewGray16(image.Rect(0, 0, side, 2*side))
		noise := rand.NewChaCha8([32]byte{byte(side)})
		_, _ = noise.Read(img.Pix) // never fails
		var out bytes.Buffer
		if err := png.Encode(&out, img); err != nil {
			panic(err)
		}
		pictures[name] = out.Bytes()
	}
	return pictures
})

// file writes a workflow that looks for two pictures and types, and returns its
// path and the pictures by digest.
func file(t *testing.T) (path string, pictures map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	pictures = map[string][]byte{}
	for name, data := range drawn() {
		pictures[digestOf(data)] = data
		write(t, filepath.Join(dir, name), string(data))
	}
	path = filepath.Join(dir, "w.yaml")
	write(t, path, `name: Patients
actions:
  - name: open
    click: {count: 2}
    target: {anchorImage: {path: small.png}}
  - waitForTarget:
    target: {anchorImage: {path: large.png}}
  - name: send
    type: {text: `+typed+`}
`)
	return path, pictures
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// creates answers with a queued replay and keeps the request.
func creates(into **reprisev1.CreateReplayRequest) func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
	return func(req *reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
		*into = req
		return replay(queued, 0), nil
	}
}

const (
	waiting    = reprisev1.ActionState_ACTION_STATE_QUEUED
	dispatched = reprisev1.ActionState_ACTION_STATE_DISPATCHED
	acked      = reprisev1.ActionState_ACTION_STATE_ACKED
	needsHelp  = reprisev1.ActionState_ACTION_STATE_NEEDS_HELP
	superseded = reprisev1.ActionState_ACTION_STATE_SUPERSEDED
)

// story is a replay that pauses once, is resumed by somebody and completes.
func story() func(int, watchStream) error {
	stop := replay(paused, 1, action(1, needsHelp))
	stop.Pause = &reprisev1.PauseInfo{
		PauseId: "p-1", Reason: reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, Message: "the picture is not on the screen", ActionToDecide: "r-1/b",
		PausedAt: at(900), SafetyChecks: []*reprisev1.SafetyCheck{
			{Id: "viewer open", Label: "The viewer is open", Required: true}, {Id: "light", Label: "The light is on"},
		},
	}
	again := action(1, acked)
	again.ActionId = "r-1/b_resume"
	return script(
		tell(replay(runs, 0, action(0, waiting), action(1, waiting), action(2, waiting))),
		tell(replay(runs, 0, action(0, dispatched)), event(100, "action_dispatched", "r-1/a", "delivery 1")),
		tell(replay(runs, 0, action(0, dispatched))),
		tell(replay(runs, 1, action(0, acked), action(1, dispatched)), event(400, "action_reported", "r-1/a", ""), event(400, "action_dispatched", "r-1/b", "")),
		tell(stop, event(900, "replay_paused", "r-1/b", "target_not_found")),
		tell(stop),
		tell(replay(runs, 1, action(1, superseded), again), event(2000, "replay_resumed", "", "by anna")),
		tell(replay(completed, 3, action(2, acked)), event(4200, "replay_ended", "", "completed")),
	)
}

func TestRunUploadsCreatesAndWatchesToTheEnd(t *testing.T) {
	path, pictures := file(t)
	var req *reprisev1.CreateReplayRequest
	f := &fake{pictures: map[string][]byte{}, create: creates(&req), watch: story()}
	got := ctl(t, f, "run", path, "-m", "desk-1", "-l", "batch=7", "-l", "note=a=b,c", "--unattended", "--request-id", "id-1")
	wantExit(t, got, exitOK)
	golden(t, "run.golden", got.stdout)
	if got.stderr != "" {
		t.Errorf("stderr: %s", got.stderr)
	}
	if !maps.EqualFunc(pictures, f.pictures, bytes.Equal) {
		t.Errorf("%d pictures uploaded, want these %d", len(f.pictures), len(pictures))
	}
	if req.GetRequestId() != "id-1" || req.GetMachineId() != "desk-1" || req.GetSupervision() != reprisev1.Supervision_SUPERVISION_UNATTENDED {
		t.Errorf("request: %v", req)
	}
	if diff := cmp.Diff(map[string]string{"batch": "7", "note": "a=b,c"}, req.GetLabels()); diff != "" {
		t.Error(diff)
	}
	if got := req.GetWorkflow().GetActions()[2].GetType().GetText(); got != typed {
		t.Errorf("the workflow types %q", got)
	}
	f.watches = 0
	if again := ctl(t, f, "run", path, "-m", "desk-1"); again.exit != exitOK || f.uploads != 2 {
		t.Errorf("a second run: exit code %d, %d uploads in all, want 2: %s", again.exit, f.uploads, again.stderr)
	}
	if req.GetRequestId() == "" || req.GetRequestId() == "id-1" {
		t.Errorf("request id %q, want a new one", req.GetRequestId())
	}
}

func TestRunForScriptsWritesOneObjectPerLine(t *testing.T) {
	path, _ := file(t)
	var req *reprisev1.CreateReplayRequest
	got := ctl(t, &fake{pictures: map[string][]byte{}, create: creates(&req), watch: story()}, "run", path, "-m", "desk-1", "--request-id", "id-1", "-o", "json")
	wantExit(t, got, exitOK)
	golden(t, "run.json.golden", got.stdout)
}

func TestTheEndOfAReplayIsTheExitCode(t *testing.T) {
	path, _ := file(t)
	stopped := replay(paused, 1)
	stopped.Pause = &reprisev1.PauseInfo{PauseId: "p", Reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR}
	pausing := replay(paused, 1)
	pausing.Pausing, pausing.Pause = true, stopped.Pause
	gone := replay(failedNow, 1)
	gone.EndReason = "retries used up"
	tests := []struct {
		name string
		last *reprisev1.Replay
		args []string
		want int
	}{
		{"completed", replay(completed, 3), nil, exitOK},
		{"failed", gone, nil, exitFailed},
		{"cancelled", replay(cancelled, 1), nil, exitCancelled},
		{"paused, and nobody to help", stopped, []string{"--fail-on-pause"}, exitPaused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var req *reprisev1.CreateReplayRequest
			f := &fake{pictures: map[string][]byte{}, create: creates(&req), watch: script(tell(replay(runs, 0)), tell(pausing), tell(tt.last))}
			got := ctl(t, f, append([]string{"run", path, "-m", "desk-1"}, tt.args...)...)
			wantExit(t, got, tt.want)
			if !strings.Contains(got.stdout, "replay r-1 "+tt.name[:6]) || !strings.Contains(got.stdout, tt.last.GetEndReason()) {
				t.Errorf("the end is not told: %s", got.stdout)
			}
			if got.stderr != "" {
				t.Errorf("stderr: %s", got.stderr)
			}
		})
	}
}

func TestRunWithoutWaitingTellsTheStateByNow(t *testing.T) {
	path, _ := file(t)
	for state, want := range map[reprisev1.ReplayState]int{queued: exitOK, paused: exitPaused, failedNow: exitFailed, completed: exitOK} {
		f := &fake{pictures: map[string][]byte{}, create: func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) { return replay(state, 0), nil }}
		got := ctl(t, f, "run", path, "-m", "desk-1", "--wait=false")
		wantExit(t, got, want)
		if got.stdout != "created r-1\n" {
			t.Errorf("stdout: %s", got.stdout)
		}
	}
}

func TestAFaultyFileIsNotSent(t *testing.T) {
	path, _ := file(t)
	write(t, path, "name: w\nactions:\n  - klick: {}\n  - wait: {duration: soon}\n")
	f := &fake{}
	for _, args := range [][]string{{"run", path, "-m", "desk-1"}, {"validate", path}} {
		got := ctl(t, f, args...)
		wantExit(t, got, exitUsage)
		want := fmt.Sprintf("%s:3:5: unknown field \"klick\"; click is meant?\n%[1]s:4:22: a duration such as 1.5s, 500ms or 2m is needed\n", path)
		if diff := cmp.Diff(want, got.stderr); diff != "" {
			t.Error(diff)
		}
	}
	got := ctl(t, f, "validate", path, "-o", "json")
	want := fmt.Sprintf(`{"type":"fault","file":%q,"line":3,"column":5,"message":"unknown field \"klick\"; click is meant?","exitCode":2}`, path)
	if first, _, _ := strings.Cut(got.stderr, "\n"); first != want {
		t.Errorf("stderr: %s\nwant: %s", got.stderr, want)
	}
}

func TestValidateAsksTheServerOnlyWhenTold(t *testing.T) {
	path, pictures := file(t)
	var req *reprisev1.CreateReplayRequest
	f := &fake{pictures: map[string][]byte{}, create: creates(&req)}
	got := ctl(t, f, "validate", path)
	wantExit(t, got, exitOK)
	if !strings.Contains(got.stdout, `w.yaml: good: "Patients", 3 actions, 2 pictures`) || req != nil {
		t.Errorf("stdout: %s, request: %v", got.stdout, req)
	}
	wantExit(t, ctl(t, f, "validate", path, "--server-check"), exitUsage)
	wantExit(t, ctl(t, f, "validate", path, "--server-check", "-m", "desk-1"), exitOK)
	if !req.GetValidateOnly() || len(f.pictures) != len(pictures) {
		t.Errorf("request: %v, %d pictures", req, len(f.pictures))
	}
	f.create = func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
		return nil, status.Error(codes.FailedPrecondition, "no handler for extract_text")
	}
	got = ctl(t, f, "validate", path, "--server-check", "-m", "desk-1")
	wantExit(t, got, exitRefused)
	if want := "reprisectl: check the workflow: no handler for extract_text (FAILED_PRECONDITION)\n"; got.stderr != want {
		t.Errorf("stderr: %s, want: %s", got.stderr, want)
	}
}

func TestValidateWarnsOfWhatIsNotSupportedYet(t *testing.T) {
	path, _ := file(t)
	write(t, path, "name: w\nactions:\n  - click:\n    target: {byText: Save}\n  - extractText: {variable: v}\n")
	got := ctl(t, &fake{}, "validate", path)
	wantExit(t, got, exitOK)
	want := fmt.Sprintf("%s:4:5: warning: byText is not supported yet: no agent finds the target; give it an anchorImage, a uiaTarget or a point\n"+
		"%[1]s:5:5: warning: extractText is not supported yet: the server refuses a replay with it\n", path)
	if diff := cmp.Diff(want, got.stderr); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(got.stdout, `good: "w", 2 actions`) {
		t.Errorf("stdout: %s", got.stdout)
	}
	got = ctl(t, &fake{}, "validate", path, "-o", "json")
	wantExit(t, got, exitOK)
	want = fmt.Sprintf(`{"type":"warning","file":%q,"line":5,"column":5,"message":"extractText is not supported yet: the server refuses a replay with it"}`, path)
	if !strings.HasSuffix(got.stderr, want+"\n") || strings.Count(got.stderr, "\n") != 2 {
		t.Errorf("stderr: %s\nwant at its end: %s", got.stderr, want)
	}
}

func TestTypedTextIsNeverShown(t *testing.T) {
	path, _ := file(t)
	var req *reprisev1.CreateReplayRequest
	corrected := action(2, acked)
	corrected.Report = &reprisev1.Report{Success: true, Correction: &reprisev1.Correction{UiaSnapshot: `{"value":"` + typed + `"}`}}
	last := replay(completed, 3, corrected)
	f := &fake{
		pictures: map[string][]byte{}, create: creates(&req), watch: script(tell(last, event(1, "replay_ended", "", ""))),
		get: func(string) (*reprisev1.Replay, error) { return last, nil },
	}
	for _, args := range [][]string{
		{"run", path, "-m", "desk-1"}, {"run", path, "-m", "desk-1", "-o", "json"}, {"validate", path}, {"validate", path, "-o", "json"},
		{"get", "r-1"}, {"get", "r-1", "-o", "json"}, {"watch", "r-1", "-o", "json"},
	} {
		got := ctl(t, f, args...)
		wantExit(t, got, exitOK)
		if all := got.stdout + got.stderr; strings.Contains(all, typed) || strings.Contains(all, "secret") {
			t.Errorf("%v shows it: %s", args, all)
		}
	}
	if req.GetWorkflow().GetActions()[2].GetType().GetText() != typed {
		t.Error("it did not travel either")
	}
}
