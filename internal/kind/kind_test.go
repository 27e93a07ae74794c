package kind_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

func TestEveryKindOfTheSchemaIsInTheTableAndIsFoundByItsMessage(t *testing.T) {
	oneof := (&reprisev1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	var schema, table []string
	for i := range oneof.Fields().Len() {
		field := oneof.Fields().Get(i)
		schema = append(schema, string(field.Name()))
		a := &reprisev1.Action{}
		a.ProtoReflect().Set(field, a.ProtoReflect().NewField(field))
		if got := kind.Of(a).Name; got != string(field.Name()) {
			t.Errorf("Of(%s) = %q", field.Name(), got)
		}
	}
	for _, k := range kind.All() {
		table = append(table, k.Name)
	}
	if diff := cmp.Diff(schema, table); diff != "" {
		t.Errorf("schema (-) and table (+) differ:\n%s", diff)
	}
}

func TestSafeAndCriticalAreAsTheContractSays(t *testing.T) {
	safe := map[string]bool{
		"move": true, "wait": true, "wait_for_target": true, "wait_for_window": true, "focus_window": true,
		"screenshot": true, "pause_for_human": true, "extract_text": true, "decision": true, "condition": true,
	}
	critical := map[string]bool{
		"click": true, "type": true, "paste": true, "key_combo": true, "drag": true,
		"focus_window": true, "wait_for_target": true, "wait_for_window": true,
	}
	for _, k := range kind.All() {
		if k.Safe != safe[k.Name] || k.Critical != critical[k.Name] {
			t.Errorf("%s: safe %v, critical %v", k.Name, k.Safe, k.Critical)
		}
	}
}

func TestAnActionsOwnParametersChangeWhatFollows(t *testing.T) {
	click := func(tab bool) *reprisev1.Action {
		return &reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{ActivatesTab: tab}}}
	}
	if kind.Of(click(false)).Safe || !kind.Of(click(true)).Safe {
		t.Error("only a click that activates a tab is safe to run twice")
	}
	typing := &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{}}}
	if kind.Of(typing).Visual {
		t.Error("typing into the focus goes to no place")
	}
	typing.Target = &reprisev1.Target{ByText: "Name"}
	if !kind.Of(typing).Visual {
		t.Error("typing at a target goes to a place")
	}
}

func TestAnActionWithoutAKindIsNotSafe(t *testing.T) {
	for _, a := range []*reprisev1.Action{nil, {}} {
		if got := kind.Of(a); got != (kind.Kind{}) {
			t.Errorf("Of(%v) = %+v", a, got)
		}
	}
}

func TestTimeoutIsItsOwnElseByKindElseTheSetting(t *testing.T) {
	wait := &reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(2 * time.Minute)}}}
	text := func(text string) *reprisev1.Action {
		return &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}}}
	}
	hurried := text("abc")
	hurried.Timeout = durationpb.New(time.Second)
	for _, c := range []struct {
		name   string
		action *reprisev1.Action
		want   time.Duration
	}{
		{"setting", &reprisev1.Action{}, time.Minute},
		{"text", text("aé😀"), time.Minute + 60*time.Millisecond},
		{"the longest text", text(strings.Repeat("a", 20_000)), time.Minute + 400*time.Second},
		{"text, own", hurried, time.Second},
		{"secret", &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Secret{Secret: "ward"}}}}, time.Minute},
		{"wait", wait, 2*time.Minute + 10*time.Second},
		{"own", &reprisev1.Action{Kind: wait.GetKind(), Timeout: durationpb.New(time.Second)}, time.Second},
	} {
		if got := kind.Timeout(c.action, time.Minute); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := kind.Timeout(text("a long text"), 0); got != 0 {
		t.Errorf("a text, where no setting is known: %v", got)
	}
	if got := kind.Timeout(wait, 0); got != 2*time.Minute+10*time.Second {
		t.Errorf("a wait, where no setting is known: %v", got)
	}
}

func TestExpectedEffectIsItsOwnElseByKind(t *testing.T) {
	click := &reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}}
	if got := kind.ExpectedEffect(click); got != reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE {
		t.Errorf("click: %v", got)
	}
	click.ExpectedEffect = reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED
	if got := kind.ExpectedEffect(click); got != reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED {
		t.Errorf("click with its own: %v", got)
	}
	move := &reprisev1.Action{Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}}
	if got := kind.ExpectedEffect(move); got != reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE {
		t.Errorf("move: %v", got)
	}
}
