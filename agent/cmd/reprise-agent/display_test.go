//go:build unix

package main

import (
	"errors"
	"strings"
	"testing"
)

func TestTheDisplayIsTheOneThatIsSet(t *testing.T) {
	t.Setenv("DISPLAY", ":9077")
	for display, more := range map[string][]string{"9077": nil, "9078": {"--display", ":9078"}} {
		p := newPlane(t)
		start(t, append([]string{"--server", p.address, "--machine", "m", "--state-dir", t.TempDir()}, more...)...)
		if state := p.accept().Hello.GetDesktopState(); !strings.Contains(state.GetDetail(), display) {
			t.Errorf("with %v the desktop is %v", more, state)
		}
	}
}

func TestADesktopOfAnotherSystemIsRefusedWithWhatThereIs(t *testing.T) {
	for _, driver := range []string{driverWindows, driverSession} {
		err := execute(t.Context(), &watched{}, "run", "--machine=m", "--state-dir="+t.TempDir(), "--driver="+driver)
		if !errors.Is(err, errSettings) || !strings.Contains(err.Error(), "--driver x11") {
			t.Errorf("%s: %v", driver, err)
		}
	}
}
