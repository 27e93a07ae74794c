package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// plainDisplay shows a watch as lines for people, each change once.
type plainDisplay struct {
	w       io.Writer
	where   *time.Location
	steer   string // how reprisectl is called, with the connection's flags
	pauseID string // the pause that was shown
	away    bool
}

func (p *plainDisplay) update(u update) error {
	if u.partial {
		return nil
	}
	var b strings.Builder
	r := u.view.replay
	if p.away {
		p.away = false
		b.WriteString("the server is back\n")
	}
	if u.snapshot {
		fmt.Fprintf(&b, "replay %s of %q on %s: %s, %s\n",
			r.GetReplayId(), r.GetWorkflowName(), r.GetMachineId(), stateWord(r), u.view.tally().of(r.GetActionCount()))
	}
	for _, e := range u.events {
		p.event(&b, u.view, e)
	}
	p.pause(&b, r)
	_, err := io.WriteString(p.w, b.String())
	return err
}

func (p *plainDisplay) event(b *strings.Builder, v *view, e *reprisev1.ReplayEvent) {
	r := v.replay
	fmt.Fprintf(b, "%s  %*d/%d  %s", e.GetAt().AsTime().In(p.where).Format("15:04:05.000"),
		digits(r.GetActionCount()), r.GetSettledCount(), r.GetActionCount(), e.GetType())
	if id := e.GetActionId(); id != "" {
		fmt.Fprintf(b, "  %s", v.label(id))
	}
	if e.GetDetail() != "" {
		fmt.Fprintf(b, "  %s", firstLine(e.GetDetail()))
	}
	b.WriteByte('\n')
}

func digits(n int32) int { return len(fmt.Sprint(n)) }

// pause shows a pause once, with all that a person needs to end it.
func (p *plainDisplay) pause(b *strings.Builder, r *reprisev1.Replay) {
	info := r.GetPause()
	if info == nil || r.GetPausing() || info.GetPauseId() == p.pauseID {
		return
	}
	p.pauseID = info.GetPauseId()
	writePause(b, r, p.steer)
}

// writePause says why a replay is paused and how it goes on.
func writePause(b *strings.Builder, r *reprisev1.Replay, steer string) {
	info := r.GetPause()
	fmt.Fprintf(b, "PAUSED  %s", word(info.GetReason(), "PAUSE_REASON_"))
	if info.GetMessage() != "" {
		fmt.Fprintf(b, ": %s", info.GetMessage())
	}
	b.WriteByte('\n')
	if by := info.GetPausedBy(); by != "" {
		fmt.Fprintf(b, "  asked for by %s\n", by)
	}
	writeDecision(b, r, steer)
}

// writeDecision says what a person decides and confirms, and the commands for it.
func writeDecision(b *strings.Builder, r *reprisev1.Replay, steer string) {
	info := r.GetPause()
	if id := info.GetActionToDecide(); id != "" {
		fmt.Fprintf(b, "  to decide on: %s\n", id)
	}
	for _, c := range info.GetSafetyChecks() {
		need := "optional"
		if c.GetRequired() {
			need = "required"
		}
		fmt.Fprintf(b, "  check %s (%s): %s\n", c.GetId(), need, c.GetLabel())
	}
	writeWays(b, r, steer)
}

// writeWays lists the commands that end a pause.
func writeWays(b *strings.Builder, r *reprisev1.Replay, steer string) {
	way := func(what, command string) { fmt.Fprintf(b, "  %-18s%s\n", what+":", command) }
	resume := resumeCommandLine(r, steer)
	if r.GetPause().GetActionToDecide() == "" {
		way("go on", resume)
	} else {
		way("run it again", resume)
		if misplaced(r.GetPause().GetReason()) {
			way("run it elsewhere", resume+" --position X,Y   # fractions of its monitor, such as 0.25,0.4")
		}
		way("count it as done", resume+" --skip")
	}
	way("end the replay", strings.Join([]string{steer, "cancel", quote(r.GetReplayId())}, " "))
}

// misplaced says whether another place may be what helps.
func misplaced(reason reprisev1.PauseReason) bool {
	switch reason {
	case reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN,
		reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED:
		return true
	}
	return false
}

// resumeCommandLine is what a person enters to let the replay go on.
func resumeCommandLine(r *reprisev1.Replay, steer string) string {
	words := []string{steer, "resume", quote(r.GetReplayId())}
	for _, c := range r.GetPause().GetSafetyChecks() {
		if c.GetRequired() {
			words = append(words, "--ack", quote(c.GetId()))
		}
	}
	return strings.Join(words, " ")
}

// quote makes a shell take a text as one word.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (p *plainDisplay) lost(err error) error {
	p.away = true
	_, err = fmt.Fprintf(p.w, "the server is away, trying again; the replay is not affected (%s)\n", status.Convert(err).Message())
	return err
}

func (p *plainDisplay) end(v *view, _ int) error {
	_, err := io.WriteString(p.w, endLines(v))
	return err
}

// endLines are the last words on a replay, its outcome in the very last line.
func endLines(v *view) string {
	r, t := v.replay, v.tally()
	line := fmt.Sprintf("replay %s %s: %s%s", r.GetReplayId(), stateWord(r), t.of(r.GetActionCount()), t.odd())
	if r.GetEndedAt() != nil && r.GetCreatedAt() != nil {
		line += fmt.Sprintf(" in %v", r.GetEndedAt().AsTime().Sub(r.GetCreatedAt().AsTime()).Round(100*time.Millisecond))
	}
	if r.GetEndReason() != "" {
		line += ": " + r.GetEndReason()
	}
	return t.givenUp(r) + line + "\n"
}

// jsonDisplay shows a watch as one object per line.
type jsonDisplay struct {
	emit  func(line) error
	id    string
	steer string
	away  bool
}

func (j *jsonDisplay) update(u update) error {
	if j.away {
		j.away = false
		if err := j.emit(line{Type: "connection", ReplayID: j.id, State: "back"}); err != nil {
			return err
		}
	}
	r := u.response.GetReplay()
	l := replayLine(r)
	l.Type, l.Pending = "update", u.partial
	for _, e := range u.response.GetEvents() {
		l.Events = append(l.Events, object(e))
	}
	if r.GetPause() != nil && !r.GetPausing() {
		l.Resume = resumeCommandLine(r, j.steer)
	}
	return j.emit(l)
}

func (j *jsonDisplay) lost(err error) error {
	j.away = true
	return j.emit(line{Type: "connection", ReplayID: j.id, State: "lost", Message: status.Convert(err).Message()})
}

func (j *jsonDisplay) end(v *view, exit int) error {
	t := v.tally()
	return j.emit(line{
		Type: "end", ReplayID: j.id, State: v.replay.GetState().String(), Message: v.replay.GetEndReason(), ExitCode: &exit,
		Counts: &t, GivenUp: t.lostIDs(),
	})
}
