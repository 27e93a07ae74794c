package cases

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestCase_a_WhatNeverArrivedFollowsTheWelcomeWithoutATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, cut))
		time.AfterFunc(time.Millisecond, w.relay.takeApart)
		id := w.create(2)
		time.Sleep(20 * time.Second)
		if r := w.get(id); !r.GetAgentAway() || r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING {
			t.Errorf("while the link is down: %v, agent away %v", r.GetState(), r.GetAgentAway())
		}
		w.relay.join()
		w.completed(id)
		w.clicked(1, 2)
		again := seen(w.relay, func(m message) (time.Time, bool) { return m.at, m.down.GetDispatch() != nil })[1]
		if welcomes := w.welcomes(); again != welcomes[len(welcomes)-1] {
			t.Errorf("the redelivery came %v after the welcome", again.Sub(welcomes[len(welcomes)-1]))
		}
	})
}

func TestCase_d_OneReportIsTakenOnceHoweverOftenItsAcknowledgementIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lost := 0
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if lost < 3 && (m.GetReportAck() != nil || len(m.GetWelcome().GetResultAcks()) > 0) {
				lost++
				return cut
			}
			return pass
		})
		id := w.create(2)
		w.completed(id)
		w.clicked(1, 2)
		synctest.Wait() // the last acknowledgement may still be under way
		if got := w.accepted(); lost != 3 || got != 2 {
			t.Errorf("%d acknowledgements were lost, %d reports were accepted; want 3 and 2", lost, got)
		}
	})
}

func TestCase_k_ADispatchThatComesAgainLongAfterItsEndTouchesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.completed(w.create(2))
		old := w.relay.dispatches()[0]
		w.must(w.relay.say(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: old}}))
		time.Sleep(time.Minute)
		w.clicked(1, 2)
		last := w.relay.reports()[len(w.relay.reports())-1]
		if last.GetActionId() != old.GetActionId() || !slices.Contains(last.GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED) {
			t.Errorf("the agent answered %v for %s", last.GetWarnings(), last.GetActionId())
		}
		if got := w.verdicts(); got[len(got)-1] != reprisev1.ReportVerdict_REPORT_VERDICT_NO_ACTIVE_REPLAY {
			t.Errorf("the reports were taken as %v, the last one wants NO_ACTIVE_REPLAY", got)
		}
		if after := w.get(before.GetReplayId()); !proto.Equal(before, after) {
			t.Error("the replay has changed")
		}
	})
}

func TestCase_k_ADispatchThatComesAgainWhileItsActionRunsIsAnsweredWithProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(1)
		<-held
		d := proto.CloneOf(w.relay.dispatches()[0])
		d.AttemptId += "-again"
		w.must(w.relay.say(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: d}}))
		synctest.Wait()
		told := seen(w.relay, func(m message) (bool, bool) {
			p := m.up.GetProgress()
			return true, p.GetAttemptId() == d.GetAttemptId() && p.GetState() == reprisev1.ProgressState_PROGRESS_STATE_EXECUTING
		})
		if len(told) != 1 {
			t.Errorf("the agent said %d times that the action runs", len(told))
		}
		goOn()
		w.completed(id)
		w.clicked(1)
	})
}

func TestCase_q_AnInjectedWaitIsAnsweredUnknownActionAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.completed(w.create(1))
		session := w.machine().GetSessionId()
		w.must(w.relay.say(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: &reprisev1.Dispatch{
			ReplayId: before.GetReplayId(), SessionId: session, MachineId: machineID, ActionId: "injected-wait", AttemptId: "injected-wait.1",
			Action: &reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(time.Second)}}},
		}}}))
		time.Sleep(2 * time.Second)
		acks := w.relay.acks()
		last := acks[len(acks)-1]
		if last.GetActionId() != "injected-wait" || last.GetVerdict() != reprisev1.ReportVerdict_REPORT_VERDICT_UNKNOWN_ACTION {
			t.Errorf("the report was answered %v for %s", last.GetVerdict(), last.GetActionId())
		}
		if after := w.get(before.GetReplayId()); !proto.Equal(before, after) {
			t.Error("the replay has changed")
		}
		// The answer is durable and final: the agent keeps nothing to say again.
		w.relay.cutAll()
		w.completed(w.create(1))
		w.clicked(1, 1)
		kept := seen(w.relay, func(m message) (int, bool) { return len(m.up.GetHello().GetResults()), m.up.GetHello() != nil })
		if !slices.Equal(kept, []int{0, 0}) {
			t.Errorf("the hellos held %v results, want none", kept)
		}
	})
}
