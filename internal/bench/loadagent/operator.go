package loadagent

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// CreateReplay gives a machine a replay of so many clicks and returns its id.
func CreateReplay(ctx context.Context, conn *grpc.ClientConn, machine string, actions int) (string, error) {
	w := &reprisev1.Workflow{Name: "bench", Actions: make([]*reprisev1.Action, actions)}
	for i := range w.Actions {
		w.Actions[i] = click(i + 1)
	}
	res, err := reprisev1.NewReplayServiceClient(conn).CreateReplay(ctx, &reprisev1.CreateReplayRequest{
		MachineId: machine, Workflow: w, Supervision: reprisev1.Supervision_SUPERVISION_UNATTENDED,
	}, grpc.MaxCallSendMsgSize(64<<20))
	if err != nil {
		return "", fmt.Errorf("loadagent: create the replay of %s: %w", machine, err)
	}
	return res.GetReplay().GetReplayId(), nil
}

// click is an action such as a workflow of the field has, with a name of its own.
func click(n int) *reprisev1.Action {
	return &reprisev1.Action{
		Name: fmt.Sprintf("admit-patient-%d", n), Intention: "press Admit for the patient whose row was opened before",
		Target: &reprisev1.Target{
			ByText: "Admit", VlmDescription: "the blue button with the word Admit, at the right end of the row of the patient", WindowTitle: "Ward 3 - Admissions",
			UiaTarget: &reprisev1.UiaTarget{Name: "Admit patient to the ward", AutomationId: "AdmissionsView.PatientRow.AdmitButton", ControlType: "Button"},
		},
		ExpectedWindowBefore: "Ward 3 - Admissions", ExpectedWindowTitle: "Ward 3 - Admissions",
		Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{Button: reprisev1.MouseButton_MOUSE_BUTTON_LEFT, Count: 1}},
	}
}

// CheckSettled fails unless a replay has completed with each of its actions
// delivered once, reported and acknowledged, in the order of the workflow.
func CheckSettled(ctx context.Context, conn *grpc.ClientConn, replayID string, actions int) error {
	res, err := reprisev1.NewReplayServiceClient(conn).GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: replayID}, grpc.MaxCallRecvMsgSize(64<<20))
	if err != nil {
		return fmt.Errorf("loadagent: read replay %s: %w", replayID, err)
	}
	return settled(res.GetReplay(), actions)
}

func settled(r *reprisev1.Replay, actions int) error {
	if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_COMPLETED || int(r.GetSettledCount()) != actions || len(r.GetActions()) != actions {
		return fmt.Errorf("loadagent: replay %s is %s with %d of %d actions settled, in %d decisions to run one",
			r.GetReplayId(), r.GetState(), r.GetSettledCount(), actions, len(r.GetActions()))
	}
	for i, a := range r.GetActions() {
		if int(a.GetStep()) != i || a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED || a.GetDeliveries() != 1 {
			return fmt.Errorf("loadagent: action %s, step %d of replay %s, is %s after %d deliveries",
				a.GetActionId(), a.GetStep(), r.GetReplayId(), a.GetState(), a.GetDeliveries())
		}
	}
	return nil
}
