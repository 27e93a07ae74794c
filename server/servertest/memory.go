package servertest

import (
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// memory is what an agent knows of actions beyond its process's end. It evicts
// nothing: a test is short.
type memory struct {
	spoolID string
	entries map[string]*entry // by action id
	order   []string          // action ids, as they came
}

// entry is what is known of one action.
type entry struct {
	ref    *reprisev1.ActionRef
	safe   bool              // to run twice
	report *reprisev1.Report // nil: it began and has no result
	told   bool              // the server has acknowledged the result, or asks no more
}

func newMemory(spoolID string) *memory {
	return &memory{spoolID: spoolID, entries: map[string]*entry{}}
}

// begin remembers that an action begins.
func (m *memory) begin(d *reprisev1.Dispatch) *entry {
	e := m.entries[d.GetActionId()]
	if e == nil {
		e = &entry{safe: kind.Of(d.GetAction()).Safe}
		m.entries[d.GetActionId()] = e
		m.order = append(m.order, d.GetActionId())
	}
	e.ref = &reprisev1.ActionRef{ReplayId: d.GetReplayId(), ActionId: d.GetActionId(), AttemptId: d.GetAttemptId()}
	e.told = false
	return e
}

// finish keeps an action's result.
func (m *memory) finish(d *reprisev1.Dispatch, r *reprisev1.Report) { m.begin(d).report = r }

// tell forgets what the server has acknowledged, or will not ask for again; what
// was executed stays known.
func (m *memory) tell(actionID string) {
	if e := m.entries[actionID]; e != nil {
		e.told = true
	}
}

// result returns the result of an action that is known, marked as a repetition;
// nil: there is none.
func (m *memory) result(actionID string) *reprisev1.Report {
	if e := m.entries[actionID]; e != nil && e.report != nil {
		return repeated(e.report)
	}
	return nil
}

// results are what the server has not acknowledged, oldest first.
func (m *memory) results() []*reprisev1.Report {
	var all []*reprisev1.Report
	for _, id := range m.order {
		if e := m.entries[id]; e.report != nil && !e.told {
			all = append(all, e.report)
		}
	}
	return all
}

// unfinished are the actions that began and have no result, but the one that
// executes.
func (m *memory) unfinished(executing string) []*reprisev1.ActionRef {
	var all []*reprisev1.ActionRef
	for _, id := range m.order {
		if e := m.entries[id]; e.report == nil && !e.told && id != executing {
			all = append(all, e.ref)
		}
	}
	return all
}

// remembered returns the answer to an action that follows from what was done
// before: the action itself may have begun in a process that died, and those that
// it replaces may have run without the server's knowing. nil: it may be executed.
func (m *memory) remembered(d *reprisev1.Dispatch) *reprisev1.Report {
	if e := m.entries[d.GetActionId()]; e != nil && e.report == nil && !e.safe {
		return m.unknown(d)
	}
	for _, id := range d.GetReplaces() {
		e := m.entries[id]
		switch {
		case e == nil:
		case e.report == nil && !e.safe:
			return m.unknown(d)
		case e.report != nil && e.report.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED:
			r := repeated(e.report)
			r.ActionId, r.AttemptId, r.SessionId, r.SpoolId = d.GetActionId(), d.GetAttemptId(), d.GetSessionId(), m.spoolID
			return r
		}
	}
	return nil
}

func (m *memory) unknown(d *reprisev1.Dispatch) *reprisev1.Report {
	r := m.report(d)
	r.Success, r.Completion, r.Effect = false, reprisev1.Completion_COMPLETION_UNKNOWN, reprisev1.Effect_EFFECT_NOT_CHECKED
	r.Error = &reprisev1.ActionError{
		Code: reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, Message: "the agent's process ended before the result was known",
	}
	return r
}

// report is a report of success.
func (m *memory) report(d *reprisev1.Dispatch) *reprisev1.Report {
	return &reprisev1.Report{
		ReplayId: d.GetReplayId(), SessionId: d.GetSessionId(), MachineId: d.GetMachineId(), ActionId: d.GetActionId(), AttemptId: d.GetAttemptId(),
		Success: true, Completion: reprisev1.Completion_COMPLETION_COMPLETED, Effect: reprisev1.Effect_EFFECT_SEEN, SpoolId: m.spoolID,
	}
}

func repeated(r *reprisev1.Report) *reprisev1.Report {
	r = proto.CloneOf(r)
	r.Warnings = append(r.Warnings, reprisev1.Warning_WARNING_ALREADY_EXECUTED)
	return r
}
