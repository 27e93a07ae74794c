package vision

import (
	"errors"
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/vision/screens"
)

// It is stopped within a line: what a whole search takes is mostly its lines.
func TestASearchEndsWhenItIsStopped(t *testing.T) {
	s := screens.Kinds()[3].Missing(image.Pt(320, 200), square64, 1)
	done := make(chan struct{})
	o := Options{MinScore: 0.95, Done: done}
	if _, err := Find(s.Screen, s.Anchor, o); !errors.Is(err, ErrNotFound) {
		t.Errorf("Find = %v", err)
	}
	close(done)
	if _, err := Find(s.Screen, s.Anchor, o); !errors.Is(err, ErrStopped) {
		t.Errorf("Find = %v", err)
	}
	const after = 3 // lines
	looks := 0
	search := searcher{
		screen: s.Screen, region: s.Screen.Bounds(), anchor: luma(s.Anchor, s.Anchor.Bounds()), minScore: o.MinScore,
	}
	tpl, err := search.template(1)
	if err != nil {
		t.Fatal(err)
	}
	b := &band{screen: luma(s.Screen, s.Screen.Bounds()), template: tpl, minScore: o.MinScore, ended: func() bool { looks++; return looks > after }}
	for _, g := range tpl.grids {
		b.boxes = append(b.boxes, boxes(b.screen, g.width, g.height))
	}
	b.raise()
	b.scan(0, b.screen.h-tpl.h+1)
	if looks != after+1 {
		t.Errorf("it looked %d times whether it is to end, of which the %d. said so", looks, after+1)
	}
}

func TestAPanicInAPartIsTheCallers(t *testing.T) {
	defer func() {
		if p := recover(); p != "part" {
			t.Errorf("recovered %v", p)
		}
	}()
	inBands(4, func(from, _ int) {
		if from == 0 {
			panic("part")
		}
	})
	t.Error("it went on")
}
