package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/cmd/reprisectl/album"
)

// withEvidence is a completed replay of three steps: the screen after one is the
// screen before the next.
func withEvidence() (*fake, *reprisev1.Replay) {
	f := &fake{pictures: map[string][]byte{}}
	screen := func(n int) *reprisev1.EvidenceRef {
		data := []byte(fmt.Sprintf("screen %d", n))
		f.pictures[digestOf(data)] = data
		return &reprisev1.EvidenceRef{Sha256: digestOf(data), TakenAt: at(n), Method: "screen", Settled: true, Masks: 1}
	}
	r := replay(completed, 3)
	for step := range 3 {
		a := action(step, acked)
		a.Report = &reprisev1.Report{Success: true, ScreenshotBefore: screen(step), ScreenshotAfter: screen(step + 1)}
		r.Actions = append(r.Actions, a)
	}
	r.Actions[1].Report.Correction = &reprisev1.Correction{UiaSnapshot: typed}
	f.get = func(string) (*reprisev1.Replay, error) { return r, nil }
	return f, r
}

// namesIn are the files of a folder.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func indexOf(t *testing.T, dir string) album.Index {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, album.IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	var index album.Index
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	return index
}

func TestEvidenceIsTheReplayAndAllItsPictures(t *testing.T) {
	f, _ := withEvidence()
	dir := filepath.Join(t.TempDir(), "evidence")
	got := ctl(t, f, "get", "r-1", "--evidence", dir)
	wantExit(t, got, exitOK)
	if want := fmt.Sprintf("replay r-1: 6 of 6 pictures in %s, 4 of them fetched now\n", dir); got.stdout != want {
		t.Errorf("stdout: %s, want: %s", got.stdout, want)
	}
	want := []string{
		"001_open_after.png", "001_open_before.png", "002_click_after.png", "002_click_before.png", "003_send_after.png", "003_send_before.png",
		"index.json", "replay.json",
	}
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Error(diff)
	}
	for name, content := range map[string]string{"001_open_before.png": "screen 0", "001_open_after.png": "screen 1", "002_click_before.png": "screen 1", "003_send_after.png": "screen 3"} {
		if data, _ := os.ReadFile(filepath.Join(dir, name)); string(data) != content {
			t.Errorf("%s holds %q, want %q", name, data, content)
		}
	}
	if slices.Sort(f.fetched); len(slices.Compact(f.fetched)) != 4 {
		t.Errorf("%d downloads, want each of 4 pictures once", len(f.fetched))
	}
	index := indexOf(t, dir)
	if p := index.Pictures[3]; index.ReplayID != "r-1" || p.File != "002_click_after.png" || p.Step != 2 || p.ActionID != "r-1/b" || p.Masks != 1 || p.TakenAt == nil {
		t.Errorf("index: %+v", index)
	}
	data, _ := os.ReadFile(filepath.Join(dir, album.ReplayFile))
	if text := string(data); !strings.Contains(text, `"actionId": "r-1/c"`) || strings.Contains(text, typed) {
		t.Errorf("replay.json lacks an action or shows typed text: %s", text)
	}
}

func TestWhatIsThereIsNotFetchedAgain(t *testing.T) {
	f, _ := withEvidence()
	dir := t.TempDir()
	wantExit(t, ctl(t, f, "get", "r-1", "--evidence", dir), exitOK)
	for _, name := range []string{"003_send_after.png", "001_open_after.png"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "001_open_before.png"), "half")
	f.fetched = nil
	got := ctl(t, f, "get", "r-1", "--evidence", dir, "-o", "json")
	wantExit(t, got, exitOK)
	if want := `{"type":"evidence","replayId":"r-1","folder":"` + dir + `","there":6,"fetched":3}` + "\n"; got.stdout != want {
		t.Errorf("stdout: %s, want: %s", got.stdout, want)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "001_open_before.png")); string(data) != "screen 0" || len(f.fetched) != 3 {
		t.Errorf("%d downloads, want 3; the damaged one holds %q", len(f.fetched), data)
	}
}

