package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// happened are the nth to the mth event of a server's journal, from 1.
func happened(n, m int) *reprisev1.WatchEventsResponse {
	resp := &reprisev1.WatchEventsResponse{ResumeEventId: fmt.Sprintf("e-%d", m)}
	for i := n; i <= m; i++ {
		e := event(100*i, "action_reported", fmt.Sprintf("r-1/%d", i), "done\nquickly")
		e.EventId, e.ReplayId, e.MachineId = fmt.Sprintf("e-%d", i), "r-1", "desk-1"
		resp.Events = append(resp.Events, e)
	}
	return resp
}

// journalOf is a server whose nth watch sends responses and ends with err, and
// which keeps the requests.
func journalOf(asked *[]*reprisev1.WatchEventsRequest, ends []error, says ...[]*reprisev1.WatchEventsResponse) *fake {
	return &fake{events: func(n int, req *reprisev1.WatchEventsRequest, st eventStream) error {
		*asked = append(*asked, proto.CloneOf(req))
		for _, resp := range says[n] {
			if err := st.Send(resp); err != nil {
				return err
			}
		}
		return ends[n]
	}}
}

var (
	errStopping = status.Error(codes.Unavailable, "the server is stopping")
	errNoMore   = status.Error(codes.PermissionDenied, "no") // ends a watch
)

func TestEventsEndWithThePresent(t *testing.T) {
	for args, want := range map[string]*reprisev1.WatchEventsRequest{
		"":                     {FromBeginning: true, UntilPresent: true},
		"--after e-0":          {AfterEventId: "e-0", UntilPresent: true},
		"-m desk-1 -r r-1":     {FromBeginning: true, UntilPresent: true, MachineId: "desk-1", ReplayId: "r-1"},
		"--follow":             {FromBeginning: true},
		"--follow --after e-0": {AfterEventId: "e-0"},
		"--follow --new":       {},
	} {
		var asked []*reprisev1.WatchEventsRequest
		end := error(nil)
		if strings.Contains(args, "follow") {
			end = errNoMore
		}
		got := ctl(t, journalOf(&asked, []error{end}, []*reprisev1.WatchEventsResponse{happened(1, 2), {ResumeEventId: "e-7"}}), append([]string{"events"}, strings.Fields(args)...)...)
		wantExit(t, got, map[bool]int{true: exitOK, false: exitDenied}[end == nil])
		if diff := cmp.Diff([]*reprisev1.WatchEventsRequest{want}, asked, protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
		if !strings.HasPrefix(got.stderr, "to go on from here: reprisectl events --after e-7\n") || strings.Count(got.stdout, "\n") != 2 {
			t.Errorf("%s: stdout: %s, stderr: %s", args, got.stdout, got.stderr)
		}
	}
	wantExit(t, ctl(t, &fake{}, "events", "--new"), exitUsage)
	wantExit(t, ctl(t, &fake{}, "events", "--follow", "--new", "--after", "e-0"), exitUsage)
}

// Whatever is cut, each event is printed once and in order.
func TestFollowedEventsGoOnFromTheLastIDOverRestarts(t *testing.T) {
	for _, format := range []string{"plain", "json"} {
		synctest.Test(t, func(t *testing.T) {
			var asked []*reprisev1.WatchEventsRequest
			live := happened(1, 0)
			live.Snapshot, live.ResumeEventId = []*reprisev1.Replay{replay(runs, 1)}, ""
			got := ctl(t, journalOf(&asked, []error{errStopping, nil, errStopping, errNoMore},
				[]*reprisev1.WatchEventsResponse{live, happened(1, 2)}, []*reprisev1.WatchEventsResponse{happened(3, 3), {ResumeEventId: "e-9"}},
				nil, []*reprisev1.WatchEventsResponse{happened(10, 11)},
			), "events", "--follow", "--new", "-o", format)
			wantExit(t, got, exitDenied)
			want := []*reprisev1.WatchEventsRequest{{}, {AfterEventId: "e-2"}, {AfterEventId: "e-9"}, {AfterEventId: "e-9"}}
			if diff := cmp.Diff(want, asked, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			golden(t, "events."+format+".golden", got.stdout+"--- stderr\n"+got.stderr)
		})
	}
}

func TestEventsThatAreForgottenAreExplained(t *testing.T) {
	st, err := status.New(codes.OutOfRange, "events after this id are no longer kept").WithDetails(&errdetails.ErrorInfo{Reason: "EVENTS_FORGOTTEN"})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"plain", "json"} {
		var asked []*reprisev1.WatchEventsRequest
		got := ctl(t, journalOf(&asked, []error{st.Err()}, nil), "events", "--follow", "--after", "e-1", "-o", format)
		wantExit(t, got, exitUsage)
		if !strings.Contains(got.stderr, "events after this id are no longer kept") || !strings.Contains(got.stderr, "events --follow --new begins with") {
			t.Errorf("stderr: %s", got.stderr)
		}
		if all := got.stdout + got.stderr; strings.Contains(all, "--after e-1") || strings.Contains(all, "resumeEventId") {
			t.Errorf("it says to go on from there: %s", all)
		}
		if format == "json" && !strings.Contains(got.stderr, `"reason":"EVENTS_FORGOTTEN"`) {
			t.Errorf("stderr: %s", got.stderr)
		}
	}
}

func TestAnIDThatTheServerRefusesIsNotWhereToGoOn(t *testing.T) {
	var asked []*reprisev1.WatchEventsRequest
	got := ctl(t, journalOf(&asked, []error{status.Error(codes.InvalidArgument, "not of this journal")}, nil), "events", "--after", "nonsense")
	wantExit(t, got, exitUsage)
	if strings.Contains(got.stderr, "go on from here") {
		t.Errorf("stderr: %s", got.stderr)
	}
}

func TestAScriptIsToldThePositionOnceAtTheEnd(t *testing.T) {
	for want, says := range map[string][]*reprisev1.WatchEventsResponse{
		`{"type":"position","resumeEventId":"e-9"}`: {happened(1, 2), {ResumeEventId: "e-9"}},
		`{"type":"position","resumeEventId":"e-2"}`: {{ResumeEventId: "e-0"}, happened(1, 2)},
	} {
		var asked []*reprisev1.WatchEventsRequest
		got := ctl(t, journalOf(&asked, []error{nil}, says), "events", "-o", "json")
		wantExit(t, got, exitOK)
		if !strings.HasSuffix(got.stdout, "}\n"+want+"\n") || strings.Count(got.stdout, want) != 1 {
			t.Errorf("stdout: %s\nwant at its end: %s", got.stdout, want)
		}
	}
}

func TestInterruptingEventsSaysWhereToGoOn(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	h := &host{fake: &fake{events: func(_ int, _ *reprisev1.WatchEventsRequest, st eventStream) error {
		if err := st.Send(happened(1, 5)); err != nil {
			return err
		}
		<-st.Context().Done()
		return nil
	}}}
	h.start()
	defer h.kill()
	var stderr bytes.Buffer
	exit := Main(ctx, Env{
		Args: []string{"events", "--follow"}, Stdout: writes(func([]byte) { interrupt() }), Stderr: &stderr,
		Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	if exit != exitInterrupted || !strings.Contains(stderr.String(), "to go on from here: reprisectl events --after e-5\n") {
		t.Errorf("exit code %d, stderr: %s", exit, stderr.String())
	}
}

// writes is an output that is told of each write.
type writes func([]byte)

func (w writes) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
