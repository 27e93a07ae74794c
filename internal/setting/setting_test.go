package setting

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// values is one setting of each type.
type values struct {
	On      bool
	Wait    time.Duration
	Backoff []time.Duration
	Tries   int
	Score   float64
	Name    string
	Level   string
	Kinds   []string
	Display Size
}

func declare(v *values) *Set {
	s := &Set{}
	s.Add(
		Setting{Name: "on", Env: "T_ON", Older: []string{"T_OLD_ON"}, Help: "Whether.", Value: Bool(&v.On, true)},
		Setting{Name: "wait", Env: "T_WAIT_S", Help: "How long.", Value: Duration(&v.Wait, time.Minute, time.Second, time.Hour)},
		Setting{Name: "backoff", Env: "T_BACKOFF_S", Help: "How long each.", Value: Durations(&v.Backoff, []time.Duration{time.Second, 2 * time.Second}, 0, time.Minute)},
		Setting{Name: "tries", Env: "T_TRIES", Help: "How often.", Value: Int(&v.Tries, 3, 0, 9)},
		Setting{Name: "score", Env: "T_SCORE", Help: "How well.", Value: Float(&v.Score, 0.5, 0, 1)},
		Setting{Name: "name", Env: "T_NAME", Help: "Who.", Value: Text(&v.Name, "anna")},
		Setting{Name: "level", Env: "T_LEVEL", Help: "How loud | or not.", Value: Enum(&v.Level, "info", "info", "debug")},
		Setting{Name: "kinds", Env: "T_KINDS", Help: "Which.", Value: List(&v.Kinds, nil, "click", "type")},
		Setting{Name: "display", Help: "How large.", Value: Dimensions(&v.Display, Size{Width: 1200, Height: 800})},
	)
	return s
}

