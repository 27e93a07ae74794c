package journal

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	journalv1 "github.com/reprise-rpa/reprise/gen/reprise/journal/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// everyEvent is one of each event, by the name that its line begins with.
var everyEvent = map[string]replay.Event{
	"created": replay.Created{}, "appended": replay.Appended{}, "closed": replay.Closed{}, "started": replay.Started{}, "dispatched": replay.Dispatched{},
	"adopted": replay.Adopted{}, "requeued": replay.Requeued{}, "reported": replay.Reported{}, "lost_memory": replay.LostMemory{}, "gave_up": replay.GaveUp{},
	"paused_by": replay.PausedBy{}, "gate_passed": replay.GatePassed{}, "resumed": replay.Resumed{Position: &replay.Point{X: 0.5}}, "ended": replay.Ended{},
}

func TestEveryEventHasALine(t *testing.T) {
	for name, ev := range everyEvent {
		if got := describe(ev); got != name && !strings.HasPrefix(got, name+" ") {
			t.Errorf("describe(%T) = %q", ev, got)
		}
		if _, err := encodeEvent(ev); err != nil {
			t.Error(err)
		}
	}
	if n := (&journalv1.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields().Len(); n != len(everyEvent) {
		t.Errorf("the journal has %d events, and %d are looked at here", n, len(everyEvent))
	}
}

// Each text of each event is a needle of its own. The ones that a dump shows are
// ids and names, and no others.
func TestDumpShowsIDsAndNamesAndNoOtherText(t *testing.T) {
	for name, ev := range everyEvent {
		filled := reflect.New(reflect.TypeOf(ev)).Elem()
		planted := plant(t, filled, "needle."+name)
		line := describe(filled.Interface().(replay.Event))
		got := regexp.MustCompile(`needle[.\w]*`).FindAllString(line, -1)
		slices.Sort(got)
		var want []string
		for _, field := range shown[name] {
			needle := "needle." + name + "." + field
			if !slices.Contains(planted, needle) {
				t.Errorf("%s has no text %s", name, field)
			}
			want = append(want, needle)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("the texts in the line of %s differ (-ids and names +shown):\n%s\n%s", name, diff, line)
		}
	}
}

// shown are the texts that a dump shows: ids, and the names of workflows, kinds
// and of who did something.
var shown = map[string][]string{
	"created":     {"Workflow", "RequestID", "By", "Steps.Kind"},
	"appended":    {"RequestID", "By", "Steps.Kind"},
	"closed":      {"By"},
	"dispatched":  {"ActionID", "AttemptID", "SessionID", "SpoolID", "BootID"},
	"adopted":     {"ActionID", "AttemptID"},
	"requeued":    {"ActionID"},
	"reported":    {"ActionID", "AttemptID"},
	"lost_memory": {"ActionID"},
	"gave_up":     {"ActionID"},
	"paused_by":   {"By", "Decide", "Again", "Checks.ID"},
	"resumed":     {"By", "Acked"},
	"ended":       {"By"},
}

// plant writes its own path into each text below v, and returns the paths.
func plant(t *testing.T, v reflect.Value, path string) (paths []string) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(path)
		return []string{path}
	case reflect.Struct:
		for i := range v.NumField() {
			paths = append(paths, plant(t, v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(path))
			return []string{path}
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return plant(t, v.Index(0), path)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(path+".key"), reflect.ValueOf(path+".value"))
		return []string{path + ".key", path + ".value"}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return plant(t, v.Elem(), path)
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
	default:
		t.Fatalf("%s is a %v: nothing is planted there", path, v.Kind())
	}
	return paths
}

func TestDumpShowsWordsOfTheSchemaAndNoOtherInTheirPlace(t *testing.T) {
	for _, c := range []struct {
		ev   replay.Event
		want string
	}{
		{replay.Ended{State: replay.Failed, Reason: "r-1: target_not_found: saw: Patient Meier"}, "ended state=FAILED code=target_not_found reason_bytes=41"},
		{replay.Ended{State: replay.Failed, Reason: "r-1: other"}, "ended state=FAILED code=other reason_bytes=10"},
		{replay.Ended{State: replay.Failed, Reason: "r-1: The agent did not answer."}, "ended state=FAILED reason_bytes=30"},
		{replay.Ended{State: replay.Failed, Reason: "r-1: Meier"}, "ended state=FAILED reason_bytes=10"},
		{replay.Ended{State: replay.Cancelled, Reason: "Meier: timeout: gone", By: "ann"}, "ended state=CANCELLED by=ann reason_bytes=20"},
		{replay.Ended{State: replay.Completed}, "ended state=COMPLETED reason_bytes=0"},
		{replay.PausedBy{Reason: "input_swallowed", Gate: -1}, "paused_by reason=input_swallowed gate=-1 message_bytes=0"},
		{replay.PausedBy{Reason: "Meier", Gate: -1}, "paused_by reason=unknown gate=-1 message_bytes=0"},
	} {
		if got := describe(c.ev); got != c.want {
			t.Errorf("describe(%+v) = %q, want %q", c.ev, got, c.want)
		}
	}
	for code, want := range map[string]string{"timeout": "timeout", "other": "other", "": "", "TIMEOUT": unknown, "Meier": unknown} {
		if got := knownCode(code); got != want {
			t.Errorf("knownCode(%q) = %q, want %q", code, got, want)
		}
	}
}

// What the core decides carries an agent's words; its line does not.
func TestAFailureIsDumpedWithoutTheAgentsWords(t *testing.T) {
	s := newScript()
	c := created("r", "m", 1)
	c.Steps[0].FailExhausted, c.Steps[0].MaxRetries = true, 0
	s.next(t, "r", c, replay.Started{})
	s.next(t, "r", replay.Dispatched{ActionID: "r-1", AttemptID: "t1"})
	_, events := s.r.DecideReport("r-1", "t1", replay.Report{
		Code: replay.CodeTargetNotFound, Completion: replay.CompletionNotStarted, Message: "saw: Patient Meier",
	}, replay.Policy{})
	var lines []string
	for _, ev := range events {
		lines = append(lines, describe(ev))
	}
	all := strings.Join(lines, "\n")
	if strings.Contains(all, "Meier") || !strings.Contains(all, "ended state=FAILED code=target_not_found") {
		t.Errorf("the failure's lines are\n%s", all)
	}
}
