package main

import (
	"errors"
	"fmt"
	"image"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver/windesktop"
	"github.com/reprise-rpa/reprise/agent/person"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/setting"
)

// sample is, for each setting, a value that differs from the default, as flags and
// environment write it, and a wrong one.
var sample = map[string]struct {
	flag, env, wrong string
	want             any
}{
	"server":                     {flag: "h:1", want: "h:1"},
	"machine":                    {flag: "desk-7", want: "desk-7"},
	"token-file":                 {flag: "testdata/token", want: "testdata/token"},
	"ca-file":                    {flag: "testdata/ca.pem", want: "testdata/ca.pem"},
	"state-dir":                  {flag: "other", want: "other"},
	"secrets-dir":                {flag: "s", want: "s"},
	"limits-file":                {flag: "testdata/limits.yaml", want: "testdata/limits.yaml"},
	"driver":                     {flag: "virtual", want: "virtual", wrong: "vnc"},
	"desktop":                    {flag: "h:2", want: "h:2"},
	"display":                    {flag: ":3", want: ":3"},
	"reconnect-backoff":          {flag: "1s,4s", env: "1,4", want: []time.Duration{time.Second, 4 * time.Second}, wrong: "0"},
	"keepalive-time":             {flag: "20s", env: "20", want: 20 * time.Second, wrong: "0.5"},
	"keepalive-timeout":          {flag: "2s", env: "2", want: 2 * time.Second, wrong: "x"},
	"dedup-size":                 {flag: "7", want: 7, wrong: "0"},
	"max-waiting-pictures-bytes": {flag: "2000000", want: 2_000_000, wrong: "5"},
	"min-display":                {flag: "800x600", want: setting.Size{Width: 800, Height: 600}, wrong: "wide"},
	"masks":                      {flag: "0:0,0,1,0.5", want: []work.Mask{{Width: 1, Height: 0.5}}, wrong: "0:0,0,2,1"},
	"restless":                   {flag: "0:0,0,1,0.5", want: []work.Mask{{Width: 1, Height: 0.5}}, wrong: "0:0,0,2,1"},
	"popups-file":                {flag: "testdata/popups.yaml", want: "testdata/popups.yaml"},
	"type-mode":                  {flag: "scan_codes", want: "scan_codes", wrong: "morse"},
	"type-pace":                  {flag: "20ms", env: "0.02", want: 20 * time.Millisecond, wrong: "0"},
	"restore-clipboard":          {flag: "0s", env: "0", want: time.Duration(0), wrong: "x"},
	"user":                       {flag: "nurse", want: "nurse"},
	"stop-key":                   {flag: "ctrl+shift+f12", want: "ctrl+shift+f12", wrong: "ctrl+nothing"},
	"own-input":                  {flag: "no", want: false, wrong: "perhaps"},
	"language":                   {flag: "fr", want: "fr", wrong: "de"},
	"announce":                   {flag: "100ms", env: "0.1", want: 100 * time.Millisecond, wrong: "1h"},
	"log-level":                  {flag: "debug", want: "debug", wrong: "loud"},
	"log-format":                 {flag: "json", want: "json", wrong: "xml"},
	"log-file":                   {flag: "agent.log", want: "agent.log"},
	"log-file-max-mb":            {flag: "3", want: 3, wrong: "0"},
	"log-files":                  {flag: "9", want: 9, wrong: "1"},
}

// What each of them does to typing and pasting is shown in agent/driver/windesktop.
func TestTheFlagsOfDriverWindowsReachIt(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want windesktop.Config
	}{
		{nil, windesktop.Config{TypeMode: windesktop.Unicode, TypePace: 5 * time.Millisecond, RestoreClipboard: time.Second}},
		{
			[]string{"--type-mode=scan_codes", "--type-pace=9ms", "--restore-clipboard=0s"},
			windesktop.Config{TypeMode: windesktop.ScanCodes, TypePace: 9 * time.Millisecond, RestoreClipboard: windesktop.Never},
		},
		{
			[]string{"--type-mode=clipboard"},
			windesktop.Config{TypeMode: windesktop.Clipboard, TypePace: 5 * time.Millisecond, RestoreClipboard: time.Second},
		},
	} {
		s, err := loadWith(t, "", nil, append(tt.args, needs...)...)
		if err != nil {
			t.Fatal(err)
		}
		got := windowsConfig(s.inSession(), nil)
		got.MinSize = image.Point{} // of every desktop
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", tt.args, diff)
		}
	}
}

// What each of them does is shown in agent/person.
func TestTheFlagsOfThePersonAtTheMachineReachTheGuard(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want person.Settings
	}{
		{nil, person.Settings{StopKey: person.DefaultStopKey, OwnInput: true}},
		{[]string{"--stop-key=off", "--own-input=false", "--language=fr"}, person.Settings{StopKey: person.NoStopKey, Language: person.French}},
	} {
		s, err := loadWith(t, "", nil, append(tt.args, needs...)...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, personSettings(s.inSession())); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", tt.args, diff)
		}
	}
}

// needs are the flags without which no agent starts.
var needs = []string{"--machine=m", "--state-dir=d", "--desktop=h:9"}

