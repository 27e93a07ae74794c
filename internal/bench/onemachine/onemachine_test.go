package onemachine

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheRatioIsInUnitsOfWhatARoundTripMayTake(t *testing.T) {
	const raw, commit = 200 * time.Microsecond, 400 * time.Microsecond
	for trip, want := range map[time.Duration]float64{850 * time.Microsecond: 1, 1700 * time.Microsecond: 2} {
		if got := ratio(trip, raw, commit); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v, want %v", trip, got, want)
		}
	}
	if got := ratio(500*time.Microsecond, raw, 0); got != 2 {
		t.Errorf("with commits switched off: %v", got)
	}
}

func TestAFolderOnDiskIsNotTakenForOneInMemory(t *testing.T) {
	if notInMemory(filepath.Join(t.TempDir(), "missing")) == "" {
		t.Error("a folder that is not there passes for memory")
	}
	if wd, err := os.Getwd(); err != nil || notInMemory(wd) == "" {
		t.Errorf("the folder of this package passes for memory (%v)", err)
	}
}
