package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/schollz/progressbar/v3"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// barDisplay shows a watch on a terminal: one line with a bar and what is being
// done; above it stays what a person may want to read later.
type barDisplay struct {
	lines *plainDisplay
	w     io.Writer // the terminal itself: the bar's own escapes go there
	width int
	bar   *progressbar.ProgressBar // nil until the number of actions is known
}

const barWidth = 24

func (d *barDisplay) update(u update) error {
	if u.partial {
		return nil
	}
	r := u.view.replay
	if d.bar == nil && r.GetActionCount() > 0 {
		d.bar = progressbar.NewOptions64(int64(r.GetActionCount()),
			progressbar.OptionSetWriter(d.w), progressbar.OptionSetWidth(barWidth), progressbar.OptionShowCount(),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionSetRenderBlankState(false), progressbar.OptionUseANSICodes(true))
	}
	if most := int64(r.GetActionCount()); d.bar != nil && d.bar.GetMax64() != most {
		d.bar.ChangeMax64(most) // an open replay was given more
	}
	var above strings.Builder
	if d.lines.away {
		d.lines.away = false
		above.WriteString("the server is back\n")
	}
	if u.snapshot && !u.again {
		fmt.Fprintf(&above, "replay %s of %q on %s\n", r.GetReplayId(), r.GetWorkflowName(), r.GetMachineId())
	}
	d.lines.pause(&above, r)
	if err := d.above(above.String()); err != nil {
		return err
	}
	if d.bar == nil || ended(r) {
		return nil
	}
	d.bar.Describe(d.doing(u.view))
	// The bar's last step ends its line, and only the replay's end is the end.
	return d.bar.Set64(min(int64(r.GetSettledCount()), int64(r.GetActionCount())-1))
}

// doing says in what is left of the line what the replay is about.
func (d *barDisplay) doing(v *view) string {
	room := max(d.width-barWidth-28, 10)
	a := v.current()
	state := v.replay.GetState()
	if a == nil || state != reprisev1.ReplayState_REPLAY_STATE_RUNNING || v.replay.GetAgentAway() {
		return clip(stateWord(v.replay), room)
	}
	text := v.label(a.GetActionId())
	if a.GetDoing() != "" {
		text += ": " + firstLine(a.GetDoing())
	}
	return clip(inLine(text), room)
}

// above writes lines where the bar is, and lets the bar follow below them.
func (d *barDisplay) above(text string) error {
	if text == "" {
		return nil
	}
	if d.bar != nil && d.bar.IsStarted() {
		if err := d.bar.Clear(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(printer{d.w}, text)
	return err
}

func (d *barDisplay) lost(err error) error {
	d.lines.away = true
	return d.above(fmt.Sprintf("the server is away, trying again; the replay is not affected (%s)\n", status.Convert(err).Message()))
}

func (d *barDisplay) end(v *view, _ int) error {
	if d.bar != nil && v.replay.GetState() == reprisev1.ReplayState_REPLAY_STATE_COMPLETED {
		d.bar.Describe("")
		if err := d.bar.Finish(); err != nil {
			return err
		}
		_, err := io.WriteString(printer{d.w}, "\n"+endLines(v)) // the full bar stays
		return err
	}
	return d.above(endLines(v))
}

// display chooses how a watch is shown.
func (a *app) display(id string) display {
	steer := a.steer()
	if a.output == lines {
		return &jsonDisplay{emit: a.emit, id: id, steer: steer}
	}
	p := &plainDisplay{w: a.out, where: a.env.Location, steer: steer}
	if width, _, ok := a.env.Terminal(); ok {
		return &barDisplay{lines: p, w: a.env.Stdout, width: width}
	}
	return p
}

// steer is how this program is called again with the same server.
func (a *app) steer() string {
	words := []string{"reprisectl"}
	for _, f := range []struct{ flag, value, env, otherwise string }{
		{"--server", a.server, "REPRISE_SERVER", "127.0.0.1:7443"},
		{"--token-file", a.tokenFile, "REPRISE_TOKEN_FILE", ""},
		{"--ca-file", a.caFile, "REPRISE_CA_FILE", ""},
	} {
		if f.value != or(a.env.Getenv(f.env), f.otherwise) {
			words = append(words, f.flag, quote(f.value))
		}
	}
	return strings.Join(words, " ")
}