func TestPicturesThatAreGoneAreNamedAndTheExitSaysSo(t *testing.T) {
	f, r := withEvidence()
	r.State = runs
	gone := r.GetActions()[0].GetReport().GetScreenshotAfter() // also the next one's before
	gone.Note = "too large"
	delete(f.pictures, gone.GetSha256())
	dir := t.TempDir()
	got := ctl(t, f, "get", "r-1", "--evidence", dir)
	wantExit(t, got, exitNotFound)
	want := fmt.Sprintf(`replay r-1: 4 of 6 pictures in %s, 3 of them fetched now
missing  001_open_after.png of r-1/a: never uploaded, or no longer kept (too large)
missing  002_click_before.png of r-1/b: never uploaded, or no longer kept (too large)
the replay is running: the same command adds what comes later
`, dir)
	if diff := cmp.Diff(want, got.stdout); diff != "" || got.stderr != "" {
		t.Errorf("%s, stderr: %s", diff, got.stderr)
	}
	if p := indexOf(t, dir).Pictures; p[1].Missing == "" || p[0].Missing != "" || len(f.fetched) != 4 {
		t.Errorf("index: %+v, %d downloads, want 4", p, len(f.fetched))
	}
	got = ctl(t, f, "get", "r-1", "--evidence", dir, "-o", "json")
	wantExit(t, got, exitNotFound)
	if strings.Count(got.stdout, `"missing":"never uploaded`) != 2 {
		t.Errorf("stdout: %s", got.stdout)
	}
	f.pictures[gone.GetSha256()] = []byte("screen 1") // it came late
	wantExit(t, ctl(t, f, "get", "r-1", "--evidence", dir), exitOK)
	if p := indexOf(t, dir).Pictures; p[1].Missing != "" {
		t.Errorf("index: %+v", p)
	}
}

func TestALongListOfGonePicturesIsCut(t *testing.T) {
	missing := make([]album.Picture, maxNamed+5)
	text := collectedText(replay(completed, 3), "dir", 30, 0, missing)
	if strings.Count(text, "\nmissing") != maxNamed+1 || !strings.Contains(text, "and 5 more, which index.json names") {
		t.Error(text)
	}
}

func TestAnotherReplaysFolderIsLeftAlone(t *testing.T) {
	f, _ := withEvidence()
	dir := t.TempDir()
	write(t, filepath.Join(dir, album.ReplayFile), `{"replayId":"r-2"}`)
	got := ctl(t, f, "get", "r-1", "--evidence", dir)
	wantExit(t, got, exitUsage)
	if diff := cmp.Diff([]string{album.ReplayFile}, namesIn(t, dir)); diff != "" || !strings.Contains(got.stderr, "holds the evidence of replay r-2: give another folder") {
		t.Errorf("%s, stderr: %s", diff, got.stderr)
	}
	wantExit(t, ctl(t, f, "get", "r-1", "--evidence", ""), exitUsage)
}

func TestADownloadThatIsCutIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := withEvidence()
		f.cuts = 3
		dir := t.TempDir()
		wantExit(t, ctl(t, f, "get", "r-1", "--evidence", dir), exitOK)
		if names := namesIn(t, dir); len(names) != 8 || len(f.fetched) != 7 {
			t.Errorf("%d downloads, want 7; left %v", len(f.fetched), names)
		}
	})
}

// A replay is read page by page, and is the same as in one piece.
func TestGetReadsAllPagesOfActions(t *testing.T) {
	r := replay(runs, 1)
	for i := range 2*actionsOnAPage + 1 {
		r.Actions = append(r.Actions, &reprisev1.ActionStatus{ActionId: fmt.Sprintf("r-1/%d", i), Step: int32(i), State: waiting})
	}
	f := &fake{get: func(string) (*reprisev1.Replay, error) { return r, nil }}
	got := ctl(t, f, "get", "r-1", "-o", "json")
	wantExit(t, got, exitOK)
	for i := range r.GetActions() {
		if strings.Count(got.stdout, fmt.Sprintf(`"actionId":"r-1/%d"`, i)) != 1 {
			t.Errorf("action %d is not there once: %s", i, got.stdout)
		}
	}
	f.get = func(string) (*reprisev1.Replay, error) { return nil, status.Error(codes.NotFound, "no replay r-9") }
	wantExit(t, ctl(t, f, "get", "r-9"), exitNotFound)
}
