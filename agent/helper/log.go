package helper

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// logLines is how many lines wait for the connection.
const logLines = 1024

// Log keeps what the helper logs until the service takes it, so that one file has all.
// It never waits: lines that nobody takes in time are dropped, and their number is
// logged in their place. Make it with NewLog.
type Log struct {
	level   slog.LevelVar
	lines   chan *helperv1.LogResponse
	dropped atomic.Int64
}

// NewLog returns an empty log. Its level is info, and that of the settings from when
// the service has sent them.
func NewLog() *Log { return &Log{lines: make(chan *helperv1.LogResponse, logLines)} }

// Logger returns a logger that writes to the log.
func (l *Log) Logger() *slog.Logger { return slog.New(&logHandler{log: l}) }

func (l *Log) put(line *helperv1.LogResponse) {
	select {
	case l.lines <- line:
	default:
		l.dropped.Add(1)
	}
}

// send brings the lines until ctx ends, or quiet is closed and those that are there are
// sent. An error is that of sending.
func (l *Log) send(ctx context.Context, send func(*helperv1.LogResponse) error, quiet <-chan struct{}) error {
	for {
		select {
		case line := <-l.lines:
			if err := l.sendOne(send, line); err != nil {
				return err
			}
			continue
		default:
		}
		select {
		case line := <-l.lines:
			if err := l.sendOne(send, line); err != nil {
				return err
			}
		case <-quiet:
			if len(l.lines) == 0 {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *Log) sendOne(send func(*helperv1.LogResponse) error, line *helperv1.LogResponse) error {
	if n := l.dropped.Swap(0); n > 0 {
		said := slog.NewRecord(time.Now(), slog.LevelWarn, "lines of the log were dropped", 0)
		said.AddAttrs(slog.Int64(logkeys.Count, n))
		if err := send(encodeRecord(said, "", nil)); err != nil {
			l.dropped.Add(n)
			return err
		}
	}
	return send(line)
}

// logHandler encodes records where they are made: what they are about may change.
type logHandler struct {
	log    *Log
	prefix string // names of the groups, each with a dot
	attrs  []*helperv1.LogAttr
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.log.level.Level()
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	h.log.put(encodeRecord(r, h.prefix, h.attrs))
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := slices.Clip(h.attrs)
	for _, a := range attrs {
		more = appendAttr(more, h.prefix, a)
	}
	return &logHandler{h.log, h.prefix, more}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &logHandler{h.log, h.prefix + name + ".", h.attrs}
}

func encodeRecord(r slog.Record, prefix string, attrs []*helperv1.LogAttr) *helperv1.LogResponse {
	line := &helperv1.LogResponse{Level: int32(r.Level), Message: []byte(r.Message), Attrs: slices.Clip(attrs)}
	if !r.Time.IsZero() {
		line.Time = timestamppb.New(r.Time)
	}
	r.Attrs(func(a slog.Attr) bool {
		line.Attrs = appendAttr(line.Attrs, prefix, a)
		return true
	})
	return line
}

// appendAttr appends an attribute, or all of a group's.
func appendAttr(to []*helperv1.LogAttr, prefix string, a slog.Attr) []*helperv1.LogAttr {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range value.Group() {
			to = appendAttr(to, prefix, member)
		}
		return to
	}
	if a.Equal(slog.Attr{}) {
		return to
	}
	e := &helperv1.LogAttr{Key: []byte(prefix + a.Key)}
	switch value.Kind() {
	case slog.KindInt64:
		e.Value = &helperv1.LogAttr_Integer{Integer: value.Int64()}
	case slog.KindUint64:
		e.Value = &helperv1.LogAttr_Natural{Natural: value.Uint64()}
	case slog.KindFloat64:
		e.Value = &helperv1.LogAttr_Number{Number: value.Float64()}
	case slog.KindBool:
		e.Value = &helperv1.LogAttr_Truth{Truth: value.Bool()}
	case slog.KindDuration:
		e.Value = &helperv1.LogAttr_Duration{Duration: durationpb.New(value.Duration())}
	case slog.KindTime:
		e.Value = &helperv1.LogAttr_Moment{Moment: timestamppb.New(value.Time())}
	default:
		e.Value = &helperv1.LogAttr_Text{Text: []byte(textOf(value))}
	}
	return append(to, e)
}

// textOf is a value as a text handler would print it, without quotes.
func textOf(v slog.Value) string {
	if v.Kind() == slog.KindString {
		return v.String()
	}
	return strings.TrimSpace(fmt.Sprintf("%+v", v.Any()))
}

// decodeRecord is the record that a line of the helper's log is.
func decodeRecord(line *helperv1.LogResponse) slog.Record {
	var at time.Time
	if line.Time != nil {
		at = line.GetTime().AsTime().Local()
	}
	r := slog.NewRecord(at, slog.Level(line.GetLevel()), string(line.GetMessage()), 0)
	for _, a := range line.GetAttrs() {
		key := string(a.GetKey())
		switch value := a.GetValue().(type) {
		case *helperv1.LogAttr_Integer:
			r.AddAttrs(slog.Int64(key, value.Integer))
		case *helperv1.LogAttr_Natural:
			r.AddAttrs(slog.Uint64(key, value.Natural))
		case *helperv1.LogAttr_Number:
			r.AddAttrs(slog.Float64(key, value.Number))
		case *helperv1.LogAttr_Truth:
			r.AddAttrs(slog.Bool(key, value.Truth))
		case *helperv1.LogAttr_Duration:
			r.AddAttrs(slog.Duration(key, value.Duration.AsDuration()))
		case *helperv1.LogAttr_Moment:
			r.AddAttrs(slog.Time(key, value.Moment.AsTime().Local()))
		default:
			r.AddAttrs(slog.String(key, string(a.GetText())))
		}
	}
	return r
}
