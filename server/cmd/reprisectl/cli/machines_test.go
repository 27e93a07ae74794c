package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// machine is a connected one with an active desktop.
func machine(id string) *reprisev1.Machine {
	return &reprisev1.Machine{
		MachineId: id, Connected: true, ConnectionChangedAt: at(0), AgentVersion: "v1",
		DesktopState: &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE},
	}
}

// busyMachine runs a replay on a locked desktop.
func busyMachine(id string) *reprisev1.Machine {
	m := machine(id)
	m.CurrentReplayId, m.CurrentReplayState, m.ActionInFlight, m.QueuedReplays = "r-1", runs, "r-1/a", 1
	m.DesktopState = &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "by the user"}
	return m
}

// fleetStory is machines that change, a server that goes away and comes back,
// and a refusal that ends the watch.
func fleetStory(n int, st machineStream) error {
	var said []*reprisev1.WatchMachinesResponse
	switch n {
	case 0:
		said = []*reprisev1.WatchMachinesResponse{
			{Machines: []*reprisev1.Machine{machine("desk-1"), machine("desk-2"), machine("desk-3")}},
			{Machines: []*reprisev1.Machine{busyMachine("desk-1")}, RemovedMachineIds: []string{"desk-3"}},
			{Machines: []*reprisev1.Machine{busyMachine("desk-1")}},
		}
	case 1:
		said = []*reprisev1.WatchMachinesResponse{
			{Machines: []*reprisev1.Machine{busyMachine("desk-1"), {MachineId: "desk-4"}}},
			{Machines: []*reprisev1.Machine{{MachineId: "desk-1", LastExit: "killed"}}},
		}
	default:
		return status.Error(codes.PermissionDenied, "no")
	}
	for _, resp := range said {
		if err := st.Send(resp); err != nil {
			return err
		}
	}
	return status.Error(codes.Unavailable, "the server is stopping")
}

func TestWatchedMachinesAreShownOnceAndThenAsTheyChange(t *testing.T) {
	for _, tt := range []struct{ format, golden string }{{"plain", "machines.golden"}, {"json", "machines.json.golden"}} {
		synctest.Test(t, func(t *testing.T) {
			got := ctl(t, &fake{watchMachines: fleetStory}, "machines", "--watch", "-o", tt.format)
			wantExit(t, got, exitDenied)
			golden(t, tt.golden, strings.ReplaceAll(got.stdout, "00:00:01", "00:00:00")) // the rest before the server is asked again is drawn
		})
	}
}

// onScreen runs the program on a terminal of that size.
func onScreen(ctx context.Context, f *fake, columns, rows int, args ...string) string {
	h := &host{fake: f}
	h.start()
	defer h.kill()
	var stdout, stderr bytes.Buffer
	Main(ctx, Env{
		Args: args, Stdout: &stdout, Stderr: &stderr, Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
		Terminal: func() (int, int, bool) { return columns, rows, true },
	})
	return stdout.String()
}

func TestOnATerminalTheTableStaysInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const columns = 60
		output := onScreen(t.Context(), &fake{watchMachines: fleetStory}, columns, 3, "machines", "--watch")
		drawn := strings.Split(output, "\r\x1b[J")
		if len(drawn) != 6 { // nothing before the first, and one for each response
			t.Fatalf("drawn %d times, want 5: %q", len(drawn)-1, output)
		}
		for i, d := range drawn[1:] {
			if d = strings.TrimSuffix(d, "\x1b[2A"); strings.Contains(d, "trying again") != (i == 2 || i == 4) {
				t.Errorf("drawing %d: %q", i, d)
			}
			for _, l := range strings.Split(d, "\n") {
				if len([]rune(l)) > columns && !strings.Contains(l, "trying again") {
					t.Errorf("drawing %d is wider than the terminal: %q", i, l)
				}
			}
		}
		want := []string{"MACHINE  AGENT      SINCE                DESKTOP  REPLAY  S…", "… and 3 more", "\x1b[2A"}
		if diff := cmp.Diff(want, strings.Split(drawn[1], "\n")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAMachineWatchEndsWhenTheServerStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := ctl(t, &fake{watchMachines: func(n int, st machineStream) error {
			if n == 0 {
				return st.Send(&reprisev1.WatchMachinesResponse{})
			}
			return status.Error(codes.Unavailable, "the server is starting")
		}}, "machines", "--watch", "--give-up-after", "5m")
		wantExit(t, got, exitUnreachable)
		if took := time.Since(began); took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("gave up after %v, want 5 to 6 minutes", took)
		}
	})
}