func TestEverySettingIsReadFromAllThreeSources(t *testing.T) {
	var declared settings
	for _, st := range declare(&declared).All() {
		in, ok := sample[st.Name]
		if !ok {
			t.Errorf("no sample for %s", st.Name)
			continue
		}
		if in.env == "" {
			in.env = in.flag
		}
		var others []string
		for _, n := range needs {
			if !strings.HasPrefix(n, "--"+st.Name+"=") {
				others = append(others, n)
			}
		}
		for source, load := range map[string]func() (settings, error){
			"flag":        func() (settings, error) { return loadWith(t, "", nil, append(others, "--"+st.Name+"="+in.flag)...) },
			"environment": func() (settings, error) { return loadWith(t, "", map[string]string{st.Env: in.env}, others...) },
			"file":        func() (settings, error) { return loadWith(t, st.Name+": \""+in.flag+"\"\n", nil, others...) },
		} {
			got, err := load()
			if err != nil {
				t.Errorf("%s from %s: %v", st.Name, source, err)
				continue
			}
			if diff := cmp.Diff(in.want, fieldOf(t, &declared, &got, st.Value.Destination())); diff != "" {
				t.Errorf("%s from %s: %s", st.Name, source, diff)
			}
		}
		if reflect.DeepEqual(in.want, fieldOf(t, &declared, &declared, st.Value.Destination())) {
			t.Errorf("the sample of %s is its default", st.Name)
		}
	}
}

// fieldOf returns the field of got that corresponds to the field of declared at
// address at.
func fieldOf(t *testing.T, declared, got *settings, at any) any {
	t.Helper()
	d, g := reflect.ValueOf(declared).Elem(), reflect.ValueOf(got).Elem()
	for i := range d.NumField() {
		if d.Field(i).Addr().Interface() == at {
			return g.Field(i).Interface()
		}
	}
	t.Fatalf("no field at %p", at)
	return nil
}

func TestEveryWrongValueNamesSettingSourceAndValue(t *testing.T) {
	env, args, file := map[string]string{}, []string(nil), ""
	var want []string
	var declared settings
	for _, st := range declare(&declared).All() {
		wrong := sample[st.Name].wrong
		if wrong == "" {
			continue // any text is good
		}
		env[st.Env] = wrong
		args = append(args, "--"+st.Name+"="+wrong+"?")
		file += st.Name + ": '" + wrong + "!'\n"
		want = append(want,
			fmt.Sprintf("%s: %q from %s: ", st.Name, wrong, st.Env),
			fmt.Sprintf("%s: %q from --%s: ", st.Name, wrong+"?", st.Name),
			fmt.Sprintf("%s: %q from ", st.Name, wrong+"!"))
	}
	_, err := loadWith(t, file, env, args...)
	if err == nil {
		t.Fatal("no fault")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("missing %q in:\n%v", w, err)
		}
	}
}

// What a start would stumble over later is told with the other faults, by the flag's name
// and once.
func TestFaultsOfWhatSettingsNameAreToldWithTheOthers(t *testing.T) {
	empty := write(t, t.TempDir(), "empty.yaml", "")
	_, err := loadWith(t, "", nil, "--popups-file=none.yaml", "--limits-file=none.yaml", "--driver=virtual", "--desktop=nonsense",
		"--server=nowhere", "--restless=0:0,0,2,1", "--masks=0:0,0,1,1;x", "--stop-key=ctrl")
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		"machine is required", "state-dir is required",
		"open none.yaml: ", `(popups-file is "none.yaml" from --popups-file)`, `(limits-file is "none.yaml" from --limits-file)`,
		`desktop: host:port is needed (driver is "virtual" from --driver, desktop is "nonsense" from --desktop)`,
		`stop-key: "ctrl" from --stop-key: a key beside the modifiers is missing`,
		`server: host:port is needed (server is "nowhere" from --server)`,
		`restless: "0:0,0,2,1" from --restless: its width is 2, not within 0 and 1`,
		`masks: "0:0,0,1,1;x" from --masks: "x": must be rectangles such as`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
	if _, err = loadWith(t, "", nil, append(needs, "--popups-file="+empty)...); err == nil || strings.Contains(err.Error(), "workflow") ||
		!strings.Contains(err.Error(), "rules for popups are needed") {
		t.Errorf("an empty file of rules: %v", err)
	}
	if _, err = loadWith(t, "", nil, "--machine=m", "--state-dir=d", "--driver=x11", "--display=left"); err == nil {
		t.Error("a display that none is")
	}
}

// Such an agent would try to connect for ever.
func TestAnAgentWithoutWhatItConnectsWithDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	empty, two := write(t, dir, "empty", "\n"), write(t, dir, "two", "a\nb\n")
	for flag, want := range map[string]string{
		"--token-file=" + filepath.Join(dir, "none"): "token file: open ",
		"--token-file=" + dir:                        "token file: read ",
		"--token-file=" + empty:                      "must hold one token",
		"--token-file=" + two:                        "must hold one token",
		"--ca-file=" + filepath.Join(dir, "none"):    "CA file: open ",
		"--ca-file=" + two:                           "holds no certificate",
	} {
		err := execute(t.Context(), &watched{}, "run", "--machine=m", "--state-dir="+dir, "--driver=virtual", "--desktop=h:1", flag)
		name, _, _ := strings.Cut(flag, "=")
		if !errors.Is(err, errSettings) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "from "+name) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// A value that changes nothing is a slip that its owner should hear of.
func TestAKeepaliveThatGRPCWouldLengthenIsRefused(t *testing.T) {
	for seconds, good := range map[string]bool{"9.9": false, "10": true} {
		_, err := loadWith(t, "", map[string]string{"RPA_KEEPALIVE_TIME_S": seconds}, needs...)
		if good != (err == nil) || err != nil && !strings.Contains(err.Error(), "RPA_KEEPALIVE_TIME_S: must be between 10s and 24h") {
			t.Errorf("%s s: %v", seconds, err)
		}
	}
}
