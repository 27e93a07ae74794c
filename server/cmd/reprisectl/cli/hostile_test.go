package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// hostile is a text with all that a terminal would obey, in the first line as in
// later ones.
func hostile() string {
	const orders = "\x1b[2J\x1b]0;owned\x07\u202eterces"
	b := strings.Builder{}
	b.WriteString("name" + orders)
	for r := rune(0); r < 0xa0; r++ {
		if unicode.IsControl(r) && r != '\n' {
			b.WriteRune(r)
		}
	}
	b.WriteString("\u2066\u2028\u2029\u061c\n" + orders)
	return b.String()
}

// poison puts the text into every text of a message and its messages, but those
// that the program hands back to the server or checks: positions and digests.
func poison(m protoreflect.Message, text string) {
	kept := map[protoreflect.Name]bool{"next_page_token": true, "resume_event_id": true, "sha256": true, "replay_id": true}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch isText := f.Kind() == protoreflect.StringKind; {
		case f.IsMap() && m.Has(f) && f.MapValue().Kind() == protoreflect.StringKind:
			m.Mutable(f).Map().Set(protoreflect.ValueOfString(text).MapKey(), protoreflect.ValueOfString(text))
		case f.IsMap(), f.IsList() && !m.Has(f):
		case f.IsList() && f.Message() != nil:
			for j := range m.Get(f).List().Len() {
				poison(m.Mutable(f).List().Get(j).Message(), text)
			}
		case f.Message() != nil && m.Has(f):
			poison(m.Mutable(f).Message(), text)
		case isText && !f.IsList() && !kept[f.Name()] && f.ContainingOneof() == nil:
			m.Set(f, protoreflect.ValueOfString(text))
		}
	}
}

// bad is a copy of a message, poisoned.
func bad[M proto.Message](m M) M {
	m = proto.CloneOf(m)
	poison(m.ProtoReflect(), hostile())
	return m
}

// badReplay is a replay with all that is shown of one.
func badReplay(state reprisev1.ReplayState) *reprisev1.Replay {
	first, second := action(0, acked), action(1, needsHelp)
	first.Report = &reprisev1.Report{Success: true}
	second.Report = &reprisev1.Report{
		Error: &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW}, ScreenshotAfter: &reprisev1.EvidenceRef{Sha256: strings.Repeat("0", 64)},
	}
	lost := action(2, reprisev1.ActionState_ACTION_STATE_ABANDONED)
	r := replay(state, 1, first, second, lost)
	r.Labels = map[string]string{"a": "b"}
	if state == paused {
		r.Pause = &reprisev1.PauseInfo{
			PauseId: "p", ActionToDecide: "x", Reason: reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, SafetyChecks: []*reprisev1.SafetyCheck{{Id: "a", Required: true}, {Id: "b"}},
		}
	}
	r = bad(r)
	for i, a := range r.GetActions() { // distinct, as a watch keeps them by id
		a.ActionId = fmt.Sprint(i, a.GetActionId())
	}
	return r
}

func badEvents() []*reprisev1.ReplayEvent {
	return []*reprisev1.ReplayEvent{bad(event(1, "replay_paused", "x", "y")), bad(event(2, "action_reported", "x", "y"))}
}

func badMachines() []*reprisev1.Machine {
	locked := &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED}
	return []*reprisev1.Machine{bad(&reprisev1.Machine{Connected: true, DesktopState: locked})}
}

// badServer answers everything with texts that a terminal would obey.
func badServer(t *testing.T) *fake {
	t.Helper()
	f, png := captures(t)
	r := func() *reprisev1.Replay { return badReplay(paused) }
	f.create = func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) { return r(), nil }
	f.get = func(string) (*reprisev1.Replay, error) { return r(), nil }
	f.list = func(*reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
		return &reprisev1.ListReplaysResponse{Replays: []*reprisev1.Replay{r(), badReplay(completed)}}, nil
	}
	f.pause = func(*reprisev1.PauseReplayRequest) (*reprisev1.Replay, error) { return r(), nil }
	f.cancel = func(*reprisev1.CancelReplayRequest) (*reprisev1.Replay, error) { return r(), nil }
	f.closes = func(string) (*reprisev1.Replay, error) { return r(), nil }
	f.resume = func(*reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
		return bad(&reprisev1.ResumeReplayResponse{Replay: r()}), nil
	}
	f.appends = func(*reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
		return bad(&reprisev1.AppendActionsResponse{Replay: r()}), nil
	}
	f.explain = func(string) (*reprisev1.ExplainReplayResponse, error) {
		resp := behindAPause()
		resp.Causes = append(resp.Causes, &reprisev1.Cause{Kind: &reprisev1.Cause_MachineOffline{MachineOffline: &reprisev1.MachineOfflineCause{}}})
		return bad(resp), nil
	}
	f.machines = badMachines()
	f.capture = func(string) (*reprisev1.EvidenceRef, error) {
		return bad(&reprisev1.EvidenceRef{Sha256: digestOf(png)}), nil
	}
	f.badWatches()
	return f
}