// load runs s as a program would, from text.
func load(t *testing.T, s *Set, args []string, env map[string]string, yaml string) ([]string, error) {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Bind(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	src := Sources{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	if yaml != "" {
		src.File = filepath.Join(t.TempDir(), "test.yaml")
		if err := os.WriteFile(src.File, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s.Load(src)
}

func TestDefaultsStandWhenNothingIsGiven(t *testing.T) {
	var got values
	warnings, err := load(t, declare(&got), nil, nil, "")
	if err != nil || len(warnings) != 0 {
		t.Fatalf("Load = %v, %v", warnings, err)
	}
	want := values{
		On: true, Wait: time.Minute, Backoff: []time.Duration{time.Second, 2 * time.Second}, Tries: 3,
		Score: 0.5, Name: "anna", Level: "info", Display: Size{1200, 800},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEachSourceFillsEachType(t *testing.T) {
	want := values{
		Wait: 1500 * time.Millisecond, Backoff: []time.Duration{3 * time.Second, 500 * time.Millisecond}, Tries: 7,
		Score: 0.25, Name: "bob", Level: "debug", Kinds: []string{"type", "click"}, Display: Size{640, 480},
	}
	tests := []struct {
		name string
		args []string
		env  map[string]string
		yaml string
	}{
		{name: "flags", args: []string{"--on=off", "--wait=1.5s", "--backoff=3s,500ms", "--tries", "7", "--score=0.25", "--name=bob", "--level=debug", "--kinds=type, click", "--display=640x480"}},
		{name: "environment", args: []string{"--display=640×480"}, env: map[string]string{"T_ON": "No", "T_WAIT_S": "1.5", "T_BACKOFF_S": "3,0.5", "T_TRIES": "7", "T_SCORE": ".25", "T_NAME": "bob", "T_LEVEL": "debug", "T_KINDS": "type,click"}},
		{name: "file", yaml: "# ours\non: no\nwait: 1500ms\nbackoff: [3s, 0.5s]\ntries: 7\nscore: 0.25\nname: 'bob'\nlevel: debug\nkinds:\n  - type\n  - click\ndisplay: 640x480\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got values
			if _, err := load(t, declare(&got), tt.args, tt.env, tt.yaml); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheStrongerSourceWins(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		env    map[string]string
		yaml   string
		want   int
		origin string
	}{
		{name: "default", want: 3, origin: "the default"},
		{name: "file over default", yaml: "\ntries: 4", want: 4, origin: "test.yaml:2"},
		{name: "environment over file", yaml: "tries: 4", env: map[string]string{"T_TRIES": "5"}, want: 5, origin: "T_TRIES"},
		{name: "flag over environment", yaml: "tries: 4", env: map[string]string{"T_TRIES": "5"}, args: []string{"--tries=6"}, want: 6, origin: "--tries"},
		{name: "an empty variable is not set", yaml: "tries: 4", env: map[string]string{"T_TRIES": ""}, want: 4, origin: "test.yaml:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got values
			s := declare(&got)
			if _, err := load(t, s, tt.args, tt.env, tt.yaml); err != nil {
				t.Fatal(err)
			}
			if got.Tries != tt.want {
				t.Errorf("tries = %d, want %d", got.Tries, tt.want)
			}
			if o := s.Origin("tries").String(); !strings.HasSuffix(o, tt.origin) {
				t.Errorf("origin %q, want %q", o, tt.origin)
			}
		})
	}
}

func TestAnOlderNameIsTakenWithAWarning(t *testing.T) {
	var got values
	warnings, err := load(t, declare(&got), nil, map[string]string{"T_OLD_ON": "0"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.On {
		t.Error("the older name had no effect")
	}
	if diff := cmp.Diff([]string{"T_OLD_ON is an older name, use T_ON"}, warnings); diff != "" {
		t.Error(diff)
	}
	if _, err := load(t, declare(&got), nil, map[string]string{"T_OLD_ON": "0", "T_ON": "1"}, ""); err != nil || !got.On {
		t.Errorf("the older name won over the newer: %v, %v", got.On, err)
	}
}

func TestAllFaultsAreReportedTogetherAndNameThemselves(t *testing.T) {
	var got values
	_, err := load(t, declare(&got),
		[]string{"--wait=30", "--level=loud", "--display=wide"},
		map[string]string{"T_WAIT_S": "1m", "T_TRIES": "many", "T_SCORE": "2", "T_KINDS": "click,jump", "T_ON": "2"},
		"backoff: [1s, 2x]\ntrise: 1\nname: {a: b}\ntries: 1\ntries: 2\n")
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		`wait: "30" from --wait: must be a duration with its unit`,
		`wait: "1m" from T_WAIT_S: must be a number of seconds`,
		`level: "loud" from --level: must be one of info, debug`,
		`display: "wide" from --display: must be a width and a height`,
		`tries: "many" from T_TRIES: must be a whole number`,
		`score: "2" from T_SCORE: must be between 0 and 1`,
		`kinds: "click,jump" from T_KINDS: "jump": must be one of click, type`,
		`on: "2" from T_ON: must be one of 1, true`,
		`test.yaml:1: "2x": must be a duration`,
		`trise: "1" from`, `test.yaml:2: no setting has this name`,
		`test.yaml:3: must be a plain value`,
		`test.yaml:5`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		t.Errorf("no *Fault in %T", err)
	}
	want := values{}
	declare(&want)
	if diff := cmp.Diff(want.Wait, got.Wait); diff != "" {
		t.Errorf("a faulty setting left its default: %s", diff)
	}
}

func TestACheckNamesValuesAndSourcesAndKeepsSilentAboutFaults(t *testing.T) {
	run := func(args ...string) error {
		var v values
		s := declare(&v)
		s.Check(func() error {
			if float64(v.Tries) > v.Score {
				return errors.New("tries must not be above score")
			}
			return nil
		}, "tries", "score")
		_, err := load(t, s, args, nil, "")
		return err
	}
	if err := run("--tries=0"); err != nil {
		t.Error(err)
	}
	err := run("--tries=4")
	if want := `tries must not be above score (tries is "4" from --tries, score is "0.5" from the default)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := run("--tries=none"); err == nil || strings.Contains(err.Error(), "above score") {
		t.Errorf("a faulty value was reported twice or not at all: %v", err)
	}
}

func TestAFileThatCannotBeReadIsAFault(t *testing.T) {
	var v values
	if _, err := declare(&v).Load(Sources{File: filepath.Join(t.TempDir(), "none.yaml")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	for name, yaml := range map[string]string{
		"not YAML":   "a: [1,\n",
		"no mapping": "- tries\n",
	} {
		if _, err := load(t, declare(&v), nil, nil, yaml); err == nil || !strings.Contains(err.Error(), "test.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, yaml := range map[string]string{"empty": " \n", "comments only": "# nothing\n", "one document": "---\ntries: 3\n"} {
		if _, err := load(t, declare(&v), nil, nil, yaml); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHelpListsEverySettingWithDefaultAndVariable(t *testing.T) {
	var v values
	s := declare(&v)
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Bind(fs)
	help := fs.FlagUsages()
	for _, st := range s.All() {
		if !strings.Contains(help, "--"+st.Name) || !strings.Contains(help, st.Help) || !strings.Contains(help, st.Env) {
			t.Errorf("%s is not listed in:\n%s", st.Name, help)
		}
	}
	if !strings.Contains(help, "(default 1m)") {
		t.Errorf("no default in:\n%s", help)
	}
}

func TestMarkdownHasARowForEachSetting(t *testing.T) {
	var v values
	got := declare(&v).Markdown()
	for _, row := range []string{
		"| `on` | bool | `true` | `T_ON`, older `T_OLD_ON` | Whether. |\n",
		"| `backoff` | durations | `1s,2s` | `T_BACKOFF_S` (seconds) | How long each. |\n",
		"| `level` | info\\|debug | `info` | `T_LEVEL` | How loud \\| or not. |\n",
		"| `display` | size | `1200x800` |  | How large. |\n",
	} {
		if !strings.Contains(got, row) {
			t.Errorf("missing %q in:\n%s", row, got)
		}
	}
}

func TestASettingDeclaredTwiceOrCheckedUnknownPanics(t *testing.T) {
	for name, f := range map[string]func(*Set, *values){
		"twice":   func(s *Set, v *values) { s.Add(Setting{Name: "tries", Value: Int(&v.Tries, 1, 0, 1)}) },
		"unknown": func(s *Set, _ *values) { s.Check(func() error { return nil }, "trise") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var v values
			f(declare(&v), &v)
		})
	}
}
