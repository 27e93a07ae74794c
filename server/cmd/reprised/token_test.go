package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// B25: a revoked agent loses its stream, and cannot come back. How soon is tested where
// time is fake: in tokens and in interceptors.
func TestARevokedTokensStreamEnds(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	ctx := s.addAgent()
	a := s.agent(ctx)
	out, code := run(t, "token", "list", "--data-dir", s.dir)
	id := regexp.MustCompile(`(?m)^(\w+)\s+agent\s+desk-1\s`).FindStringSubmatch(out)
	if code != 0 || id == nil || !regexp.MustCompile(`(?m)^\w+\s+operator\s`).MatchString(out) {
		t.Fatalf("%d: %s", code, out)
	}
	if out, code := run(t, "token", "revoke", id[1], "--data-dir", s.dir); code != 0 || out != "" {
		t.Fatalf("%d: %s", code, out)
	}
	if err := a.End(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("the stream ended with %v", err)
	}
	if _, err := reprisev1.NewEvidenceServiceClient(s.conn).FindMissing(ctx, &reprisev1.FindMissingRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("the token still opens: %v", err)
	}
	if out, code := run(t, "token", "revoke", id[1], "--data-dir", s.dir); code != 1 || !strings.Contains(out, "no such token") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestARotatedOperatorTokenReplacesTheOld(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	before := s.ctx
	out, code := run(t, "token", "rotate-operator", "--data-dir", s.dir)
	if code != 0 || strings.TrimSpace(out) != filepath.Join(s.dir, "operator.token") {
		t.Fatalf("%d: %s", code, out)
	}
	list := func() error {
		_, err := s.replays.ListReplays(before, &reprisev1.ListReplaysRequest{})
		return err
	}
	s.until("the old token is refused", func() bool { return list() != nil })
	if err := list(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("the old token still opens: %v", err)
	}
	if _, err := s.replays.ListReplays(s.operator(), &reprisev1.ListReplaysRequest{}); err != nil {
		t.Errorf("the new one does not: %v", err)
	}
}

func TestATokenThatCannotBeHandedOutIsNotMade(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "agent.token")
	if msg, code := run(t, "token", "add-agent", machine, "--data-dir", dir, "--out", out); code != 0 || msg != "" {
		t.Fatalf("%d: %s", code, msg)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 40 {
		t.Errorf("%v, %v", info, err)
	}
	if msg, code := run(t, "token", "add-agent", machine, "--data-dir", dir, "--out", out); code != 1 || msg != "reprised: --out: "+out+" is there already, and no token was made: go on using the one in it, "+
		"or name another file, or remove this one and then revoke its token (reprised token list, reprised token revoke ID)\n" {
		t.Errorf("%d: %s", code, msg)
	}
	if msg, code := run(t, "token", "add-agent", machine, "--data-dir", dir, "--out", filepath.Join(dir, "none", "agent.token")); code != 1 || !strings.Contains(msg, "--out: open ") {
		t.Errorf("%d: %s", code, msg)
	}
	if list, _ := run(t, "token", "list", "--data-dir", dir); strings.Count(list, "agent") != 1 {
		t.Errorf("the tokens are:\n%s", list)
	}
	if msg, code := run(t, "token", "add-agent", "no machine", "--data-dir", dir, "--out", out+"2"); code != 1 || !strings.Contains(msg, "machine id") {
		t.Errorf("%d: %s", code, msg)
	}
	if _, err := os.Stat(out + "2"); err == nil {
		t.Error("an empty file is left behind")
	}
	if msg, code := run(t, "token", "list", "--data-dir", filepath.Join(dir, "missing")); code != 1 || !strings.Contains(msg, "data folder") || !strings.Contains(msg, "--data-dir") {
		t.Errorf("%d: %s", code, msg)
	}
}

// Tokens lie where the server's own settings put its data.
func TestTokensAreFoundWhereTheServerHasItsData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(t.TempDir(), "reprised.yaml")
	if err := os.WriteFile(config, []byte("data-dir: "+dir+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, code := run(t, "token", "add-agent", machine, "--config", config); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if list, code := run(t, "token", "list", "--data-dir", dir); code != 0 || !strings.Contains(list, machine) {
		t.Errorf("%d: %s", code, list)
	}
	if msg, code := run(t, "token", "list", "--config", filepath.Join(dir, "missing.yaml")); code != 1 || !strings.Contains(msg, "missing.yaml") {
		t.Errorf("%d: %s", code, msg)
	}
}

// Who paused a replay is the person whose token was shown.
func TestWhatAPersonDoesHasTheirName(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	s.addAgent()
	id := s.create()
	secret, code := run(t, "token", "add-operator", "alice", "--data-dir", s.dir)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	res, err := s.replays.PauseReplay(bearer(t.Context(), secret), &reprisev1.PauseReplayRequest{ReplayId: id})
	if err != nil || res.GetReplay().GetPause().GetPausedBy() != "alice" {
		t.Errorf("%v, %v", res, err)
	}
	if list, _ := run(t, "token", "list", "--data-dir", s.dir); !regexp.MustCompile(`(?m)^\w+\s+operator\s+alice\s`).MatchString(list) {
		t.Errorf("the tokens are:\n%s", list)
	}
}
