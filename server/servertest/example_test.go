package servertest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
	"github.com/reprise-rpa/reprise/server/settings"
)

// A replay is submitted and waited for.
func Example() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil) // every action succeeds

	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	created, err := replays.CreateReplay(ctx, &reprisev1.CreateReplayRequest{
		RequestId: "case-17", MachineId: "desk-1", Workflow: workflow("open the record", "enter the name", "save"),
	})
	must(err)
	ended, err := srv.Await(ctx, created.GetReplay().GetReplayId())
	must(err)
	fmt.Println(ended.GetState(), ended.GetSettledCount(), "of", ended.GetActionCount())
	fmt.Println("executed:", strings.Join(desk.Executed(), ", "))
	// Output:
	// REPLAY_STATE_COMPLETED 3 of 3
	// executed: open the record, enter the name, save
}

// A failure before anything was sent is retried by the server; the caller hears
// nothing of it.
func ExampleAgent_On() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil)
	desk.On("save", servertest.NotFound("the Save button"), servertest.Succeed())

	ended, err := srv.Await(ctx, create(ctx, srv, workflow("save")))
	must(err)
	fmt.Println(ended.GetState())
	for _, call := range desk.Calls() {
		fmt.Println("try", call.Try, "of", call.Step)
	}
	// Output:
	// REPLAY_STATE_COMPLETED
	// try 1 of save
	// try 2 of save
}

// A step with a safety check pauses the replay before it, until a person has
// confirmed it.
func ExampleServer_Await_pause() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil)
	wf := workflow("enter the name", "save")
	wf.Actions[1].SafetyChecks = []*reprisev1.SafetyCheck{{Id: "identity", Label: "The name is the one on the card", Required: true}}
	id := create(ctx, srv, wf)

	replay, err := srv.Await(ctx, id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	must(err)
	fmt.Println(replay.GetPause().GetReason(), replay.GetPause().GetSafetyChecks()[0].GetLabel())
	fmt.Println("executed:", desk.Executed())

	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	_, err = replays.ResumeReplay(ctx, &reprisev1.ResumeReplayRequest{ReplayId: id, AcknowledgedCheckIds: []string{"identity"}})
	must(err)
	replay, err = srv.Await(ctx, id)
	must(err)
	fmt.Println(replay.GetState())
	fmt.Println("executed:", strings.Join(desk.Executed(), ", "))
	// Output:
	// PAUSE_REASON_USER_REQUEST The name is the one on the card
	// executed: [enter the name]
	// REPLAY_STATE_COMPLETED
	// executed: enter the name, save
}

// An agent dies in the middle of an action that is not safe to run twice. A person
// looks at the screen, finds it done, and skips it.
func ExampleUnknownOutcome() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil)
	desk.On("save", servertest.UnknownOutcome())
	id := create(ctx, srv, workflow("save", "close"))

	replay, err := srv.Await(ctx, id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	must(err)
	fmt.Println(replay.GetPause().GetReason())

	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	_, err = replays.ResumeReplay(ctx, &reprisev1.ResumeReplayRequest{ReplayId: id, Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP})
	must(err)
	replay, err = srv.Await(ctx, id)
	must(err)
	fmt.Println(replay.GetState())
	for _, a := range replay.GetActions() {
		fmt.Println(a.GetName(), a.GetState())
	}
	fmt.Println("executed:", strings.Join(desk.Executed(), ", "))
	// Output:
	// PAUSE_REASON_OUTCOME_UNKNOWN
	// REPLAY_STATE_COMPLETED
	// save ACTION_STATE_SKIPPED
	// close ACTION_STATE_ACKED
	// executed: save, close
}

