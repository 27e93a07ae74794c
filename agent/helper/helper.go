// Package helper is both ends of the connection between the agent's service, which
// holds stream and spool, and its helper in the session of a user, which has hands and
// eyes. Serve is the helper's end, around the desktop's own driver; Desktop is the
// service's end and a driver itself, which is always there and whose helpers come and go.
//
// It decides what crosses the connection and what may be believed when it breaks: a
// gesture is never sent twice, its outcome is what the helper's driver said or else not
// known, and none begins before the former one has returned. Where helpers live, how
// they are started and how a connection is made is for package supervise; what a gesture
// does is for the drivers.
//
// Before anything else each end proves that it knows the secret of this one helper (see
// prove). Then they speak gRPC, the helper as the server; the schema is private to the
// agent, and both ends must be of one version.
package helper

import (
	"errors"
	"image"
	"log/slog"
	"time"
)

// SecretSize is how many bytes the secret of a helper has. They are random, and made for
// this one helper.
const SecretSize = 32

// Errors that callers branch on.
var (
	// ErrSecret says that the two ends do not know the same secret; nothing of the
	// desktop was served.
	ErrSecret = errors.New("the secrets of the two ends differ")
	// ErrVersion says that the two ends come from different versions of the program.
	ErrVersion = errors.New("the helper is of another version than the service")
	// ErrEnded says that the connection has ended.
	ErrEnded = errors.New("the connection between service and helper has ended")
)

// Settings are those of the agent that concern the session of the user. They travel to
// the helper as they are; what a zero value means is for who opens the desktop.
type Settings struct {
	TypeMode         string        // how text is typed, by the name of the agent's setting
	TypePace         time.Duration // pause between two characters
	RestoreClipboard time.Duration // after which the former text is put back on the clipboard
	PasteKeys        []string      // combo that pastes; none: the driver's own
	MinDisplay       image.Point   // smallest usable display, in pixels
	LogLevel         slog.Level    // least level of what the helper logs

	StopKey  string // combo with which the person stops the agent; empty: there is none
	OwnInput bool   // whether the person's own mouse and keyboard are told
	Language string // of what the person reads, such as fr; empty: the user's
}

const (
	// maxMessage is the size of the longest message in bytes. Pictures go in parts, so
	// that only a text to type or paste, or a list, is ever long.
	maxMessage = 64 << 20
	// partSize is how many bytes of a picture go in one message: what an answer that
	// is ready meanwhile may have to wait for.
	partSize = 512 << 10
	// streamWindow and connWindow are how many bytes of one call, and of all, may be
	// under way before the other end has taken them. They do not adapt: what gRPC would
	// ask the other end for that costs more than the memory.
	streamWindow = 4 << 20
	connWindow   = 32 << 20
	// pingAfter and pingTime are after how long without a word the service asks whether
	// the helper is still there, and how long that has for its answer. A helper that
	// died ends the connection by itself; this is for one that hangs.
	pingAfter = 10 * time.Second
	pingTime  = 20 * time.Second
	// minPing is how often the service may ask.
	minPing = 5 * time.Second
	// endTime is how long a helper that ends has for its last gesture to return, and
	// to let go of everything. It is less than what a supervisor gives it.
	endTime = 2 * time.Second
	// leaveTime is how long the service waits for the outcome of a gesture that it
	// stops because it leaves the helper.
	leaveTime = time.Second
	// noticeTime is how long a new helper has to show a pause again.
	noticeTime = 2 * time.Second
	// attendAgain is after how long a helper whose telling ended is asked again.
	attendAgain = 5 * time.Second
)
