package x11desktop

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestAWindowIsLookedForUntilItIsInFrontOrItsTimeIsOver(t *testing.T) {
	gone := errors.New("the display is gone")
	for _, c := range []struct {
		name string
		look time.Duration // what one takes
		says []error       // look by look; the last one again and again
		want error
		took time.Duration
	}{
		{"it is there", 0, []error{nil}, nil, 0},
		{"it comes", 0, []error{driver.ErrNotInFront, driver.ErrNotInFront, nil}, nil, 2 * focusPause},
		{"it does not come", 0, []error{driver.ErrNotInFront}, driver.ErrNotInFront, focusBound},
		{"it comes while the first look lasts", 5 * time.Second, []error{driver.ErrNotInFront, nil}, nil, 10*time.Second + focusPause},
		{"nobody can look", 0, []error{driver.ErrNotInFront, gone}, gone, focusPause},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, looks := time.Now(), 0
			err := lookAgain(t.Context(), focusBound, focusPause, func() error {
				time.Sleep(c.look)
				looks++
				return c.says[min(looks, len(c.says))-1]
			})
			if took := time.Since(began); !errors.Is(err, c.want) || took != c.took {
				t.Errorf("%s: %v after %v, want %v after %v", c.name, err, took, c.want, c.took)
			}
		})
	}
}
