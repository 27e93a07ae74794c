package rpcstatus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/server/replay"
)

// info returns the ErrorInfo of an error.
func info(t *testing.T, err error) *errdetails.ErrorInfo {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i
		}
	}
	t.Fatalf("%v has no ErrorInfo", err)
	return nil
}

func TestAnErrorOfTheTableLeavesWithItsCodeAndReason(t *testing.T) {
	for _, e := range table {
		got := Error(fmt.Errorf("replay r-1: %w", e.err))
		if i := info(t, got); status.Code(got) != e.code || i.GetReason() != e.reason || i.GetDomain() != Domain {
			t.Errorf("%v leaves as %v with %v, want %v with %s", e.err, status.Code(got), i, e.code, e.reason)
		}
	}
}

func TestACodedErrorLeavesAsItSays(t *testing.T) {
	got := Error(fmt.Errorf("around: %w", New(codes.Aborted, "SOMETHING", "something happened")))
	if status.Code(got) != codes.Aborted || info(t, got).GetReason() != "SOMETHING" || !strings.Contains(status.Convert(got).Message(), "something happened") {
		t.Errorf("%v", got)
	}
}

func TestAnUnknownErrorKeepsItsDetailForTheLog(t *testing.T) {
	unknown := fmt.Errorf("journal: append: %w", errors.New("disk I/O error at /var/lib/reprise"))
	got := Error(unknown)
	st, ok := status.FromError(got)
	if !ok || st.Code() != codes.Internal || st.Message() != "internal error" || len(st.Details()) != 0 {
		t.Errorf("the peer is told %v", st)
	}
	var line bytes.Buffer
	slog.New(slog.NewTextHandler(&line, nil)).Error("call failed", "error", got)
	if !strings.Contains(line.String(), "disk I/O error at /var/lib/reprise") || !errors.Is(got, unknown) {
		t.Errorf("the log says %q", line.String())
	}
}

// Half of a failure is no success: only nil leaves as nil.
func TestNoErrorLeavesAsSuccess(t *testing.T) {
	if err := Error(nil); err != nil {
		t.Errorf("nil leaves as %v", err)
	}
	for _, err := range []error{io.EOF, fmt.Errorf("read a record: %w", io.EOF), &replay.ChecksError{}, errors.New("")} {
		if Error(err) == nil {
			t.Errorf("%v leaves as success", err)
		}
	}
}

func TestTheEndOfACallersContextTellsNothingOfOurs(t *testing.T) {
	for err, want := range map[error]codes.Code{context.Canceled: codes.Canceled, context.DeadlineExceeded: codes.DeadlineExceeded} {
		got := Error(fmt.Errorf("journal: head of r-1: %w", err))
		if status.Code(got) != want || strings.Contains(status.Convert(got).Message(), "journal") {
			t.Errorf("%v leaves as %v", err, got)
		}
	}
}

func TestAStatusStaysAStatus(t *testing.T) {
	if got := Error(status.Error(codes.PermissionDenied, "no")); status.Code(got) != codes.PermissionDenied {
		t.Errorf("%v", got)
	}
}

func TestChecksThatKeepAReplayPausedAreNamed(t *testing.T) {
	err := Error(fmt.Errorf("resume: %w", &replay.ChecksError{Missing: []string{"m1", "m2"}, Unknown: []string{"u"}}))
	if status.Code(err) != codes.FailedPrecondition || info(t, err).GetReason() != "SAFETY_CHECKS" {
		t.Fatalf("%v", err)
	}
	got := map[string]string{}
	for _, d := range status.Convert(err).Details() {
		if f, ok := d.(*errdetails.PreconditionFailure); ok {
			for _, v := range f.GetViolations() {
				got[v.GetSubject()] = v.GetType()
			}
		}
	}
	want := map[string]string{"m1": "SAFETY_CHECK_REQUIRED", "m2": "SAFETY_CHECK_REQUIRED", "u": "SAFETY_CHECK_UNKNOWN"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
