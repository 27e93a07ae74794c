//go:build unix

package tokens

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/interceptors/auth"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func operatorToken(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, OperatorFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestFirstStartLeavesOneOperatorToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	token := operatorToken(t, dir)
	id, err := s.Authenticate(token)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(auth.Identity{Role: auth.RoleOperator, Name: "operator"}, id); diff != "" {
		t.Error(diff)
	}
	again := open(t, dir)
	if operatorToken(t, dir) != token {
		t.Error("the second start made another token")
	}
	if err := os.Remove(filepath.Join(dir, OperatorFile)); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(filepath.Join(dir, OperatorFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a token that was moved away was replaced")
	}
	if _, err := again.Authenticate(token); err != nil {
		t.Errorf("a token that was moved away is not valid: %v", err)
	}
}

func TestFilesAreTheOwnersAndHoldNoToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	agent, err := s.AddAgent("desk-1")
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, File: 0o600, OperatorFile: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %v", name, info.Mode().Perm(), err, mode)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{agent, operatorToken(t, dir)} {
		if len(token) < 40 || bytes.Contains(text, []byte(token[4:])) {
			t.Errorf("token of %d letters is short or stored", len(token))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("files left over: %v, %v", entries, err)
	}
}

func TestAnAgentsTokenIsForItsMachine(t *testing.T) {
	s := open(t, t.TempDir())
	token, err := s.AddAgent("desk-1")
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Authenticate(token)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(auth.Identity{Role: auth.RoleAgent, Machine: "desk-1", Name: "desk-1"}, id); diff != "" {
		t.Error(diff)
	}
	if !s.Registered("desk-1") || s.Registered("desk-2") {
		t.Error("the registry of machines is wrong")
	}
	for _, bad := range []string{"", " ", "a b", "-a", "a/b", "..", strings.Repeat("a", 64), "é"} {
		if _, err := s.AddAgent(bad); !errors.Is(err, ErrBadMachine) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWhatIsNoTokenOpensNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	token := operatorToken(t, dir)
	stored := s.Tokens()[0].SHA256
	for _, wrong := range []string{"", "x", token[:len(token)-1], token + "x", strings.ToUpper(token), token + "\n", stored} {
		if id, err := s.Authenticate(wrong); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("%q is %v, %v", wrong, id, err)
		}
	}
}

func TestATokenIsReplacedWithoutAGap(t *testing.T) {
	s := open(t, t.TempDir())
	older, _ := s.AddAgent("desk-1")
	newer, _ := s.AddAgent("desk-1")
	for _, token := range []string{older, newer} {
		if _, err := s.Authenticate(token); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(s.Tokens()[1].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(older); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("the revoked token: %v", err)
	}
	if _, err := s.Authenticate(newer); err != nil {
		t.Errorf("the other token: %v", err)
	}
	if err := s.RevokeAgent("desk-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(newer); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("a token of a revoked agent: %v", err)
	}
	if !s.Registered("desk-1") || len(s.Machines()) != 1 {
		t.Error("the machine went with its tokens")
	}
	if err := s.RevokeAgent("desk-1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
	if err := s.Revoke("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such id: %v", err)
	}
}

func TestRotatingTheOperatorEndsTheOlderTokens(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	older := operatorToken(t, dir)
	if err := s.RotateOperator(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(older); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("the older token: %v", err)
	}
	if _, err := s.Authenticate(operatorToken(t, dir)); err != nil {
		t.Errorf("the newer token: %v", err)
	}
}

func TestAnotherProcessesChangeIsSeenWithinTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		server, command := open(t, dir), open(t, dir)
		token, err := command.AddAgent("desk-1")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(CheckInterval)
		if _, err := server.Authenticate(token); err != nil {
			t.Errorf("an added token: %v", err)
		}
		if err := command.RevokeAgent("desk-1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(CheckInterval)
		if _, err := server.Authenticate(token); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("a revoked token: %v", err)
		}
	})
}

