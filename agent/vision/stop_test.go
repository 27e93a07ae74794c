package vision

import (
	"errors"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/vision/screens"
)

// It is stopped within a line: what a whole search takes is mostly its lines.
func TestASearchEndsWhenItIsStopped(t *testing.T) {
	s := screens.Kinds()[3].Missing(largeScreen, square64, 1)
	done := make(chan struct{})
	close(done)
	began := time.Now()
	for range 4 {
		if _, err := Find(s.Screen, s.Anchor, Options{MinScore: 0.95, Done: done}); !errors.Is(err, ErrStopped) {
			t.Fatalf("Find = %v", err)
		}
	}
	stopped := time.Since(began)
	began = time.Now()
	if _, err := Find(s.Screen, s.Anchor, Options{MinScore: 0.95, Done: make(chan struct{})}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Find = %v", err)
	}
	if whole := time.Since(began); stopped/4 > whole/2 {
		t.Errorf("a search that was stopped took %v, a whole one %v", stopped/4, whole)
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
