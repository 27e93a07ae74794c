package cases

import (
	"context"
	"path/filepath"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/agent/desktop"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// The scenes in which everything arises that an operator can see.
const (
	gatesScene     = "a replay goes through its pauses"
	silentScene    = "an agent falls silent twice"
	adoptedScene   = "an agent comes back with an action that was given to the queue again"
	forgottenScene = "an agent comes back without its memory"
	droppedScene   = "there is no room for the pictures of a replay that has ended"
	heldScene      = "another program holds the journal"
)

var scenes = map[string]func(*world, *most){
	gatesScene:     playGates,
	silentScene:    playSilent,
	adoptedScene:   playAdopted,
	forgottenScene: playForgotten,
	droppedScene:   playDropped,
	heldScene:      playHeld,
}

func playGates(w *world, m *most) {
	human := &reprisev1.Action{Kind: &reprisev1.Action_PauseForHuman{PauseForHuman: &reprisev1.PauseForHuman{Message: "look"}}}
	checked := clickAt(2)
	checked.SafetyChecks = []*reprisev1.SafetyCheck{{Id: "seen", Label: "I have looked"}}
	res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{
		MachineId: machineID, LeaveOpen: true, Supervision: reprisev1.Supervision_SUPERVISION_UNATTENDED,
		Workflow: &reprisev1.Workflow{Name: "gates", Actions: []*reprisev1.Action{clickAt(1), human}},
	})
	w.must(err)
	id := res.GetReplay().GetReplayId()
	_, err = w.replays.AppendActions(w.ctx, &reprisev1.AppendActionsRequest{ReplayId: id, RequestId: "more", Actions: []*reprisev1.Action{checked}})
	w.must(err)
	_, err = w.replays.CloseReplay(w.ctx, &reprisev1.CloseReplayRequest{ReplayId: id})
	w.must(err)
	w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	m.look()
	w.resume(id)
	w.completed(id)
	time.Sleep(11 * time.Second) // pictures arrive
}

func playSilent(w *world, m *most) {
	w.mute(1)
	held, _ := w.desktop.holdNext()
	id := w.createWith(forAnHour(clickAt(1)))
	<-held
	for range 9 { // over three orphan timeouts
		time.Sleep(11 * time.Second) // a sweep
		m.look()
	}
	w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	w.resume(id)
	w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	time.Sleep(11 * time.Second)
}

func playAdopted(w *world, _ *most) {
	w.mute(1)
	held, goOn := w.desktop.holdNext()
	id := w.createWith(forAnHour(clickAt(1)))
	<-held
	time.Sleep(20 * time.Second)
	w.desktop.become(desktop.Locked) // what is queued again stays in the queue
	time.Sleep(20 * time.Second)
	w.relay.listen()
	w.relay.cutAll()
	time.Sleep(5 * time.Second)
	w.desktop.become(desktop.Active)
	goOn()
	w.completed(id)
}

func playForgotten(w *world, _ *most) {
	held, _ := w.desktop.holdNext()
	id := w.create(1)
	<-held
	w.relay.takeApart()
	w.stopAgent()
	w.spool = w.t.TempDir()
	w.relay.join()
	w.agent = w.start()
	w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	w.cancel(id)
}

func playDropped(w *world, _ *most) {
	w.completed(w.create(2))
	time.Sleep(12 * time.Minute) // longer than between two looks at what is kept
}

// playHeld lets another program keep the journal's write lock for longer than the
// server waits for it, with more to write than fits between two sweeps.
func playHeld(w *world, m *most) {
	w.completed(w.create(1))
	other, err := sqlite3.Open(filepath.Join(w.dir, "journal.db"))
	w.must(err)
	w.must(other.Exec("BEGIN IMMEDIATE"))
	failed := make(chan error, 4)
	for range cap(failed) {
		go func() {
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			_, err := w.replays.CreateReplay(ctx, &reprisev1.CreateReplayRequest{
				MachineId: machineID, Workflow: &reprisev1.Workflow{Name: "refused", Actions: []*reprisev1.Action{clickAt(1)}},
			})
			failed <- err
		}()
	}
	for range cap(failed) {
		if err := <-failed; err == nil {
			w.t.Error("a replay was acknowledged that was not written")
		}
		m.look()
	}
	w.must(other.Exec("ROLLBACK"))
	w.must(other.Close())
	before := m.values["rpa_watchdog_sweeps_total"]
	time.Sleep(11 * time.Second)
	synctest.Wait()
	if after := w.metrics()["rpa_watchdog_sweeps_total"]; after <= before {
		w.t.Errorf("%v sweeps, were %v: no sweep follows one that failed", after, before)
	}
	w.completed(w.create(1))
}
