package link

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agenttest"
)

func TestReasonsThatAreBranchedOnAreTheDocumentedOnes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	for reason := range remedies {
		if !strings.Contains(string(page), fmt.Sprintf("| `%s` |", reason)) {
			t.Errorf("no server says %s", reason)
		}
	}
	if !strings.Contains(string(page), "`"+errorDomain+"`") {
		t.Errorf("no server's domain is %s", errorDomain)
	}
}

func TestAReasonGoesBeforeTheCodeAndAnUnknownOneDoesNot(t *testing.T) {
	foreign, err := status.New(codes.InvalidArgument, "").WithDetails(&errdetails.ErrorInfo{Reason: "EVIDENCE_FULL", Domain: "example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		err  error
		want remedy
	}{
		{"a full disk", agenttest.Refusal(codes.ResourceExhausted, "EVIDENCE_FULL"), waitAll},
		{"too large", agenttest.Refusal(codes.ResourceExhausted, "PICTURE_TOO_LARGE"), letGo},
		{"no reason", status.Error(codes.ResourceExhausted, "full"), askAgain},
		{"a reason of a newer server", agenttest.Refusal(codes.InvalidArgument, "PICTURE_UGLY"), letGo},
		{"another domain's", foreign.Err(), letGo},
		{"going away", agenttest.Refusal(codes.Unavailable, "GOING_AWAY"), waitAll},
		{"none of gRPC's", fmt.Errorf("the server stored 1 byte of 2"), askAgain},
	} {
		if got := remedyFor(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
