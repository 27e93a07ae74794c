package limits

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, content string) (Rules, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "limits.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestAFileOfLimitsIsRead(t *testing.T) {
	rules, err := load(t, `# of the accountants' machines
never-type-into:
  - process: keepass.exe
  - title: ^Payroll
    titleMatch: regexp
    className: "42"
never-picture:
  - title: KeePass
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(rules.NeverTypeInto) != 2 || len(rules.NeverPicture) != 1 {
		t.Fatalf("rules %+v", rules)
	}
	got := rules.NeverTypeInto[1]
	if got.Title != "^Payroll" || got.Match != Regexp || got.Class != "42" || got.String() != "never-type-into[1]" {
		t.Errorf("rule %+v", got)
	}
	if !rules.NeverTypeInto[0].means(vault) || !rules.NeverPicture[0].means(vault) || rules.NeverPicture[0].means(mail) {
		t.Error("the rules mean other windows")
	}
}

func TestEveryFaultOfAFileOfLimitsIsNamedWithItsLine(t *testing.T) {
	_, err := load(t, `never-type-into:
  - process: keepass.exe
    colour: red
  - {}
  - title: "("
    titleMatch: regexp
  - title: a
    titleMatch: like
  - titleMatch: exact
    process: a.exe
  - title:
  - just text
  - title: a
    title: b
never-type-into:
  - title: c
never-picture: KeePass
never-look-at:
  - title: c
`)
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		`limits.yaml:3: never-type-into[0]: "colour" is none of`,
		`never-type-into[1]: says no title`,
		`never-type-into[2]: title: error parsing regexp`,
		`never-type-into[3]: titleMatch "like" is none of contains, exact, regexp`,
		`never-type-into[4]: has a titleMatch without a title`,
		`limits.yaml:11: never-type-into[5]: title must be a text`,
		"limits.yaml:12: never-type-into[6] must hold `name: value` lines",
		`limits.yaml:14: never-type-into[7]: "title" is none of title, titleMatch, className, process, or is there twice`,
		`limits.yaml:15: "never-type-into" is none of never-type-into, never-picture, or is there twice`,
		`limits.yaml:17: never-picture must be a list of rules`,
		`limits.yaml:18: "never-look-at" is none of`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in\n%v", want, err)
		}
	}
}

func TestAFileThatLimitsNothingIsAFault(t *testing.T) {
	for _, content := range []string{"", "# nothing\n", "never-picture: []\n"} {
		if _, err := load(t, content); err == nil || !strings.Contains(err.Error(), "holds no rule") {
			t.Errorf("%q: %v", content, err)
		}
	}
	for _, content := range []string{"- a\n", "never-picture: [\n"} {
		if _, err := load(t, content); err == nil || !strings.Contains(err.Error(), "limits.yaml") {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is no fault")
	}
}
