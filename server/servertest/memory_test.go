package servertest

import (
	"testing"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func dispatch(id string, replaces ...string) *reprisev1.Dispatch {
	return &reprisev1.Dispatch{
		ReplayId: "r", ActionId: id, AttemptId: id + ".1", Replaces: replaces,
		Action: &reprisev1.Action{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}},
	}
}

// moved is a dispatch of something that is safe to run twice.
func moved(id string) *reprisev1.Dispatch {
	d := dispatch(id)
	d.Action = &reprisev1.Action{Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}}
	return d
}

// What an agent knows decides whether an action may touch the desktop.
func TestWhatIsRememberedIsNotExecutedAgain(t *testing.T) {
	done := func(m *memory, d *reprisev1.Dispatch) { m.finish(d, m.report(d)) }
	refused := func(m *memory, d *reprisev1.Dispatch) {
		r := m.unknown(d)
		r.Completion = reprisev1.Completion_COMPLETION_NOT_STARTED
		m.finish(d, r)
	}
	unknown, other := reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED
	cases := []struct {
		name    string
		before  func(*memory)
		asked   *reprisev1.Dispatch
		execute bool
		code    reprisev1.ErrorCode
	}{
		{"nothing is known", func(*memory) {}, dispatch("a"), true, other},
		{"it began and has no result", func(m *memory) { m.begin(dispatch("a")) }, dispatch("a"), false, unknown},
		{"it began, has no result and is safe", func(m *memory) { m.begin(moved("a")) }, moved("a"), true, other},
		{"what it replaces has run", func(m *memory) { done(m, dispatch("a")) }, dispatch("a_resume", "a"), false, other},
		{"what it replaces was refused before input", func(m *memory) { refused(m, dispatch("a")) }, dispatch("a_resume", "a"), true, other},
		{"what it replaces began and has no result", func(m *memory) { m.begin(dispatch("a")) }, dispatch("a_resume", "a"), false, unknown},
		{"and the server asks no more for that one", func(m *memory) { m.begin(dispatch("a")); m.tell("a") }, dispatch("a_resume", "a"), false, unknown},
		{"what it replaces began and is safe", func(m *memory) { m.begin(moved("a")) }, dispatch("a_resume", "a"), true, other},
		{"what it replaces never came", func(*memory) {}, dispatch("a_resume", "a"), true, other},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory("spool")
			c.before(m)
			r := m.remembered(c.asked)
			if execute := r == nil; execute != c.execute || r.GetError().GetCode() != c.code {
				t.Errorf("remembered %v", r)
			}
			if r != nil && r.GetActionId() != c.asked.GetActionId() {
				t.Errorf("the answer is for %q", r.GetActionId())
			}
		})
	}
}

// A result is told until it is acknowledged, and known for ever.
func TestAResultIsKeptUntilItIsAcknowledged(t *testing.T) {
	m := newMemory("spool")
	for _, id := range []string{"a", "b", "c"} {
		m.begin(dispatch(id))
	}
	first, second := m.report(dispatch("b")), m.report(dispatch("a"))
	m.finish(dispatch("b"), first)
	m.finish(dispatch("a"), second)
	if got := m.results(); len(got) != 2 || !proto.Equal(got[0], second) || !proto.Equal(got[1], first) {
		t.Errorf("the results are %v", got)
	}
	if got := m.unfinished(""); len(got) != 1 || got[0].GetActionId() != "c" {
		t.Errorf("unfinished are %v", got)
	}
	if got := m.unfinished("c"); len(got) != 0 {
		t.Errorf("while c executes, unfinished are %v", got)
	}
	m.tell("a")
	m.tell("c")
	if got := m.results(); len(got) != 1 || len(m.unfinished("")) != 0 {
		t.Errorf("after the acknowledgement: results %v, unfinished %v", got, m.unfinished(""))
	}
	again := m.result("a")
	if again == nil || len(again.GetWarnings()) != 1 || again.GetWarnings()[0] != reprisev1.Warning_WARNING_ALREADY_EXECUTED {
		t.Errorf("asked again for a: %v", again)
	}
	if len(second.GetWarnings()) != 0 {
		t.Error("the kept report was changed")
	}
}