func TestADamagedFileKeepsWhatWasReadAndSaysSoOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var lines bytes.Buffer
		s, err := Open(dir, slog.New(slog.NewTextHandler(&lines, nil)))
		if err != nil {
			t.Fatal(err)
		}
		token := operatorToken(t, dir)
		path := filepath.Join(dir, File)
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{"", "{", `{"version":2}`, `{"version":1,"tokens":[{"id":"a","role":"operator","sha256":"00"}]}`, `{"version":1,"tokens":[{"role":"emperor"}]}`} {
			lines.Reset()
			if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				time.Sleep(CheckInterval)
				if _, err := s.Authenticate(token); err != nil {
					t.Fatalf("after %q: %v", damaged, err)
				}
			}
			if n := strings.Count(lines.String(), "tokens cannot be read"); n != 1 {
				t.Errorf("%q was logged %d times", damaged, n)
			}
			if _, err := s.AddAgent("desk-1"); err == nil {
				t.Errorf("%q was overwritten", damaged)
			}
			if _, err := Open(dir, nil); err == nil {
				t.Errorf("%q was opened", damaged)
			}
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(CheckInterval)
			_ = s.Tokens()
		}
	})
}

func TestConcurrentChangesAreAllKept(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{open(t, dir), open(t, dir)}
	const each = 5
	var wg sync.WaitGroup
	for i, s := range stores {
		for j := range each {
			wg.Go(func() {
				if _, err := s.AddAgent("desk-" + string(rune('a'+i*each+j))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if got := len(open(t, dir).Machines()); got != 2*each {
		t.Errorf("%d machines, want %d", got, 2*each)
	}
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, nil); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestAFileMadeByRootBelongsToTheServersUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user = 12345
	dir := t.TempDir()
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).AddAgent("desk-1"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != user {
			t.Errorf("%s belongs to %d", e.Name(), uid)
		}
	}
}

func TestAMachineThatAnotherProcessRegisteredIsKnownAtOnce(t *testing.T) {
	dir := t.TempDir()
	server, other := open(t, dir), open(t, dir)
	if server.Registered("M") {
		t.Fatal("M is registered before it was")
	}
	secret, err := other.AddAgent("M")
	if err != nil {
		t.Fatal(err)
	}
	if !server.Registered("M") {
		t.Error("M is not known at once")
	}
	if _, err := server.Authenticate(secret); err != nil {
		t.Errorf("its token is not known at once: %v", err)
	}
}

// Who did something is a name, and one person's token goes without the others'.
func TestOperatorsHaveNames(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	alice, err := s.AddOperator("alice @ward 3")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := s.AddOperator("bob")
	if err != nil {
		t.Fatal(err)
	}
	want := auth.Identity{Role: auth.RoleOperator, Name: "alice @ward 3"}
	if got, err := s.Authenticate(alice); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if err := s.RotateOperator(); err != nil {
		t.Fatal(err)
	}
	for _, token := range s.Tokens() {
		if token.Name == "bob" {
			if err := s.Revoke(token.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Authenticate(alice); err != nil {
		t.Errorf("after the shared token was replaced and bob's revoked, alice's: %v", err)
	}
	if _, err := s.Authenticate(bob); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("bob's token: %v", err)
	}
	for _, bad := range []string{"", " alice", "alice ", "-a", "a\nb", "a\x1b[2J", strings.Repeat("a", 64)} {
		if _, err := s.AddOperator(bad); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A folder whose only operators have names still gets the shared token.
func TestTheSharedTokenIsMadeBesideNamedOnes(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddOperator("alice"); err != nil {
		t.Fatal(err)
	}
	for _, token := range s.Tokens() {
		if token.Name == "" {
			if err := s.Revoke(token.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	again, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(again.Tokens()); n != 2 {
		t.Errorf("%d tokens, want alice's and the shared one", n)
	}
}
