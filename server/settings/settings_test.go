package settings

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

var update = flag.Bool("update", false, "write docs/settings.md")

// load runs the settings as the program would.
func load(t *testing.T, args []string, env map[string]string, yaml string) (Settings, []string, error) {
	t.Helper()
	fs := pflag.NewFlagSet("reprised", pflag.ContinueOnError)
	l := Bind(fs)
	if yaml != "" {
		path := filepath.Join(t.TempDir(), "reprised.yaml")
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return l.Load(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
}

// sample is, for each setting, a value that differs from the default and breaks
// no condition, as flags and environment write it, and a wrong one.
var sample = map[string]struct {
	flag, env, wrong string
	want             any
}{
	"listen":                   {flag: "[::1]:1", want: "[::1]:1", wrong: "nowhere"},
	"data-dir":                 {flag: "/data", want: "/data"},
	"tls-cert-file":            {flag: "c.pem", want: "c.pem"},
	"tls-key-file":             {flag: "k.pem", want: "k.pem"},
	"metrics-listen":           {flag: "localhost:9", want: "localhost:9", wrong: "9"},
	"log-level":                {flag: "debug", want: "debug", wrong: "loud"},
	"log-format":               {flag: "json", want: "json", wrong: "xml"},
	"max-message-bytes":        {flag: "2000000", want: 2000000, wrong: "5"},
	"evidence-max-bytes":       {flag: "5", want: 5, wrong: "0"},
	"watchdog":                 {flag: "off", want: false, wrong: "maybe"},
	"scan-interval":            {flag: "4s", env: "4", want: 4 * time.Second, wrong: "0"},
	"orphan-timeout":           {flag: "31.5s", env: "31.5", want: 31500 * time.Millisecond, wrong: "x"},
	"receipt-timeout":          {flag: "4s", env: "4", want: 4 * time.Second, wrong: "-1"},
	"max-resends":              {flag: "5", want: 5, wrong: "-1"},
	"repush-position":          {flag: "tail", want: "tail", wrong: "middle"},
	"max-deliveries":           {flag: "30", want: 30, wrong: "0"},
	"skip-kinds":               {flag: "wait,scroll", want: []string{"wait", "scroll"}, wrong: "jump"},
	"dead-client-giveups":      {flag: "4", want: 4, wrong: "0"},
	"dead-client-window":       {flag: "1m", env: "60", want: time.Minute, wrong: "soon"},
	"agent-offline-grace":      {flag: "2m", env: "120", want: 2 * time.Minute, wrong: "x"},
	"max-retries":              {flag: "0", want: 0, wrong: "101"},
	"keepalive-time":           {flag: "12s", env: "12", want: 12 * time.Second, wrong: "0.5"},
	"keepalive-timeout":        {flag: "6s", env: "6", want: 6 * time.Second, wrong: "x"},
	"keepalive-min-time":       {flag: "9s", env: "9", want: 9 * time.Second, wrong: "x"},
	"ping-interval":            {flag: "11s", env: "11", want: 11 * time.Second, wrong: "x"},
	"ping-timeout":             {flag: "11s", env: "11", want: 11 * time.Second, wrong: "x"},
	"action-timeout":           {flag: "50s", env: "50", want: 50 * time.Second, wrong: "x"},
	"report-ack-timeout":       {flag: "11s", env: "11", want: 11 * time.Second, wrong: "x"},
	"drain-timeout":            {flag: "16s", env: "16", want: 16 * time.Second, wrong: "x"},
	"min-score-template":       {flag: "0.9", want: 0.9, wrong: "1.1"},
	"min-score-text":           {flag: "0.7", want: 0.7, wrong: "NaN"},
	"effect-timeout":           {flag: "1500ms", env: "1.5", want: 1500 * time.Millisecond, wrong: "x"},
	"resolve-timeout":          {flag: "20s", env: "20", want: 20 * time.Second, wrong: "x"},
	"swallowed-input-actions":  {flag: "4", want: 4, wrong: "0"},
	"replay-state-ttl":         {flag: "48h", env: "172800", want: 48 * time.Hour, wrong: "x"},
	"max-replay-states":        {flag: "5", want: 5, wrong: "-1"},
	"evidence-ttl":             {flag: "48h", env: "172800", want: 48 * time.Hour, wrong: "1s"},
	"evidence-max-total-bytes": {flag: "5000000", want: 5000000, wrong: "5"},
	"heartbeat-max-age":        {flag: "61s", env: "61", want: 61 * time.Second, wrong: "x"},
	"precheck-timeout":         {flag: "400ms", env: "0.4", want: 400 * time.Millisecond, wrong: "x"},
	"server-action-timeout":    {flag: "4m", env: "240", want: 4 * time.Minute, wrong: "x"},
	"paste-timeout":            {flag: "31s", env: "31", want: 31 * time.Second, wrong: "x"},
}

func TestEverySettingIsReadFromAllThreeSources(t *testing.T) {
	var declared Settings
	for _, st := range declare(&declared).All() {
		in, ok := sample[st.Name]
		if !ok {
			t.Errorf("no sample for %s", st.Name)
			continue
		}
		if in.env == "" {
			in.env = in.flag
		}
		partner := map[string]string{"tls-cert-file": "tls-key-file", "tls-key-file": "tls-cert-file"}
		var args []string
		if p := partner[st.Name]; p != "" {
			args = append(args, "--"+p+"=other.pem")
		}
		sources := map[string]func() (Settings, []string, error){
			"flag":        func() (Settings, []string, error) { return load(t, append(args, "--"+st.Name+"="+in.flag), nil, "") },
			"environment": func() (Settings, []string, error) { return load(t, args, map[string]string{st.Env: in.env}, "") },
			"file":        func() (Settings, []string, error) { return load(t, args, nil, st.Name+": \""+in.flag+"\"\n") },
		}
		for source, run := range sources {
			got, _, err := run()
			if err != nil {
				t.Errorf("%s from %s: %v", st.Name, source, err)
				continue
			}
			if diff := cmp.Diff(in.want, fieldOf(t, &declared, &got, st.Value.Destination())); diff != "" {
				t.Errorf("%s from %s: %s", st.Name, source, diff)
			}
			if reflect.DeepEqual(in.want, fieldOf(t, &declared, &declared, st.Value.Destination())) {
				t.Errorf("the sample of %s is its default", st.Name)
			}
		}
	}
}

func TestEveryWrongValueNamesSettingSourceAndValue(t *testing.T) {
	env, args, yaml := map[string]string{}, []string(nil), ""
	var want []string
	var declared Settings
	for _, st := range declare(&declared).All() {
		wrong := sample[st.Name].wrong
		if wrong == "" {
			continue // any text is good
		}
		if st.Name == "listen" || st.Name == "metrics-listen" {
			args = append(args, "--"+st.Name+"="+wrong)
			want = append(want, fmt.Sprintf("%s is %q from --%s", st.Name, wrong, st.Name))
			continue
		}
		env[st.Env] = wrong
		args = append(args, "--"+st.Name+"="+wrong+"?")
		yaml += st.Name + ": '" + wrong + "!'\n"
		want = append(want,
			fmt.Sprintf("%s: %q from %s: ", st.Name, wrong, st.Env),
			fmt.Sprintf("%s: %q from --%s: ", st.Name, wrong+"?", st.Name),
			fmt.Sprintf("%s: %q from ", st.Name, wrong+"!"))
	}
	_, _, err := load(t, args, env, yaml)
	if err == nil {
		t.Fatal("no fault")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("missing %q in:\n%v", w, err)
		}
	}
}

// fieldOf returns the field of got that corresponds to the field of declared
// at address at.
func fieldOf(t *testing.T, declared, got *Settings, at any) any {
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

func TestCommentsOfTheFieldsAreTheManual(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "settings.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var s Settings
	help := map[string]string{}
	typ := reflect.TypeFor[Settings]()
	for _, st := range declare(&s).All() {
		for i := range typ.NumField() {
			if reflect.ValueOf(&s).Elem().Field(i).Addr().Interface() == st.Value.Destination() {
				help[typ.Field(i).Name] = st.Help
			}
		}
	}
	seen := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Settings" {
			return true
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			seen++
			comment := strings.TrimSpace(strings.ReplaceAll(f.Doc.Text(), "\n", " "))
			if want := help[f.Names[0].Name]; comment != want {
				t.Errorf("%s: comment %q, help %q", f.Names[0].Name, comment, want)
			}
		}
		return false
	})
	if seen != typ.NumField() || len(help) != seen {
		t.Errorf("%d fields, %d comments, %d settings", typ.NumField(), seen, len(help))
	}
}

func TestTheManualIsUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "settings.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Markdown(), string(got)); diff != "" {
		t.Errorf("run `go test ./server/settings -update`:\n%s", diff)
	}
}

func TestKindsAreThoseOfTheSchema(t *testing.T) {
	var want []string
	fields := (&reprisev1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range fields.Len() {
		want = append(want, string(fields.Get(i).Name()))
	}
	if diff := cmp.Diff(want, slices.Clone(kinds)); diff != "" {
		t.Error(diff)
	}
}
