package rpcstatus

import (
	"google.golang.org/grpc/codes"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/journal"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// table is the whole contract between the core's errors and the wire. The first
// that matches counts.
var table = []entry{
	{replay.ErrNotFound, codes.NotFound, "REPLAY_NOT_FOUND"},
	{replay.ErrPageToken, codes.InvalidArgument, "PAGE_TOKEN_INVALID"},
	{replay.ErrEventID, codes.InvalidArgument, "EVENT_ID_INVALID"},
	{replay.ErrEventsForgotten, codes.OutOfRange, "EVENTS_FORGOTTEN"},
	{replay.ErrNotOpen, codes.FailedPrecondition, "REPLAY_NOT_OPEN"},
	{replay.ErrTooMany, codes.InvalidArgument, "TOO_MANY_ACTIONS"},
	{replay.ErrEnded, codes.FailedPrecondition, "REPLAY_ENDED"},
	{replay.ErrNotPaused, codes.FailedPrecondition, "REPLAY_NOT_PAUSED"},
	{replay.ErrStillPausing, codes.FailedPrecondition, "ACTION_IN_FLIGHT"},
	{replay.ErrNothingToDo, codes.FailedPrecondition, "NO_ACTION_TO_DECIDE"},
	{replay.ErrExclusive, codes.InvalidArgument, "OPTIONS_EXCLUSIVE"},
	{replay.ErrUnknownStep, codes.InvalidArgument, "ACTION_NOT_FOUND"},
	{replay.ErrNoSpace, codes.ResourceExhausted, "JOURNAL_FULL"},
	{replay.ErrRequestIDTaken, codes.AlreadyExists, "REQUEST_ID_TAKEN"},
	{replay.ErrStale, codes.Aborted, "JOURNAL_STALE"},
	{journal.ErrDamaged, codes.DataLoss, "JOURNAL_DAMAGED"},
	{dispatch.ErrUnavailable, codes.Unavailable, "JOURNAL_UNREADABLE"},
	{dispatch.ErrStopped, codes.Unavailable, "GOING_AWAY"},
	{dispatch.ErrUnwritable, codes.Unavailable, "JOURNAL_UNWRITABLE"},
	{dispatch.ErrOldSession, codes.Aborted, "SESSION_REPLACED"},
	{dispatch.ErrDeaf, codes.Unavailable, "NOT_ACKNOWLEDGING"},
	{dispatch.ErrSlowWatcher, codes.ResourceExhausted, "WATCHER_TOO_SLOW"},
	{registry.ErrConflict, codes.AlreadyExists, "MACHINE_HELD"},
	{registry.ErrTakenOver, codes.Aborted, "TAKEN_OVER"},
	{registry.ErrFenced, codes.Aborted, "FENCED"},
}
