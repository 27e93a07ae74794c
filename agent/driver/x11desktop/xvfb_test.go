//go:build x11

// The tests of this file and its neighbours need Xvfb and xterm; `make test-x11`
// runs them.

package x11desktop

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long the tests wait for what the display and its programs do.
const patience = time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, config Config) *Driver {
	t.Helper()
	d, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
