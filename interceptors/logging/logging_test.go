package logging

import (
	"log/slog"
	"testing"

	"google.golang.org/grpc/codes"
)

func TestALinesLevelSaysWhoShouldLook(t *testing.T) {
	for code, want := range map[codes.Code]slog.Level{
		codes.OK: slog.LevelInfo, codes.Canceled: slog.LevelInfo, codes.InvalidArgument: slog.LevelInfo,
		codes.Aborted: slog.LevelInfo, codes.FailedPrecondition: slog.LevelInfo,
		codes.Unauthenticated: slog.LevelWarn, codes.PermissionDenied: slog.LevelWarn, codes.ResourceExhausted: slog.LevelWarn,
		codes.Internal: slog.LevelError, codes.Unknown: slog.LevelError, codes.Code(99): slog.LevelError,
	} {
		if got := slog.Level(level(code)); got != want {
			t.Errorf("%v: %v, want %v", code, got, want)
		}
	}
}
