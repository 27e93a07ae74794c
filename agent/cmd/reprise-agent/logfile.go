package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/reprise-rpa/reprise/internal/logs"
)

// openLog returns the logger of one run, which writes to the log file, if there is to be
// one, else to out, and what closes it.
func openLog(out io.Writer, s settings) (*slog.Logger, io.Closer, error) {
	var closer io.Closer = io.NopCloser(nil)
	if s.LogFile != "" {
		file, err := openLogFile(s)
		if err != nil {
			return nil, nil, fmt.Errorf("log-file: %w", err)
		}
		out, closer = file, file
	}
	log, err := logs.New(out, s.LogLevel, s.LogFormat)
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return log, closer, nil
}

// openLogFile makes sure that the file can be written, which a run should not first
// learn from lines that are missing.
func openLogFile(s settings) (io.WriteCloser, error) {
	if err := os.MkdirAll(filepath.Dir(s.LogFile), 0o700); err != nil {
		return nil, err
	}
	probe, err := os.OpenFile(s.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	return &lumberjack.Logger{Filename: s.LogFile, MaxSize: s.LogFileMax, MaxBackups: s.LogFiles - 1}, nil
}

// fanOut hands each line to all handlers, in order. One that fails keeps it from none of
// those behind it.
type fanOut []slog.Handler

// Enabled implements slog.Handler.
func (f fanOut) Enabled(ctx context.Context, level slog.Level) bool {
	for _, h := range f {
		if h.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

// Handle implements slog.Handler. It returns the first fault.
func (f fanOut) Handle(ctx context.Context, r slog.Record) error {
	var first error
	for _, h := range f {
		if h.Enabled(ctx, r.Level) {
			first = cmp.Or(first, h.Handle(ctx, r.Clone()))
		}
	}
	return first
}

// WithAttrs implements slog.Handler.
func (f fanOut) WithAttrs(attrs []slog.Attr) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (f fanOut) WithGroup(name string) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (f fanOut) each(change func(slog.Handler) slog.Handler) slog.Handler {
	changed := make(fanOut, len(f))
	for i, h := range f {
		changed[i] = change(h)
	}
	return changed
}
