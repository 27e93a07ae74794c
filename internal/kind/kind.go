// Package kind is the one table of what follows from an action's kind: whether
// it may run twice, whether its loss pauses a replay, whether it should change
// the screen. Server and agent read the same table. It executes nothing.
package kind

import (
	"time"
	"unicode/utf8"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Kind is what follows from the kind of one action.
type Kind struct {
	// Name is the kind's name in the schema, such as `key_combo`; empty for an
	// action that has no kind.
	Name string
	// Safe says that running the action twice does no harm.
	Safe bool
	// Critical says that a replay pauses when the action is given up.
	Critical bool
	// ChangesScreen says that the action should be seen on the screen, unless its
	// expected effect says otherwise.
	ChangesScreen bool
	// Visual says that the action goes to a place on a monitor.
	Visual bool
	// ServerSide says that the server executes the action and no agent does.
	ServerSide bool
}

const (
	// waitSlack is what a wait gets beyond its own time.
	waitSlack = 10 * time.Second
	// characterTime is what typing gets for each character beyond the setting. The pause
	// between two is 5 ms, and some 16 ms where Windows counts time in its old ticks.
	characterTime = 20 * time.Millisecond
)

// The schema's kinds. A kind that is missing here fails this package's test.
var table = []Kind{
	{Name: "click", Critical: true, ChangesScreen: true, Visual: true},
	{Name: "move", Safe: true, Visual: true},
	{Name: "drag", Critical: true, ChangesScreen: true, Visual: true},
	{Name: "type", Critical: true, ChangesScreen: true},
	{Name: "paste", Critical: true, ChangesScreen: true},
	{Name: "key_combo", Critical: true, ChangesScreen: true},
	{Name: "scroll", ChangesScreen: true, Visual: true},
	{Name: "wait", Safe: true},
	{Name: "wait_for_target", Safe: true, Critical: true, Visual: true},
	{Name: "wait_for_window", Safe: true, Critical: true},
	{Name: "focus_window", Safe: true, Critical: true},
	{Name: "screenshot", Safe: true},
	{Name: "pause_for_human", Safe: true, ServerSide: true},
	{Name: "extract_text", Safe: true, ServerSide: true},
	{Name: "decision", Safe: true, ServerSide: true},
	{Name: "paste_and_execute", ServerSide: true},
	{Name: "condition", Safe: true, ServerSide: true},
}

var byName = func() map[string]Kind {
	m := make(map[string]Kind, len(table))
	for _, k := range table {
		m[k.Name] = k
	}
	return m
}()

// All returns every kind, in the schema's order.
func All() []Kind { return append([]Kind(nil), table...) }

// ByName returns the kind with that name in the schema.
func ByName(name string) (Kind, bool) {
	k, ok := byName[name]
	return k, ok
}

// Of returns the kind of a, with what a's own parameters change: a click that
// activates a tab is safe to run twice, and typing at a target goes to a place.
// An action without a kind gives the zero Kind, which is not safe.
func Of(a *reprisev1.Action) Kind {
	k := byName[nameOf(a)]
	switch {
	case a.GetClick().GetActivatesTab():
		k.Safe = true
	case a.GetType() != nil && a.GetTarget() != nil:
		k.Visual = true
	}
	return k
}

// Timeout returns the longest time that a may run: its own, else for a wait its time
// and 10 s more, else setting, and for a text to type 20 ms more for each character. A
// setting of 0 stands for one that is not known here: only a time that does not depend
// on it is returned, else 0.
func Timeout(a *reprisev1.Action, setting time.Duration) time.Duration {
	switch {
	case a.GetTimeout() != nil:
		return a.GetTimeout().AsDuration()
	case a.GetWait() != nil:
		return a.GetWait().GetDuration().AsDuration() + waitSlack
	case setting > 0:
		return setting + time.Duration(utf8.RuneCountInString(a.GetType().GetText()))*characterTime
	}
	return setting
}

// ExpectedEffect returns whether a must change the screen: what a says, else by
// kind. It is never unspecified.
func ExpectedEffect(a *reprisev1.Action) reprisev1.ExpectedEffect {
	switch own := a.GetExpectedEffect(); {
	case own != reprisev1.ExpectedEffect_EXPECTED_EFFECT_UNSPECIFIED:
		return own
	case Of(a).ChangesScreen:
		return reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE
	}
	return reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE
}

func nameOf(a *reprisev1.Action) string {
	if a == nil {
		return ""
	}
	m := a.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}
