package docscheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ctl is a program that knows one command and one flag, as cobra would tell it.
const ctl = `#!/bin/sh
case "$*" in
"--help") printf 'Available Commands:\n  list   List\n\nFlags:\n  -h, --help   help\n' ;;
"list --help") printf 'Flags:\n  -n, --limit int   how many\n' ;;
"list --limit 2") echo one; echo two ;;
*) echo "reprisectl: no" >&2; exit 2 ;;
esac
`

// check checks a page in a repository of its own.
func check(t *testing.T, page string) Result {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"docs/page.md": page, "docs/other.md": "# Other\n\n## What else\n", "bin/reprisectl": ctl,
		"proto/reprise/v1/a.proto": "message A {\n  // Name.\n  string name = 1;\n}\n", "examples/a_test.go": "func Example() {\n\ta := 1\n\tb := 2\n}\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	r, err := Check(t.Context(), Config{Root: root, Bin: filepath.Join(root, "bin"), Limit: 5 * time.Minute}, "docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sh(text string) string { return "```sh\n" + text + "\n```\n" }

func shows(text string) string { return "```text\n" + text + "\n```\n" }

func TestAPageThatTellsTheTruthIsCountedAndNotFaulted(t *testing.T) {
	r := check(t, strings.Join([]string{
		"# Page", "Read [the other](other.md#what-else), [below](#below) and [afar](https://example.org). Call `reprisectl list --limit N`.",
		sh("reprisectl list --limit 2") + "\n" + shows("one\ntwo"),
		sh("X=5"), sh("echo $X at 127.0.0.1:7443 in /tmp/reprise; pwd | grep -c docs-check") + shows("5 at 127.0.0.1:7443 in /tmp/reprise\n1"),
		"<!-- docs-check: skip: needs nginx -->\n" + sh("nginx"),
		"<!-- docs-check: exits 3 -->\n" + sh("echo no; (exit 3)") + shows("no"),
		"<!-- docs-check: run\nY=hidden\n-->\n" + sh("echo $Y") + shows("hidden"),
		"<!-- docs-check: background until: up -->\n" + sh("echo up; exec tail -f /dev/null"),
		"<!-- docs-check: until: xxx -->\n" + sh("Z=x$Z; echo $Z") + shows("xxx"),
		"```json\n{\"a\": 1}\n{\"b\": 2}\n```\n", "```yaml\nroutes: [a]\n```\n", "```yaml\nname: w\nactions:\n  - screenshot:\n```\n",
		"```proto\nmessage A {\n  string name = 1;\n```\n", "<!-- docs-check: from examples/a_test.go -->\n```go\na := 1\n// …\nb := 2\n```\n",
		"## Below",
	}, "\n"))
	for _, f := range r.Faults {
		t.Error(f)
	}
	got := []int{r.Run, r.Compared, r.Snippets, r.Links, r.Commands, len(r.Skipped)}
	if diff := cmp.Diff([]int{7, 5, 5, 2, 2, 1}, got); diff != "" {
		t.Errorf("run, compared, snippets, links, commands, skipped: %s", diff)
	}
	if len(r.Skipped) == 1 && r.Skipped[0].Reason != "needs nginx" {
		t.Errorf("skipped since %q", r.Skipped[0].Reason)
	}
}

func TestEveryLieIsFound(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"another output", sh("echo a") + "\n" + shows("b"), "docs/page.md:6: another output:\na"},
		{"more output than is shown", sh("echo a; echo b") + shows("a"), "docs/page.md:5: another output:\na\nb"},
		{"a command that fails", sh("echo a\nfalse\necho b"), "docs/page.md:2: a command failed; the block says:\na\n"},
		{"another exit status", "<!-- docs-check: exits 5 -->\n" + sh("(exit 4)"), "docs/page.md:3: status 4, want 5 (<nil>); the block says:\n"},
		{"a server that ends", "<!-- docs-check: background until: up -->\n" + sh("echo down"), "docs/page.md:3: it ended; it says:\ndown\n\x1e docs-check ended 0\n"},
		{"a folder that nobody has made", sh("touch /etc/reprise/server.crt 2>/dev/null"), "docs/page.md:2: a command failed; the block says:\n"},
		{"a flag that is not there", "Call `reprisectl list --most 5`.", "docs/page.md:1: reprisectl list has no flag --most"},
		{"a command that is not there", "Call `reprisectl lsit`.", "docs/page.md:1: no such command: reprisectl lsit"},
		{"a flag that is not there, in a block that is skipped", "<!-- docs-check: skip: so -->\n" + sh("reprisectl list --most 5 | head"), "docs/page.md:3: reprisectl list has no flag --most"},
		{"a flag that is not there, on Windows", "```cmd\nreprisectl.exe list --most 5 > x\n```\n", "docs/page.md:2: reprisectl list has no flag --most"},
		{"a command that is not there, on Windows", "Call `reprisectl.exe lsit`.", "docs/page.md:1: no such command: reprisectl lsit"},
		{"a dead link", "See [it](nothing.md).", "docs/page.md:1: a dead link: nothing.md"},
		{"a dead anchor", "See [it](other.md#nothing).", "docs/page.md:1: a link to a heading that is not there: other.md#nothing"},
		{"a dead anchor of the page", "# Here\nSee [it](#there).", "docs/page.md:2: a link to a heading that is not there: #there"},
		{"a workflow that is refused", "```yaml\nname: w\nactions:\n  - klick:\n```\n", `docs/page.md:4: a workflow that is refused: unknown field "klick"; click is meant?`},
		{"no YAML", "```yaml\na: [\n```\n", "docs/page.md:2: not YAML"},
		{"no JSON", "```json\n{\"a\": }\n```\n", "docs/page.md:2: not JSON: invalid character '}' looking for beginning of value"},
		{"a field that the schema lacks", "```proto\nmessage A {\n  string nam = 1;\n```\n", "docs/page.md:3: does not stand in the schema, at least not here: string nam = 1;"},
		{"Go from nowhere", "```go\na := 1\n```\n", "docs/page.md:2: Go that stands in no file: put it in an example and name it (from FILE)"},
		{"Go in another order", "<!-- docs-check: from examples/a_test.go -->\n```go\nb := 2\na := 1\n```\n", "docs/page.md:4: does not stand in examples/a_test.go, at least not here: a := 1"},
		{"a directive that is not there", "<!-- docs-check: skpi: so -->\n" + sh("true"), `docs/page.md:3: no such directive: "skpi: so"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := check(t, tt.page)
			if len(r.Faults) != 1 {
				t.Fatalf("%d faults, want 1: %v", len(r.Faults), r.Faults)
			}
			if got := r.Faults[0].String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A page that forgets to give a file to the user that reads it is wrong.
func TestWhatAPageDoesAsAUserMayDoNoMoreThanThatUser(t *testing.T) {
	r := check(t, sh("install -d -m 0755 /etc/reprise\ninstall -d -o reprise -g reprise -m 0700 /var/lib/reprise\n"+
		"runuser -u reprise -- touch /var/lib/reprise/mine\ntouch /etc/reprise/key\nchmod 0400 /etc/reprise/key")+
		"<!-- docs-check: run\nchown clerk:clerk /etc/reprise/key\nrunuser -u clerk -- cat /etc/reprise/key\n-->\n")
	for _, f := range r.Faults {
		t.Error(f)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can do something as somebody else")
	}
	r = check(t, sh("install -d -m 0755 /etc/reprise\n(umask 077; touch /etc/reprise/key)\nrunuser -u reprise -- cat /etc/reprise/key"))
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Message, "cat: /etc/reprise/key: Permission denied") {
		t.Errorf("a key that root alone can read was read: %v", r.Faults)
	}
}

func TestWhatDiffersFromRunToRunMatchesAndNothingElse(t *testing.T) {
	const id, other = "d4k2v0n2u5c7q8s9t0ag", "d4k2v0n2u5c7q8s9t0b0"
	tests := []struct {
		name, shown, got string
		want             bool
	}{
		{"the same", "a\nb\n", "a\nb", true},
		{"ids", "created " + id, "created " + other, true},
		{"a time and a duration", "at 2026-01-02T03:04:05Z for 1.5s", "at 2027-11-12T13:14:15.678Z for 20ms", true},
		{"a digest", strings.Repeat("ab", 32), strings.Repeat("01", 32), true},
		{"anything on a line", "a … c", "a b b c", true},
		{"nothing of another line", "a … c", "a b\nc", false},
		{"any number of lines", "a\n…\nz", "a\nb\nc\nz", true},
		{"no line at all", "a\n…\nz", "a\nz", true},
		{"not the end", "a\n…\nz", "a\nb", false},
		{"another number", "3 actions", "4 actions", false},
		{"a word for an id", "created " + id, "created nothing", false},
		{"dots are dots", "a.b", "axb", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := matches(tt.shown, tt.got); got != tt.want {
				t.Errorf("matches = %v", got)
			}
		})
	}
}

// Ports that were asked for and given back at once would meet sooner or later.
func TestAPortIsOnePagesAlone(t *testing.T) {
	var at places
	seen := map[string]bool{}
	for range 200 {
		address, err := at.reserve("7443", "7500", "9443")
		if err != nil {
			t.Fatal(err)
		}
		for port, private := range address {
			if seen[private] {
				t.Fatalf("%s of two stands for %s", private, port)
			}
			seen[private] = true
		}
	}
	if err := at.leave(); err != nil {
		t.Error(err)
	}
}

func TestHeadingsBecomeAnchorsAsOnGitHub(t *testing.T) {
	p := parse("p.md", "# What's `run --wait`, then?\n## Same\n## Same\n```sh\n# no heading\n```\n### Ça va_bien-là\n")
	want := map[string]bool{"whats-run---wait-then": true, "same": true, "same-1": true, "ça-va_bien-là": true}
	if diff := cmp.Diff(want, p.anchors); diff != "" {
		t.Error(diff)
	}
}