// A machine dies and does not come back within the grace, which is shorter here than
// in the field.
func ExampleDie() {
	ctx, srv, end := start(servertest.Options{Settings: func(s *settings.Settings) { s.OfflineGrace = 50 * time.Millisecond }})
	defer end()
	desk := srv.Agent("desk-1", nil)
	desk.On("save", servertest.Die(), servertest.Succeed())
	id := create(ctx, srv, workflow("save"))

	replay, err := srv.Await(ctx, id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	must(err)
	fmt.Println(replay.GetPause().GetReason(), "executed:", desk.Executed())

	desk.Return()
	must(desk.AwaitConnected(ctx))
	_, err = reprisev1.NewReplayServiceClient(srv.Conn()).ResumeReplay(ctx, &reprisev1.ResumeReplayRequest{ReplayId: id})
	must(err)
	replay, err = srv.Await(ctx, id)
	must(err)
	fmt.Println(replay.GetState(), "executed:", desk.Executed())
	// Output:
	// PAUSE_REASON_DEAD_CLIENT executed: []
	// REPLAY_STATE_COMPLETED executed: [save]
}

// A loop that observes, reasons and acts feeds an open replay step by step: it looks
// at what the last step has led to before it decides on the next.
func ExampleServer_open() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil)
	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	created, err := replays.CreateReplay(ctx, &reprisev1.CreateReplayRequest{
		MachineId: "desk-1", Workflow: &reprisev1.Workflow{Name: "loop"}, LeaveOpen: true,
	})
	must(err)
	id := created.GetReplay().GetReplayId()
	for n, next := range []string{"look for the patient", "open the record", "read the result"} {
		appended, err := replays.AppendActions(ctx, &reprisev1.AppendActionsRequest{
			ReplayId: id, RequestId: fmt.Sprint("step-", n), Actions: workflow(next).GetActions(),
		})
		must(err)
		seen, err := settled(ctx, replays, id, appended.GetActionIds()[0])
		must(err)
		fmt.Println(seen.GetName(), seen.GetReport().GetEffect())
	}
	_, err = replays.CloseReplay(ctx, &reprisev1.CloseReplayRequest{ReplayId: id})
	must(err)
	ended, err := srv.Await(ctx, id)
	must(err)
	fmt.Println(ended.GetState(), "executed:", len(desk.Executed()))
	// Output:
	// look for the patient EFFECT_SEEN
	// open the record EFFECT_SEEN
	// read the result EFFECT_SEEN
	// REPLAY_STATE_COMPLETED executed: 3
}

// settled waits until an action is settled.
func settled(ctx context.Context, replays reprisev1.ReplayServiceClient, replayID, actionID string) (*reprisev1.ActionStatus, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: replayID})
	if err != nil {
		return nil, err
	}
	for {
		change, err := watch.Recv()
		if err != nil {
			return nil, err
		}
		for _, a := range change.GetReplay().GetActions() {
			if a.GetActionId() == actionID && a.GetState() > reprisev1.ActionState_ACTION_STATE_DISPATCHED {
				return a, nil
			}
		}
	}
}

// Why does nothing move? The causes lead from the replay to what can be acted upon.
func ExampleServer_explain() {
	ctx, srv, end := start(servertest.Options{})
	defer end()
	desk := srv.Agent("desk-1", nil)
	desk.On("save", servertest.NeedHuman("the card is not in the reader"))
	first := create(ctx, srv, workflow("save"))
	second := create(ctx, srv, workflow("print"))
	_, err := srv.Await(ctx, first, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	must(err)

	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	why, err := replays.ExplainReplay(ctx, &reprisev1.ExplainReplayRequest{ReplayId: second})
	must(err)
	for _, cause := range why.GetCauses() {
		switch {
		case cause.GetBehindReplay() != nil:
			fmt.Println("it is the turn of another:", cause.GetBehindReplay().GetReplayId() == first)
		case cause.GetPaused() != nil:
			fmt.Println("which is paused:", cause.GetPaused().GetPause().GetReason())
		}
	}
	// Output:
	// it is the turn of another: true
	// which is paused: PAUSE_REASON_NEEDS_HUMAN
}

// start is what servertest.Start is for a test.
func start(o servertest.Options) (context.Context, *servertest.Server, func()) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	srv, err := servertest.New(ctx, o)
	must(err)
	return ctx, srv, func() {
		must(srv.Close())
		cancel()
	}
}

// workflow is clicks with names.
func workflow(steps ...string) *reprisev1.Workflow {
	wf := &reprisev1.Workflow{Name: "clicks"}
	for _, s := range steps {
		wf.Actions = append(wf.Actions, step(s))
	}
	return wf
}

func create(ctx context.Context, srv *servertest.Server, wf *reprisev1.Workflow) string {
	res, err := reprisev1.NewReplayServiceClient(srv.Conn()).CreateReplay(ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: wf})
	must(err)
	return res.GetReplay().GetReplayId()
}

// must ends an example, which has no test to fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
