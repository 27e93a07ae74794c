package journal

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// ErrDamaged says that acknowledged records cannot be read back: the files were
// changed by something else than this program. The error that it comes in names
// the file and what to do next.
var ErrDamaged = errors.New("the journal is damaged")

// explained is an error for people: its text says what they need to know, and
// what it wraps is for programs and logs.
type explained struct {
	text   string
	causes []error
}

func (e *explained) Error() string   { return e.text }
func (e *explained) Unwrap() []error { return e.causes }

// damaged makes the error for a file that does not hold what was written to it;
// cause may be nil.
func damaged(path, what string, cause error) error {
	return damagedSo(path, fmt.Sprintf("%s; \"reprisectl journal verify --data %s\" tells what is hit; put back a copy of %s*", what, filepath.Dir(path), path), cause)
}

// damagedSo makes the error where what and the next step are not the usual ones.
func damagedSo(path, whatAndNext string, cause error) error {
	return &explained{
		text:   fmt.Sprintf("%v: %s: %s", ErrDamaged, path, whatAndNext),
		causes: []error{ErrDamaged, cause},
	}
}

// classify gives an error of the engine its name in the interface. The engine's
// own words about a full disk or a damaged file help nobody who reads them at a
// prompt; they stay inside, for detail.
func (d database) classify(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrDamaged):
		return err
	case isNoSpace(err):
		return &explained{text: replay.ErrNoSpace.Error(), causes: []error{replay.ErrNoSpace, err}}
	}
	if why, ok := damageIn(err); ok {
		return damaged(d.path, why, err)
	}
	return err
}

// damageIn says in words which damage an error of the engine tells of, and
// whether it tells of any.
func damageIn(err error) (why string, ok bool) {
	switch {
	case errors.Is(err, sqlite3.IOERR_DATA):
		return "a page's checksum is wrong", true
	case errors.Is(err, sqlite3.NOTADB):
		return "it is not a database", true
	case errors.Is(err, sqlite3.CORRUPT):
		return "its pages contradict each other", true
	}
	return "", false
}

// detail is what a log says of err: also what its text leaves out.
func detail(err error) string {
	var e *explained
	if errors.As(err, &e) {
		return fmt.Sprintf("%s (%v)", err, errors.Join(e.causes[1:]...))
	}
	return err.Error()
}

// doing says what the journal was doing when err came up, unless err is one that
// its readers understand better alone.
func doing(what string, err error) error {
	for _, plain := range []error{
		replay.ErrNoSpace, replay.ErrStale, replay.ErrRequestIDTaken, replay.ErrNotFound, replay.ErrPageToken,
		replay.ErrEventID, replay.ErrEventsForgotten, ErrDamaged,
	} {
		if errors.Is(err, plain) {
			return err
		}
	}
	return fmt.Errorf("journal: %s: %w", what, err)
}
