package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantRefused says whether reprised ended at once with code 1 and said all of want
// in this order.
func wantRefused(t *testing.T, out string, code int, want ...string) {
	t.Helper()
	rest := out
	for _, w := range want {
		at := strings.Index(rest, w)
		if at < 0 {
			t.Errorf("it does not say %q in its place: %s", w, out)
			return
		}
		rest = rest[at+len(w):]
	}
	if code != 1 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestAFolderThatCannotHoldTheDataIsNamedWithItsSetting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, why := range map[string]string{
		file:                      "not a directory",
		filepath.Join(file, "in"): "not a directory",
		"/proc/reprise":           "mkdir /proc/reprise: ",
		"/proc/self/net":          "/proc/self/net/", // is there, and nobody can write to it
	} {
		out, code := run(t, "--data-dir", dir, "--listen", "127.0.0.1:0")
		wantRefused(t, out, code, `reprised: data-dir: "`+dir+`": `, why)
	}
}

func TestAnAddressThatIsTakenIsNamedWithItsSetting(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address, dir := taken.Addr().String(), filepath.Join(t.TempDir(), "data")
	out, code := run(t, "--data-dir", dir, "--listen", address)
	wantRefused(t, out, code, `reprised: listen: "`+address+`": `, "address already in use", "--listen")
	out, code = run(t, "--data-dir", dir, "--listen", "127.0.0.1:0", "--metrics-listen", address)
	wantRefused(t, out, code, `reprised: metrics-listen: "`+address+`": `, "address already in use", "--metrics-listen")
	if _, err := os.Stat(dir); err == nil {
		t.Error("a data folder was made")
	}
}

// Who starts the same server twice learns that, and not only that a port is taken.
func TestAServerThatIsStartedTwiceIsToldOfItsFolderFirst(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	out, code := run(t, "--data-dir", s.dir, "--listen", s.address)
	wantRefused(t, out, code, "reprised: the data directory is in use: "+s.dir+" is held by process ", `listen: "`+s.address+`"`)
	left := t.TempDir() // by a server that has ended
	if err := os.WriteFile(filepath.Join(left, "journal.lock"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code = run(t, "--data-dir", left, "--listen", s.address)
	wantRefused(t, out, code, "reprised: listen: ")
}

// Faults that have nothing to do with each other are told at once.
func TestACertificateThatCannotServeIsNamedWithItsSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, cert, _ := certify(t)
	_, _, otherKey := certify(t)
	files := map[string][]byte{"cert.pem": cert, "other.pem": otherKey, "empty.pem": nil}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	data := filepath.Join(t.TempDir(), "data")
	for _, tt := range []struct {
		cert, key string
		want      []string
	}{
		{"none.pem", "none.key", []string{"tls-cert-file: open " + path("none.pem"), "tls-key-file: open " + path("none.key")}},
		{"cert.pem", "none.key", []string{"tls-key-file: open " + path("none.key")}},
		{"empty.pem", "other.pem", []string{"tls-cert-file: " + path("empty.pem"), "tls-key-file: " + path("other.pem"), "certificate"}},
		{"cert.pem", "empty.pem", []string{"tls-key-file: " + path("empty.pem"), "key"}},
		{"cert.pem", "other.pem", []string{"does not match"}},
	} {
		out, code := run(t, "--data-dir", data, "--listen", "192.0.2.1:0", "--tls-cert-file", path(tt.cert), "--tls-key-file", path(tt.key))
		wantRefused(t, out, code, append(tt.want, `listen: "192.0.2.1:0"`)...)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data folder was made")
	}
}

// A server does not start with tokens or pictures that it cannot read, and says
// which.
func TestAServerThatCannotReadItsFolderDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"tokens.json": "{", "evidence": "", "journal.db": "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code := run(t, "--data-dir", dir, "--listen", "127.0.0.1:0")
		wantRefused(t, out, code, filepath.Join(dir, name))
	}
}

func TestAMisspeltCommandIsAnError(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"tokn list":       `reprised: unknown command "tokn" for "reprised"; did you mean token?`,
		"token revok x":   `reprised: unknown command "revok" for "reprised token"; did you mean revoke?`,
		"token bogus":     `reprised: unknown command "bogus" for "reprised token"; "reprised token --help" lists them`,
		"completion base": `reprised: unknown command "base" for "reprised completion"; did you mean bash?`,
	} {
		out, code := run(t, strings.Fields(line)...)
		if code != 1 || strings.TrimSpace(out) != want {
			t.Errorf("%s: %d: %s", line, code, out)
		}
	}
	if out, code := run(t, "token"); code != 0 || !strings.Contains(out, "rotate-operator") {
		t.Errorf("a group alone: %d: %s", code, out)
	}
}
