package control

import (
	"fmt"
	"strings"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// The sentences of causes, for people. What programs need is in the causes' fields.

func sayEnded(h replay.Head) string {
	return "the replay is " + word(h.State.String()) + because(h.EndReason)
}

// what is what cannot be done: it cannot be read, or written.
func sayJournal(machineID, what string) string {
	return "the journal of machine " + machineID + " cannot be " + what + ", so nothing is decided; the server's log says why"
}

func sayBehind(holder replay.Head, ahead int) string {
	text := fmt.Sprintf("it waits for machine %s behind replay %s (%q), which is %s", holder.MachineID, holder.ReplayID, holder.Workflow, word(holder.State.String()))
	if ahead > 1 {
		text += fmt.Sprintf(", and %d more", ahead-1)
	}
	return text
}

func sayPaused(holder dispatch.View) string {
	p := holder.Pause
	by := "the server"
	if p.By != "" {
		by = p.By
	}
	text := fmt.Sprintf("replay %s was paused by %s (%s)%s", holder.Head.ReplayID, by, p.Reason, because(p.Message))
	switch {
	case holder.Head.Pausing:
		text += "; the action in flight finishes first"
	case p.Decide != "":
		text += "; a person decides on action " + p.Decide
	default:
		text += "; a person lets it go on"
	}
	return text
}

func sayIdle(holder replay.Head) string {
	return fmt.Sprintf("replay %s was left open, and all of its %d actions are settled: it waits for more, or to be closed", holder.ReplayID, holder.Actions)
}

var phases = map[pending.Phase]string{
	0:            "is in flight",
	pending.Sent: "was sent and the agent has not said that it has it", pending.Received: "was received by the agent",
	pending.Executing: "is being executed",
}

// away says that the agent is not there: how far it is, is how far it was.
func sayInFlight(a dispatch.InFlight, away bool) string {
	text := fmt.Sprintf("%s %s %s", a.Kind, a.ActionID, phases[a.Phase])
	if away {
		text = fmt.Sprintf("%s %s was in flight when the agent went away", a.Kind, a.ActionID)
	}
	if a.Doing != "" {
		text += " (" + a.Doing + ")"
	}
	switch a.Deadline {
	case pending.Receipt:
		return text + "; it is delivered again unless the agent does so within " + seconds(a.DueIn)
	case pending.Orphan:
		return text + "; it counts as lost unless a report or a sign of progress comes within " + seconds(a.DueIn)
	}
	return text + "; its deadline stands still"
}

func sayOffline(f facts) string {
	text := "the agent of machine " + f.machine.ID + " is away"
	if f.machine.ChangedAt.IsZero() {
		text = "no agent of machine " + f.machine.ID + " has connected since the server started"
	}
	if f.now.PausesIn > 0 {
		text += "; the replay pauses unless one comes within " + seconds(f.now.PausesIn)
	}
	if f.machine.Info.LastExit != "" {
		text += "; the last that it said of an exit: " + f.machine.Info.LastExit
	}
	return text
}

func sayDesktop(m registry.Machine) string {
	kind := reprisev1.DesktopStateKind(m.Info.DesktopKind).String()
	text := fmt.Sprintf("the desktop of machine %s cannot take input (%s)", m.ID, word(strings.TrimPrefix(kind, "DESKTOP_STATE_KIND_")))
	return text + because(m.Info.DesktopWhy) + "; work goes on by itself when it can"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// word is the name of a value as people read it.
func word(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", " ") }

func seconds(d time.Duration) string { return max(0, d).Round(time.Second).String() }
