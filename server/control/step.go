package control

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
	"github.com/reprise-rpa/reprise/server/replay"
)

// steps returns the core's form of the actions.
func (l actionList) steps() ([]replay.Step, error) {
	steps := make([]replay.Step, 0, len(l.actions))
	for i, a := range l.actions {
		step, err := newStep(l.monitor, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.at(i), err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// newStep decides what follows from an action's kind, once and for all.
func newStep(monitor *reprisev1.MonitorResolution, a *reprisev1.Action) (replay.Step, error) {
	k := kind.Of(a)
	if a.GetMonitorResolution() == nil && monitor != nil {
		a = proto.CloneOf(a)
		a.MonitorResolution = monitor
	}
	payload, err := proto.Marshal(a)
	if err != nil {
		return replay.Step{}, fmt.Errorf("encode: %w", err)
	}
	s := replay.Step{
		Name: a.GetName(), Kind: k.Name, Payload: payload, ServerSide: k.ServerSide, Safe: k.Safe, Critical: k.Critical,
		ChangesScreen: kind.ExpectedEffect(a) != reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
		Visual:        k.Visual, Monitor: int(a.GetMonitorResolution().GetIndex()), MonitorSource: "default",
		MaxRetries: -1, RetryExecuted: a.GetRetryPolicy().GetRetryExecuted(),
		FailExhausted: a.GetRetryPolicy().GetOnExhausted() == reprisev1.RetriesExhausted_RETRIES_EXHAUSTED_FAIL,
		OnGiveUp:      replay.GiveUp(a.GetOnGiveUp()), Message: a.GetPauseForHuman().GetMessage(),
	}
	if a.GetMonitorResolution().GetSource() != "" {
		s.MonitorSource = a.GetMonitorResolution().GetSource()
	}
	if p := a.GetRetryPolicy(); p != nil && p.MaxRetries != nil {
		s.MaxRetries = int(p.GetMaxRetries())
	}
	for _, c := range a.GetSafetyChecks() {
		s.Checks = append(s.Checks, replay.Check{
			ID: c.GetId(), Label: c.GetLabel(), Required: c.GetRequired(),
			Server: c.GetSource() == reprisev1.SafetyCheckSource_SAFETY_CHECK_SOURCE_SERVER,
		})
	}
	return s, nil
}
