// Package vision looks at pictures of a desktop: it finds an anchor picture in
// a screen and says what changed between two screens. It knows no platform,
// takes no pictures and decides nothing about actions; its callers do.
//
// Find compares luma by zero-mean normalised cross-correlation, so brightness
// and contrast may differ between recording and replay and hue does not count:
// two buttons that differ in hue only are the same picture to it, and it
// refuses to choose between them. It goes from coarse to fine, the means of a
// few blocks first, then some rows, then all pixels, and leaves a place only
// when the rest cannot lift it over the least score, by the inequality of Cauchy
// and Schwarz. So it finds what a complete search finds, wherever it lies.
//
// The screen is not shrunk. A pyramid of shrunk screens is faster still on
// smooth pictures, but what an anchor of letters and thin lines looks like when
// it is shrunk depends on where on the pixels of the shrunk screen it falls: its
// score there bounds nothing, so places are dropped that are the anchor.
//
// Another scaling of the desktop is another matter than another place: there the
// anchor is stretched, not the screen, and looked for in each size by itself.
//
// All places are in the screen's own coordinates.
package vision

import (
	"errors"
	"fmt"
	"image"
)

// Options say how to look for an anchor.
type Options struct {
	// MinScore is the least score of a match, over 0 and up to 1. Required.
	MinScore float64
	// Region limits the search to a part of the screen; a match lies in it
	// whole. Empty means the whole screen.
	Region image.Rectangle
	// Margin is how much better the best match must be than any other to be
	// chosen. 0 means 0.03.
	Margin float64
	// Scales are the sizes in which to look for the anchor, as ratios of the
	// screen's pixels to the anchor's, 0.1 to 10: 1.5 finds on a desktop at 150 %
	// what was recorded at 100 %. If 1 is among them it is tried first, the
	// others only when it finds nothing; of these the best counts, and they are
	// as ambiguous among each other as places of one size are. A size in which
	// the anchor does not fit or has no structure is passed over, unless that
	// is so in all. Empty means 1 alone. Ratios lists the usual ones.
	Scales []float64
	// Done ends a search when it is closed, within a line of the screen; nil: nothing
	// does. A large screen takes seconds in several sizes.
	Done <-chan struct{}
}

const defaultMargin = 0.03

// Match is a place where the anchor was found.
type Match struct {
	Bounds image.Rectangle
	Score  float64 // 1 is the same picture, up to brightness and contrast
	Scale  float64 // the one of Options.Scales in which it was found
}

// Center is the pixel in the middle of the match.
func (m Match) Center() image.Point {
	return image.Pt((m.Bounds.Min.X+m.Bounds.Max.X)/2, (m.Bounds.Min.Y+m.Bounds.Max.Y)/2)
}

// Errors of Find and FindAll.
var (
	// ErrNotFound says that no place reaches the least score; the error is a
	// *NotFoundError.
	ErrNotFound = errors.New("the anchor is not on the screen")
	// ErrAmbiguous says that several places match about equally well; the error
	// is an *AmbiguousError.
	ErrAmbiguous = errors.New("the anchor is on the screen more than once")
	// ErrUniform says that the anchor is of one brightness: it is everywhere
	// and nowhere.
	ErrUniform = errors.New("the anchor has no structure")
	// ErrTooLarge says that the anchor does not fit into the searched region.
	ErrTooLarge = errors.New("the anchor is larger than the searched region")
	// ErrInvalid says that options or pictures make no sense.
	ErrInvalid = errors.New("invalid")
	// ErrStopped says that Options.Done ended the search.
	ErrStopped = errors.New("the search was stopped")
)

// NotFoundError says how close the search came.
type NotFoundError struct {
	// Best is the best place. Its score is 0 when nothing on the screen comes
	// within 0.05 of the least score: what is further off is not followed up.
	Best     Match
	MinScore float64
}

func (e *NotFoundError) Error() string {
	if e.Best.Score == 0 {
		return fmt.Sprintf("%v: nothing comes near a score of %.3f", ErrNotFound, e.MinScore)
	}
	return fmt.Sprintf("%v: best score %.3f at %v, need %.3f", ErrNotFound, e.Best.Score, e.Best.Bounds.Min, e.MinScore)
}

func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// AmbiguousError carries the two best matches.
type AmbiguousError struct{ First, Second Match }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%v: score %.3f at %v and %.3f at %v", ErrAmbiguous,
		e.First.Score, e.First.Bounds.Min, e.Second.Score, e.Second.Bounds.Min)
}

func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }

// Find returns the one place where anchor is on the screen.
func Find(screen, anchor image.Image, o Options) (Match, error) {
	margin := o.Margin
	if margin == 0 {
		margin = defaultMargin
	}
	found, best, err := search(screen, anchor, o)
	switch {
	case err != nil:
		return Match{}, err
	case len(found) == 0:
		return Match{}, &NotFoundError{Best: best, MinScore: o.MinScore}
	case len(found) > 1 && found[0].Score-found[1].Score < margin:
		return Match{}, &AmbiguousError{First: found[0], Second: found[1]}
	}
	return found[0], nil
}

// FindAll returns every place where anchor is on the screen, the best first;
// of places that lie within half an anchor of each other, the smaller one if
// they are of different scales, only the best. No place is a *NotFoundError.
func FindAll(screen, anchor image.Image, o Options) ([]Match, error) {
	found, best, err := search(screen, anchor, o)
	if err == nil && len(found) == 0 {
		err = &NotFoundError{Best: best, MinScore: o.MinScore}
	}
	return found, err
}
