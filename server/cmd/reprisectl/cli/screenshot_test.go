package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// captures is a server with a picture of desk-1's screen.
func captures(t *testing.T) (*fake, []byte) {
	t.Helper()
	_, pictures := file(t)
	png := drawn()["large.png"]
	f := &fake{pictures: pictures}
	f.capture = func(machine string) (*reprisev1.EvidenceRef, error) {
		if machine != "desk-1" {
			return nil, status.Error(codes.NotFound, "machine \"desk-2\" is not registered")
		}
		return &reprisev1.EvidenceRef{Sha256: digestOf(png), TakenAt: at(0), Method: "screen", Masks: 2, Note: "the second monitor is off"}, nil
	}
	return f, png
}

func TestAScreenshotIsWrittenAndNeverOverAFile(t *testing.T) {
	f, png := captures(t)
	path := filepath.Join(t.TempDir(), "now.png")
	got := ctl(t, f, "screenshot", "desk-1", "--to", path)
	wantExit(t, got, exitOK)
	if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, png) {
		t.Errorf("the file holds %d bytes, want %d: %v", len(data), len(png), err)
	}
	want := fmt.Sprintf("%s: %d bytes, taken at 2026-03-01 12:00:00 by the machine's clock, 2 masked: the second monitor is off\n", path, len(png))
	if got.stdout != want {
		t.Errorf("stdout: %s\nwant: %s", got.stdout, want)
	}
	write(t, path, "mine")
	f.fetched = nil
	got = ctl(t, f, "screenshot", "desk-1", "--to", path)
	wantExit(t, got, exitUsage)
	if data, _ := os.ReadFile(path); string(data) != "mine" || len(f.fetched) != 0 || !strings.Contains(got.stderr, "--force") {
		t.Errorf("the file holds %.20q, %d downloads, stderr: %s", data, len(f.fetched), got.stderr)
	}
	got = ctl(t, f, "screenshot", "desk-1", "--to", path, "--force", "-o", "json")
	wantExit(t, got, exitOK)
	if data, _ := os.ReadFile(path); !bytes.Equal(data, png) || !strings.Contains(got.stdout, `"masks":2`) {
		t.Errorf("the file holds %d bytes, want %d; stdout: %s", len(data), len(png), got.stdout)
	}
}

func TestAScreenshotHasTheMachineAndTheTimeForItsName(t *testing.T) {
	f, png := captures(t)
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) { // its clock stands at midnight
		wantExit(t, ctl(t, f, "screenshot", "desk-1"), exitOK)
	})
	if data, err := os.ReadFile("desk-1-20000101-000000.png"); err != nil || !bytes.Equal(data, png) {
		t.Errorf("%d bytes, want %d: %v", len(data), len(png), err)
	}
}

func TestAScreenshotGoesToAPipeAndNotToATerminal(t *testing.T) {
	f, png := captures(t)
	got := ctl(t, f, "screenshot", "desk-1", "--to", "-")
	wantExit(t, got, exitOK)
	if got.stdout != string(png) || !strings.HasPrefix(got.stderr, fmt.Sprintf("-: %d bytes", len(png))) {
		t.Errorf("%d bytes on stdout, want %d; stderr: %s", len(got.stdout), len(png), got.stderr)
	}
	f.fetched = nil
	if out := onScreen(t.Context(), f, 80, 24, "screenshot", "desk-1", "--to", "-"); out != "" || len(f.fetched) != 0 {
		t.Errorf("a terminal got %.60q", out)
	}
}

func TestADamagedPictureIsNotKept(t *testing.T) {
	f, png := captures(t)
	f.pictures[digestOf(png)] = png[:len(png)-1]
	dir := t.TempDir()
	got := ctl(t, f, "screenshot", "desk-1", "--to", filepath.Join(dir, "now.png"))
	wantExit(t, got, exitFailure)
	if left, _ := os.ReadDir(dir); len(left) != 0 || !strings.Contains(got.stderr, "came damaged") {
		t.Errorf("left %v, stderr: %s", left, got.stderr)
	}
}

func TestAMachineThatGivesNoPictureSaysWhy(t *testing.T) {
	f, _ := captures(t)
	wantExit(t, ctl(t, f, "screenshot", "desk-2", "--to", filepath.Join(t.TempDir(), "now.png")), exitNotFound)
	for _, tt := range []struct {
		ref  *reprisev1.EvidenceRef
		err  error
		exit int
		want string
	}{
		{nil, status.Error(codes.Unavailable, "the agent of desk-1 is away"), exitUnreachable, "screenshot of desk-1: the agent of desk-1 is away (UNAVAILABLE)"},
		{nil, status.Error(codes.FailedPrecondition, "the desktop is locked"), exitRefused, "the desktop is locked"},
		{&reprisev1.EvidenceRef{Note: "too large"}, nil, exitFailure, "there is no picture: too large"},
	} {
		f.capture = func(string) (*reprisev1.EvidenceRef, error) { return tt.ref, tt.err }
		got := ctl(t, f, "screenshot", "desk-1", "--to", filepath.Join(t.TempDir(), "now.png"))
		wantExit(t, got, tt.exit)
		if !strings.Contains(got.stderr, tt.want) {
			t.Errorf("stderr: %s\nwant: %s", got.stderr, tt.want)
		}
	}
}

// The server waits 30 s for a picture; its answer is worth more than a limit of
// ours.
func TestAScreenshotIsWaitedForLongerThanTheServerWaits(t *testing.T) {
	const answer = "no picture came"
	for _, tt := range []struct {
		args     []string
		answered bool
	}{{nil, true}, {[]string{"--timeout", "5s"}, false}} {
		f, _ := captures(t)
		path := filepath.Join(t.TempDir(), "now.png")
		synctest.Test(t, func(t *testing.T) {
			h := &host{fake: f}
			f.capture = func(string) (*reprisev1.EvidenceRef, error) {
				time.Sleep(30 * time.Second)
				return nil, status.Error(codes.DeadlineExceeded, answer)
			}
			h.start()
			got := ctlAt(t, h, append([]string{"screenshot", "desk-1", "--to", path}, tt.args...)...)
			time.Sleep(time.Minute) // the fake is done
			h.kill()
			wantExit(t, got, exitUnreachable)
			if strings.Contains(got.stderr, answer) != tt.answered {
				t.Errorf("%v: stderr: %s", tt.args, got.stderr)
			}
		})
	}
}