// badWatches are cut once each, so that what is said about a lost server is heard
// as well.
func (f *fake) badWatches() {
	cut := status.Error(codes.Unavailable, hostile())
	f.watch = func(n int, st watchStream) error {
		running := badReplay(runs)
		running.GetActions()[1].State = reprisev1.ActionState_ACTION_STATE_DISPATCHED
		_ = script(tell(running, badEvents()...), tell(badReplay(paused), badEvents()...))(n, st)
		if n == 0 {
			return cut
		}
		return st.Send(tell(badReplay(completed), badEvents()...))
	}
	f.watchMachines = func(n int, st machineStream) error {
		changed := badMachines()
		changed[0].LastExit = "another " + hostile()
		_ = st.Send(&reprisev1.WatchMachinesResponse{Machines: badMachines()})
		_ = st.Send(&reprisev1.WatchMachinesResponse{Machines: changed})
		_ = st.Send(&reprisev1.WatchMachinesResponse{RemovedMachineIds: []string{hostile()}})
		if n == 0 {
			return cut
		}
		return status.Error(codes.PermissionDenied, hostile())
	}
	f.events = func(n int, _ *reprisev1.WatchEventsRequest, st eventStream) error {
		_ = st.Send(&reprisev1.WatchEventsResponse{Snapshot: []*reprisev1.Replay{badReplay(paused)}, Events: badEvents(), ResumeEventId: hostile()})
		if n == 0 {
			return cut
		}
		return nil
	}
}

// badDisk is a journal whose reader escapes nothing.
type badDisk struct{}

func (badDisk) Dump(_ context.Context, _ string, w io.Writer) error {
	_, err := io.WriteString(w, hostile()+"\xff\xc3\n")
	return err
}

func (badDisk) Verify(_ context.Context, _ string, _ io.Writer) error {
	return fmt.Errorf("damaged: %s\xff", hostile())
}

// commandLine is what is entered, and the exit code that it has.
type commandLine struct {
	exit int
	args []string
}

// commandLines has each command at least once.
func commandLines(t *testing.T) []commandLine {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "w.yaml")
	text := fmt.Sprintf("name: %q\nactions:\n  - name: %[1]q\n    wait: {duration: 1s}\n", "a\x1b[2J\u202e\u009b")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(dir, "wrong\x1b[2J.yaml")
	if err := os.WriteFile(wrong, []byte("name: x\n\"\\e[2J\": 1\nactions:\n  - \"\\e[2J\u202e\": 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	picture, album := filepath.Join(dir, "now\x1b[2J.png"), filepath.Join(dir, "album")
	return []commandLine{
		{exitOK, []string{"run", file, "-m", "desk-1"}}, {exitUsage, []string{"run", wrong, "-m", "desk-1"}}, {exitOK, []string{"append", "r-1", file}},
		{exitOK, []string{"close", "r-1"}}, {exitOK, []string{"watch", "r-1"}}, {exitOK, []string{"list"}}, {exitOK, []string{"get", "r-1"}},
		{exitNotFound, []string{"get", "r-1", "--evidence", album}}, {exitOK, []string{"why", "r-1"}}, {exitOK, []string{"events"}},
		{exitOK, []string{"pause", "r-1"}}, {exitOK, []string{"resume", "r-1"}}, {exitOK, []string{"cancel", "r-1"}},
		{exitOK, []string{"screenshot", "desk-1", "--to", picture, "--force"}}, {exitUsage, []string{"screenshot", "desk-1", "--to", wrong}},
		{exitOK, []string{"machines"}}, {exitDenied, []string{"machines", "--watch"}}, {exitOK, []string{"validate", file}}, {exitUsage, []string{"validate", wrong}},
		{exitOK, []string{"journal", "dump", "--data", "x"}}, {exitFailure, []string{"journal", "verify", "--data", "x"}}, {exitOK, []string{"version"}},
		{exitUsage, []string{"\x1b[2J\xff"}}, {exitUsage, []string{"list", "--state", "\x1b[2J"}}, {exitOK, []string{"__complete", "resume", ""}},
		{exitOK, []string{"__complete", "resume", "r-1", "--ack", ""}}, {exitOK, []string{"__complete", "resume", "r-1", "--from", ""}},
		{exitOK, []string{"__complete", "screenshot", ""}},
	}
}

// orders are what no terminal may be given, but for line feeds.
var orders = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]`)

// Whatever a workflow, an agent or a server calls itself, an operator's terminal
// shows it and does not obey it; with and without a terminal.
func TestNoTextFromOutsideIsObeyedByATerminal(t *testing.T) {
	ours := regexp.MustCompile(`\r|\x1b\[(2K|0K|J|\d+A)`) // what the bar and the table of machines move the cursor with
	for _, line := range commandLines(t) {
		for _, terminal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q on a terminal %v", line.args, terminal), func(t *testing.T) {
				got := ctlBad(t, badServer(t), terminal, line.args...)
				wantExit(t, got, line.exit)
				text := got.stdout + got.stderr
				if terminal {
					text = ours.ReplaceAllString(text, "")
				}
				if strings.HasPrefix(line.args[0], "__") {
					text = strings.ReplaceAll(text, "\t", " ") // between a word and what is said about it; a shell reads it
				}
				if order := orders.FindString(text); order != "" || !utf8.ValidString(text) {
					t.Errorf("the terminal obeys %q in %q", order, text)
				}
				if text == "" {
					t.Error("the command says nothing")
				}
			})
		}
	}
}

// A command that is added is tried with such texts as well.
func TestEveryCommandIsTriedWithTextsThatATerminalWouldObey(t *testing.T) {
	lines := commandLines(t)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		tried := slices.ContainsFunc(lines, func(l commandLine) bool { return slices.Equal(l.args[:min(len(path), len(l.args))], path) })
		if cmd.Runnable() && !tried {
			t.Errorf("%s is not tried", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{env: Env{Getenv: func(string) string { return "" }}}).root())
}

// ctlBad runs the program against a server that may not be trusted.
func ctlBad(t *testing.T, f *fake, terminal bool, args ...string) result {
	t.Helper()
	h := &host{fake: f}
	h.start()
	defer h.kill()
	var stdout, stderr bytes.Buffer
	exit := Main(t.Context(), Env{
		Args: args, Stdout: &stdout, Stderr: &stderr, Journal: badDisk{}, Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
		Terminal: func() (int, int, bool) { return 100, 24, terminal },
	})
	return result{exit, stdout.String(), stderr.String()}
}
