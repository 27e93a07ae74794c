package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/journal"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// group is how many entries are appended at a time.
const group = 200

// fill makes the journal of a server that was told of c's replays and whose agents
// have reported c.Settled actions of each. The machines' own decisions make the
// records.
func fill(ctx context.Context, dir string, c Config) (err error) {
	j, err := journal.Open(ctx, journal.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	list, err := steps(c.Settled + c.Queued)
	if err != nil {
		return err
	}
	var waiting []replay.Entry
	for i := range c.Replays {
		waiting = append(waiting, history(i, list, c.Settled)...)
		if len(waiting) >= group || i == c.Replays-1 {
			if err := j.Append(ctx, waiting); err != nil {
				return err
			}
			waiting = waiting[:0]
		}
	}
	return nil
}

// history returns the entries of one replay, of which the agent has done some
// actions before it went away.
func history(number int, list []replay.Step, settled int) []replay.Entry {
	machine, id := fmt.Sprintf("desk-%05d", number), fmt.Sprintf("0198f0c2-replay-%05d", number)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := dispatch.NewMachine(machine, machineConfig(), now, nil, nil)
	created := replay.Created{
		MachineID: machine, Workflow: "admission", RequestID: "request-" + id, RequestHash: "9f86d081884c7d65",
		Labels: map[string]string{"ward": "3b", "case": id}, By: "intake", Steps: list,
	}
	entries := m.Step(now, dispatch.Submit{ReplayID: id, Created: created, Reply: func(dispatch.Answer) {}}).Entries
	if settled == 0 {
		return entries
	}
	session := dispatch.Session{Session: replay.Session{ID: "session", SpoolID: "spool", BootID: "boot"}, Usable: true}
	out := m.Step(now, dispatch.Open{Session: session})
	for n := 0; ; n++ {
		entries = append(entries, out.Entries...)
		action := delivered(out)
		if n == settled || action == "" {
			return entries
		}
		now = now.Add(time.Second)
		result := dispatch.Result{Ref: dispatch.Ref{ActionID: action}, Report: report(action, now)}
		if n == settled-1 { // the agent goes away before the next one
			m.Step(now, dispatch.Desktop{SessionID: session.ID})
		}
		out = m.Step(now, dispatch.Report{SessionID: session.ID, Result: result})
	}
}

// delivered returns the action that a step sent; empty: none.
func delivered(out dispatch.Outcome) string {
	for _, e := range out.Effects {
		if d, ok := e.(dispatch.Deliver); ok {
			return d.Delivery.ActionID
		}
	}
	return ""
}

func report(action string, at time.Time) replay.Report {
	payload := fmt.Appendf(nil, "report of %s at %s: %0200d", action, at, 0) // as long as a real one
	return replay.Report{Success: true, Completion: replay.CompletionCompleted, SpoolID: "spool", Payload: payload}
}

// steps are the clicks of a workflow, with as much in each as a recorder puts there.
func steps(n int) ([]replay.Step, error) {
	list := make([]replay.Step, n)
	for i := range list {
		payload, err := proto.Marshal(&reprisev1.Action{
			Name: fmt.Sprintf("step-%d", i+1), Intention: fmt.Sprintf("open field %d of the admission form", i+1),
			ExpectedWindowBefore: "Admission – Patient file", ExpectedWindowTitle: "Admission – Patient file",
			Timeout: durationpb.New(30 * time.Second),
			Target: &reprisev1.Target{
				ByText: fmt.Sprintf("Field %d", i+1), WindowTitle: "Admission – Patient file",
				VlmDescription: "the input right of the label, in the second column of the form",
			},
		})
		if err != nil {
			return nil, fmt.Errorf("encode an action: %w", err)
		}
		list[i] = replay.Step{
			Name: fmt.Sprintf("step-%d", i+1), Kind: "click", Payload: payload, Critical: true, ChangesScreen: true,
			Visual: true, MonitorSource: "primary", MaxRetries: -1,
		}
	}
	return list, nil
}

func machineConfig() dispatch.Config {
	return dispatch.Config{
		Policy:       replay.Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, SwallowedInput: 3},
		Timeouts:     pending.Timeouts{Receipt: 5 * time.Second, Orphan: 30 * time.Second},
		OfflineGrace: 90 * time.Second, DeadClientGiveUps: 2, DeadClientWindow: 300 * time.Second,
	}
}
