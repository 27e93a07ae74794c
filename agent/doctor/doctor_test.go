package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The ids are what scripts look for: they are never changed, only added to.
func TestTheIDsOfChecksStayWhatTheyAre(t *testing.T) {
	want := []string{
		"version", "settings", "service", "session", "lock", "power", "desktop", "rights", "display", "viewer", "automation",
		"signs", "token", "secrets", "state-dir", "log-file", "spool", "server", "certificate", "access", "clock", "idle", "input",
	}
	if diff := cmp.Diff(want, IDs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatTakesLongOrSendsInputIsDoneOnRequestAlone(t *testing.T) {
	s := settled()
	s.Idle, s.SelfTest, s.SecretsDir, s.LogFile = 0, false, "", ""
	all, err := Examine(t.Context(), well(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if slices.Contains([]string{"idle", "input", "secrets", "log-file"}, f.ID) {
			t.Errorf("%s was looked at", f.ID)
		}
	}
}

func TestAFaultCountsMoreThanAWarningAndWhatIsUnknownNotAtAll(t *testing.T) {
	for want, results := range map[Result][]Result{
		OK:      {OK, Unknown, NotHere},
		Warning: {OK, Warning, Unknown},
		Fault:   {Warning, Fault, OK},
	} {
		var list []Finding
		for _, r := range results {
			list = append(list, Finding{Result: r})
		}
		if got := Worst(list); got != want {
			t.Errorf("%v are %s altogether, not %s", results, got, want)
		}
	}
}

func TestFindingsAreToldAsTheyAreFoundAndACancelEndsIt(t *testing.T) {
	over := errors.New("over")
	ctx, stop := context.WithCancelCause(t.Context())
	var told []string
	got, err := Examine(ctx, well(), settled(), func(f Finding) {
		told = append(told, f.ID)
		if f.ID == "lock" {
			stop(over)
		}
	})
	if !errors.Is(err, over) || len(got) != len(told) || told[len(told)-1] != "lock" {
		t.Errorf("told %v, %v", told, err)
	}
}

func TestTextHasColumnsAndColoursOnATerminalAlone(t *testing.T) {
	f := Finding{ID: "lock", Result: Warning, Why: "it locks", Found: "it will", ToDo: "stop it"}
	const plain = "warning   lock         it will\n" +
		"                       why: it locks\n" +
		"                       to do: stop it\n"
	var out bytes.Buffer
	if err := WriteFinding(&out, f, false); err != nil || out.String() != plain {
		t.Errorf("%v\n%s", err, cmp.Diff(plain, out.String()))
	}
	out.Reset()
	if err := WriteFinding(&out, f, true); err != nil || !strings.HasPrefix(out.String(), "\x1b[33mwarning   \x1b[0mlock ") {
		t.Errorf("%v, %q", err, out.String())
	}
	out.Reset()
	f.Result, f.ToDo = NotHere, ""
	if err := WriteFinding(&out, f, false); err != nil || out.String() != "not here  lock         it will\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	out.Reset()
	if err := WriteSummary(&out, []Finding{{Result: OK}, {Result: Fault}, {Result: Fault}, {Result: Unknown}}); err != nil || out.String() != "\n4 checks, 2 fault, 1 unknown\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	for r := range colours {
		if len(r) >= resultWidth {
			t.Errorf("%q does not fit its column", r)
		}
	}
	for _, id := range IDs() {
		if len(id) >= idWidth {
			t.Errorf("%q does not fit its column", id)
		}
	}
}

func TestJSONIsOneObjectOnALine(t *testing.T) {
	r := Report{
		Version: "v1", System: "windows/amd64", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Result: Warning,
		Checks: []Finding{{ID: "lock", Result: Warning, Why: "w", Found: "<f>", ToDo: "t"}, {ID: "power", Result: OK, Why: "w", Found: "f"}},
	}
	const want = `{"version":"v1","system":"windows/amd64","at":"2026-01-02T03:04:05Z","result":"warning","checks":[` +
		`{"id":"lock","result":"warning","why":"w","found":"<f>","toDo":"t"},{"id":"power","result":"ok","why":"w","found":"f"}]}` + "\n"
	var out bytes.Buffer
	if err := WriteJSON(&out, r); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, out.String()))
	}
	var back Report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || !cmp.Equal(r, back) {
		t.Errorf("%v\n%s", err, cmp.Diff(r, back))
	}
}

func TestTheDocumentationNamesEachCheckAndEachResult(t *testing.T) {
	page, err := os.ReadFile("../../docs/windows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## When something is wrong: doctor")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for line := range strings.Lines(section) {
		if first, ok := strings.CutPrefix(line, "| `"); ok {
			first, _, _ = strings.Cut(first, " |")
			for word := range strings.SplitSeq(first, ", ") {
				named = append(named, strings.Trim(word, "`"))
			}
		}
	}
	want := IDs()
	for _, r := range []Result{OK, Warning, Fault, Unknown, NotHere} {
		want = append(want, string(r))
	}
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
