package service

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// The events that do not come from a log line. Those that end the service are its exit
// code too, unless it was asked to stop or to pause.
const (
	EventStarted   uint32 = 1
	EventStopped   uint32 = 2
	EventPaused    uint32 = 3
	EventContinued uint32 = 4

	EventWarning uint32 = 100 // a warning without a number of its own
	EventError   uint32 = 200 // an error without a number of its own

	EventFailed   uint32 = 300
	EventSettings uint32 = 301
	EventLocked   uint32 = 302
	EventCorrupt  uint32 = 303
	EventTooSlow  uint32 = 304
)

// Event is a kind of entry in the Windows Event Log. Its number never gets another
// meaning.
type Event struct {
	ID       uint32     // from 1 to 1000: the range of the message file that Windows brings
	Severity slog.Level // Info, Warn or Error
	Line     string     // the log line that it is written for; empty: it is for none, or for all others of its severity
	Meaning  string     // for administrators; the beginning of the entry, unless a line is
	ToDo     string     // what to do; empty: nothing
}

var events = []Event{
	{EventStarted, slog.LevelInfo, "", "the service runs", ""},
	{EventStopped, slog.LevelInfo, "", "the service has stopped in order", ""},
	{EventPaused, slog.LevelInfo, "", "the service is paused; nothing is executed", "continue it (`Resume-Service reprise-agent`) when the machine may work again"},
	{EventContinued, slog.LevelInfo, "", "the service continues", ""},

	{EventWarning, slog.LevelWarn, "", "any other warning of the agent", "see the log file around that time"},
	{101, slog.LevelWarn, "no stream; connecting again", "the server cannot be reached, or the stream broke; what was done is kept and told later", "check network, address and certificate if it lasts"},
	{102, slog.LevelWarn, "the desktop takes no input; nothing is executed", "the desktop is locked, disconnected, too small, or nobody is logged on", "unlock, connect or log on at the machine; the entry names the state"},
	{103, slog.LevelWarn, "the helper ended", "the process in the user's session has died and is replaced; an action that it was in is of unknown outcome", "if it comes again and again: the reason in the entry, and the log file"},
	{104, slog.LevelWarn, "the sessions cannot be listed", "Windows does not tell who is logged on", "check the service's account: LocalSystem is needed"},
	{105, slog.LevelWarn, "a screenshot is lost: too many wait to be brought to the server", "pictures could not be uploaded for long", "check the way to the server; raise `max-waiting-pictures-bytes`"},
	{106, slog.LevelWarn, "screenshots wait in memory alone: the disk does not take them", "the disk with the state is full or broken", "make room"},
	{107, slog.LevelWarn, "cut off the spool's torn end", "the machine or the process went down in the middle of a write; nothing that counted is lost", ""},

	{EventError, slog.LevelError, "", "any other error of the agent", "see the log file around that time"},
	{201, slog.LevelError, "the server refuses this agent; trying again", "token, machine or version are refused", "the code in the entry: docs/errors.md"},
	{202, slog.LevelError, "the spool can't be written; nothing is executed until it can", "the disk with the state is full or broken", "make room; the agent goes on by itself"},
	{203, slog.LevelError, "keys and buttons were not let go of", "a key or button may be down on the desktop", "press and let go of it at the machine"},
	{204, slog.LevelError, "the helper cannot be killed", "a process in the user's session hangs", "log the user off, or restart the machine"},
	{205, slog.LevelError, "the executor panicked", "a fault of the program; the action is of unknown outcome", "report it with the log file"},

	{EventFailed, slog.LevelError, "", "the agent failed and the service has ended", "the reason in the entry, and the log file; Windows starts the service again, unless it was to stop or to pause"},
	{EventSettings, slog.LevelError, "", "the settings are wrong, so the service has ended", "mend the settings that the entry names in `agent.yaml`; Windows starts the service again, unless it was to stop or to pause"},
	{EventLocked, slog.LevelError, "", "another agent uses the same state directory, so the service has ended", "end the `reprise-agent run` in a console, or give each its own `state-dir`"},
	{EventCorrupt, slog.LevelError, "", "the agent's memory is damaged, so the service has ended: nothing is executed without a memory of what was", "move the file `spool` away; the server will ask a person about what was in flight"},
	{EventTooSlow, slog.LevelError, "", "the agent did not end in time and the service has ended without it", "report it with the log file; the service stays stopped, also when it was to pause, until somebody starts it"},
}

// Events are all the kinds, in the order of their numbers.
func Events() []Event { return append([]Event(nil), events...) }

// eventByID returns the kind of that number; there is one.
func eventByID(id uint32) Event {
	for _, e := range events {
		if e.ID == id {
			return e
		}
	}
	panic(fmt.Sprintf("service: no event %d", id))
}

// eventOf is the number of the event, and the exit code, for a program's failure.
func eventOf(err error) uint32 {
	switch {
	case errors.Is(err, ErrSettings):
		return EventSettings
	case errors.Is(err, spool.ErrLocked):
		return EventLocked
	case errors.Is(err, spool.ErrCorrupt):
		return EventCorrupt
	}
	return EventFailed
}

// eventOfLine is the kind of event that a log line is written as.
func eventOfLine(level slog.Level, message string) Event {
	for _, e := range events {
		if e.Line != "" && e.Line == message {
			return e
		}
	}
	if level >= slog.LevelError {
		return eventByID(EventError)
	}
	return eventByID(EventWarning)
}

// maxEvent is how many bytes an entry has at most; Windows takes 31,839 characters.
const maxEvent = 30_000

// text is the entry of the event: what happened, its details, and what to do.
func (e Event) text(happened, detail string) string {
	parts := []string{happened}
	if detail != "" {
		parts = append(parts, detail)
	}
	text := strings.ReplaceAll(strings.Join(parts, "\n\n"), "\x00", "\uFFFD")
	advice := ""
	if e.ToDo != "" {
		advice = "\n\nWhat to do: " + e.ToDo
	}
	if over := len(text) + len(advice) - maxEvent; over > 0 {
		text = strings.ToValidUTF8(text[:len(text)-over-len(cutMark)], "") + cutMark
	}
	return text + advice
}

// cutMark stands for the rest of an entry that is too long.
const cutMark = "…"
