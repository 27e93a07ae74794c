// Package logs makes the logger of a program from its settings.
package logs

import (
	"fmt"
	"io"
	"log/slog"
)

// New returns a logger that writes to out: lines of the level named and above, as
// JSON when format is "json", else as text.
func New(out io.Writer, level, format string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	o := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, o)), nil
	}
	return slog.New(slog.NewTextHandler(out, o)), nil
}
