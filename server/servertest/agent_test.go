package servertest_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
	"github.com/reprise-rpa/reprise/server/settings"
)

// The grace of 90 s passes in a bubble, to the second and in no time.
func TestADeadMachinePausesItsReplayAfterTheRealGrace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(30*time.Second))
		id := w.create("first", "second")
		w.must(w.desk.Await(w.ctx, "first"))
		w.desk.Die()
		died := time.Now()
		r := w.pausedFor(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
		if waited := time.Since(died).Round(time.Second); waited != settings.Default().OfflineGrace {
			t.Errorf("it paused after %v, want %v", waited, settings.Default().OfflineGrace)
		}
		if !r.GetAgentAway() {
			t.Error("the agent is not away")
		}
		w.desk.Return()
		w.must(w.desk.AwaitConnected(w.ctx))
		w.resume(id, reprisev1.ResumeDecision_RESUME_DECISION_SKIP)
		w.await(id, completed)
		w.executed("first", "second")
	})
}

// The same without a bubble, by a shorter setting.
func TestASettingMayBeShortened(t *testing.T) {
	w := newWorld(t, servertest.Options{Settings: func(s *settings.Settings) { s.OfflineGrace = 100 * time.Millisecond }})
	w.desk.On("first", servertest.Die())
	w.pausedFor(w.create("first"), reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT)
	w.executed()
}

// An agent that died in the middle never begins the same step again by itself; a
// person who asks for it gets it.
func TestAnUnknownOutcomeIsNotRepeatedUnlessAPersonSaysSo(t *testing.T) {
	w := newMachine(t, nil)
	w.desk.On("save", servertest.UnknownOutcome(), servertest.Succeed())
	id := w.create("save")
	w.pausedFor(id, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
	w.executed("save")
	w.resume(id, reprisev1.ResumeDecision_RESUME_DECISION_RETRY)
	w.await(id, completed)
	w.executed("save", "save")
}

func TestADisconnectedAgentFinishesAndTellsItWhenItIsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(20*time.Second))
		id := w.create("first", "second")
		w.must(w.desk.Await(w.ctx, "first"))
		w.desk.Disconnect()
		time.Sleep(10 * time.Second)
		w.desk.Return() // it executes still, and says so
		time.Sleep(5 * time.Second)
		w.desk.Disconnect()
		time.Sleep(30 * time.Second)
		w.desk.Return() // it is done, and says so
		w.await(id, completed)
		w.executed("first", "second")
	})
}

func TestReinstallForgetsWhatWasDone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(20*time.Second))
		id := w.create("first")
		w.must(w.desk.Await(w.ctx, "first"))
		w.desk.Reinstall()
		w.desk.Return()
		r := w.pausedFor(id, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
		if got := r.GetPause().GetMessage(); !strings.Contains(got, "memory") {
			t.Errorf("the pause says %q", got)
		}
	})
}

func TestCancelStopsTheActionInFlight(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(50*time.Second))
		id := w.create("first", "second")
		w.must(w.desk.Await(w.ctx, "first"))
		_, err := w.replays.CancelReplay(w.ctx, &reprisev1.CancelReplayRequest{ReplayId: id})
		w.must(err)
		w.await(id, cancelled)
		began := time.Now()
		w.await(w.create("other"), completed)
		w.executed("first", "other")
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the machine was free after %v", waited)
		}
	})
}

// However often the agent comes back, a pause is shown once.
func TestAPauseIsShownOnce(t *testing.T) {
	w := newMachine(t, nil)
	w.desk.On("first", servertest.NeedHuman("no card"))
	id := w.create("first")
	w.await(id, paused)
	for range 3 {
		w.desk.Disconnect()
		w.desk.Return()
		w.must(w.desk.AwaitConnected(w.ctx))
	}
	// The resume is told after all that was told before it.
	w.desk.On("first", servertest.Succeed())
	w.resume(id, reprisev1.ResumeDecision_RESUME_DECISION_RETRY)
	w.await(id, completed)
	shown := w.desk.Pauses()
	if len(shown) != 1 || shown[0].GetReplayId() != id || shown[0].GetReason() != reprisev1.PauseReason_PAUSE_REASON_NEEDS_HUMAN {
		t.Errorf("shown: %v", shown)
	}
}

func TestThePersonAtTheMachineStopsAndGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.Succeed().After(10*time.Second))
		id := w.create("first", "second")
		w.must(w.desk.Await(w.ctx, "first"))
		w.desk.Ask(reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_STOP)
		w.pausedFor(id, reprisev1.PauseReason_PAUSE_REASON_OPERATOR)
		time.Sleep(time.Minute)
		w.executed("first")
		w.desk.Ask(reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_GO_ON)
		w.await(id, completed)
		w.executed("first", "second")
	})
}

func TestPicturesAreAtTheServerBeforeTheReport(t *testing.T) {
	before, after := noise(t, 600), noise(t, 10) // the first takes several messages
	w := newMachine(t, nil)
	w.desk.On("first", servertest.Succeed().Screenshots(before, after))
	report := w.await(w.create("first"), completed).GetActions()[0].GetReport()
	if !bytes.Equal(before, w.download(report.GetScreenshotBefore())) {
		t.Error("the picture from before is another")
	}
	if !bytes.Equal(after, w.download(report.GetScreenshotAfter())) {
		t.Error("the picture from after is another")
	}
}

// A screenshot action sees what is on the screen without being told.
func TestAScreenshotActionSeesTheScreen(t *testing.T) {
	w := newMachine(t, nil)
	screen := noise(t, 20)
	w.desk.SetScreen(screen)
	id := w.submit(&reprisev1.Workflow{Name: "look", Actions: []*reprisev1.Action{{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}}})
	report := w.await(id, completed).GetActions()[0].GetReport()
	if !bytes.Equal(w.download(report.GetScreenshotAfter()), screen) {
		t.Error("the picture is another")
	}
}

// noise is a picture that does not pack.
func noise(t *testing.T, size int) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, size, size))
	random := rand.New(rand.NewPCG(uint64(size), 1))
	for i := range picture.Pix {
		picture.Pix[i] = byte(random.Uint32())
	}
	var packed bytes.Buffer
	if err := png.Encode(&packed, picture); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func (w *world) download(ref *reprisev1.EvidenceRef) []byte {
	w.t.Helper()
	if ref.GetNote() != "" {
		w.t.Errorf("the picture is noted %q", ref.GetNote())
	}
	stream, err := reprisev1.NewEvidenceServiceClient(w.Conn()).Download(w.ctx, &reprisev1.DownloadRequest{Sha256: ref.GetSha256()})
	w.must(err)
	var data []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data
		}
		w.must(err)
		data = append(data, m.GetData()...)
	}
}

// Operators take a picture of a scripted screen as they do of a real one.
func TestCaptureScreenSeesTheScriptedScreen(t *testing.T) {
	w := newMachine(t, nil)
	screen := noise(t, 30)
	w.desk.SetScreen(screen)
	machines := reprisev1.NewMachineServiceClient(w.Conn())
	res, err := machines.CaptureScreen(w.ctx, &reprisev1.CaptureScreenRequest{MachineId: w.desk.MachineID()})
	w.must(err)
	if !bytes.Equal(w.download(res.GetPicture()), screen) {
		t.Error("the picture is another")
	}
	w.desk.Lock()
	_, err = machines.CaptureScreen(w.ctx, &reprisev1.CaptureScreenRequest{MachineId: w.desk.MachineID()})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("of a locked desktop: %v", err)
	}
}
