package service

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quiet is how long the same line makes no second entry: an agent that cannot reach its
// server says so every few seconds, and the event log is for people.
const quiet = 10 * time.Minute

// maxLines is of how many different lines it is remembered when they were written last.
const maxLines = 1000

// Sink takes the entries of the event log.
type Sink interface {
	// Write writes one entry.
	Write(id uint32, severity slog.Level, text string) error
}

// NewEventHandler returns a handler that writes lines of the level Warn and above to
// sink, each as the event that Events has for it. A line that is repeated within ten
// minutes is counted, and its next entry says how often.
func NewEventHandler(sink Sink) slog.Handler {
	s := &eventState{sink: sink, lines: map[string]*repeated{}}
	noNames := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}
	return &eventHandler{state: s, attrs: slog.NewTextHandler(&s.text, &slog.HandlerOptions{ReplaceAttr: noNames})}
}

// eventState is what a handler and all that come from it share.
type eventState struct {
	sink Sink

	mu    sync.Mutex
	text  bytes.Buffer // the attributes of one line, as attrs writes them
	lines map[string]*repeated
}

// repeated is when a line was written last, and how often it came since.
type repeated struct {
	at    time.Time
	since int
}

type eventHandler struct {
	state *eventState
	attrs slog.Handler // writes to state.text, with state.mu held
}

// Enabled implements slog.Handler.
func (h *eventHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (h *eventHandler) Handle(ctx context.Context, r slog.Record) error {
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.lines[r.Message]
	if known != nil && r.Time.Sub(known.at) < quiet {
		known.since++
		return nil
	}
	s.text.Reset()
	if err := h.attrs.Handle(ctx, r); err != nil {
		return err
	}
	detail := strings.TrimSpace(s.text.String())
	if known != nil && known.since > 0 {
		detail += "\nrepeated since the last entry: " + strconv.Itoa(known.since)
	}
	if len(s.lines) >= maxLines {
		clear(s.lines)
	}
	s.lines[r.Message] = &repeated{at: r.Time}
	e := eventOfLine(r.Level, r.Message)
	return s.sink.Write(e.ID, e.Severity, e.text(r.Message, detail))
}

// WithAttrs implements slog.Handler.
func (h *eventHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &eventHandler{state: h.state, attrs: h.attrs.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h *eventHandler) WithGroup(name string) slog.Handler {
	return &eventHandler{state: h.state, attrs: h.attrs.WithGroup(name)}
}
