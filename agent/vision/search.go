package vision

import (
	"cmp"
	"fmt"
	"image"
	"slices"
)

// search returns the separate matches, the best first, and the best place of
// all, match or not.
func search(screen, anchor image.Image, o Options) ([]Match, Match, error) {
	turns, err := o.check()
	if err != nil {
		return nil, Match{}, err
	}
	region := screen.Bounds()
	if !o.Region.Empty() {
		region = region.Intersect(o.Region)
	}
	if anchor.Bounds().Empty() {
		return nil, Match{}, fmt.Errorf("%w: the anchor is empty", ErrInvalid)
	}
	s := searcher{screen: screen, region: region, anchor: luma(anchor, anchor.Bounds()), minScore: o.MinScore, ended: o.ended}
	for _, scales := range turns {
		for _, scale := range scales {
			if s.try(scale); o.ended() {
				return nil, Match{}, ErrStopped
			}
		}
		if len(s.hits) > 0 {
			break
		}
	}
	if s.plane.pix == nil {
		return nil, Match{}, s.refused
	}
	matches := separate(s.hits)
	for i := range matches {
		matches[i].Bounds = matches[i].Bounds.Add(region.Min)
	}
	if s.best.Score > 0 {
		s.best.Bounds = s.best.Bounds.Add(region.Min)
	}
	return matches, s.best, nil
}

// searcher looks for one anchor in one size after the other.
type searcher struct {
	screen   image.Image
	region   image.Rectangle
	anchor   plane
	minScore float64
	ended    func() bool // looked at before each line

	plane   plane   // the region, once a size fitted
	hits    []Match // of all sizes so far, in the region's coordinates
	best    Match
	refused error // why the first size that did not fit did not
}

// ended says whether a search is to end.
func (o Options) ended() bool {
	select {
	case <-o.Done:
		return true
	default:
		return false
	}
}

func (s *searcher) try(scale float64) {
	t, err := s.template(scale)
	if err != nil {
		s.refused = cmp.Or(s.refused, err)
		return
	}
	if s.plane.pix == nil {
		s.plane = luma(s.screen, s.region)
	}
	hits, best := scan(s.plane, t, s.minScore, s.ended)
	s.hits = append(s.hits, hits...)
	if best.Score > s.best.Score {
		s.best = best
	}
}

// check returns the scales to try, in turns.
func (o Options) check() ([][]float64, error) {
	if !(o.MinScore > 0 && o.MinScore <= 1) {
		return nil, fmt.Errorf("%w: least score %v", ErrInvalid, o.MinScore)
	}
	if !(o.Margin >= 0 && o.Margin <= 1) {
		return nil, fmt.Errorf("%w: margin %v", ErrInvalid, o.Margin)
	}
	return passes(o.Scales)
}

// template refuses an anchor that at this scale does not fit into the region
// or has no structure.
func (s *searcher) template(scale float64) (*template, error) {
	size, room := scaledSize(image.Pt(s.anchor.w, s.anchor.h), scale), s.region.Size()
	if size.X > room.X || size.Y > room.Y {
		return nil, fmt.Errorf("%w: %v in %v", ErrTooLarge, size, room)
	}
	t, ok := newTemplate(resample(s.anchor, size.X, size.Y), s.minScore-nearby, room.X)
	if !ok {
		return nil, ErrUniform
	}
	t.scale = scale
	return t, nil
}

// separate keeps the best of all matches that are near each other, the best
// first. Of equals the first in hits is the best.
func separate(hits []Match) []Match {
	slices.SortStableFunc(hits, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	// Near means less than a cell apart.
	cell := image.Pt(1, 1)
	for _, m := range hits {
		cell.X, cell.Y = max(cell.X, (m.Bounds.Dx()+1)/2), max(cell.Y, (m.Bounds.Dy()+1)/2)
	}
	cells := map[image.Point][]image.Rectangle{}
	var kept []Match
	for _, m := range hits {
		at := image.Pt((m.Bounds.Min.X+m.Bounds.Max.X)/(2*cell.X), (m.Bounds.Min.Y+m.Bounds.Max.Y)/(2*cell.Y))
		if nearAny(cells, at, m.Bounds) {
			continue
		}
		cells[at] = append(cells[at], m.Bounds)
		kept = append(kept, m)
	}
	return kept
}

func nearAny(cells map[image.Point][]image.Rectangle, at image.Point, r image.Rectangle) bool {
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			for _, other := range cells[at.Add(image.Pt(dx, dy))] {
				if near(r, other) {
					return true
				}
			}
		}
	}
	return false
}

// near says whether the middles of two places lie within half of the smaller
// one, in both directions.
func near(a, b image.Rectangle) bool {
	d := a.Min.Add(a.Max).Sub(b.Min.Add(b.Max)) // twice the distance
	return max(d.X, -d.X) < 2*((min(a.Dx(), b.Dx())+1)/2) && max(d.Y, -d.Y) < 2*((min(a.Dy(), b.Dy())+1)/2)
}
