//go:build wine

package cases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// long is three with a text that takes seconds to type.
var long = play{
	steps: strings.Replace(three.steps, `"hé€"`, `"`+longText+`"`, 1),
	marks: []string{"note focused", "note typed " + longText, "save clicked"},
}

var longText = strings.Repeat("né€", 200)

// openService is openOnWindows with the agent as a service of Wine's service control
// manager, which is installed and not started.
func openService(t *testing.T, p play, flags ...string) *theatre {
	t.Helper()
	th := openStageOnWindows(t, p)
	th.passAll()
	_, _ = th.service("uninstall") // one that a killed run has left
	t.Cleanup(func() {
		if _, err := th.service("uninstall"); err != nil {
			t.Errorf("uninstall: %v", err)
		}
	})
	install := append(th.AgentFlags(), "--force", "--reconnect-backoff", "100ms",
		"--log-file", th.AgentPath(filepath.Join(th.Dir, "agent.log")), "--log-level", "debug")
	out, err := th.service("install", append(install, flags...)...)
	if err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	return th
}

// service runs one of the service's commands, and returns what it says.
func (th *theatre) service(command string, flags ...string) (string, error) {
	th.t.Helper()
	ctx, done := context.WithTimeout(context.WithoutCancel(th.ctx), patience) // also when the test is over
	defer done()
	args := append([]string{filepath.Join(th.Bin, "reprise-agent.exe"), "service", command}, flags...)
	p, err := testkit.Start(ctx, "service "+command, th.Log, nil, "wine", args...)
	th.must(err)
	err = p.Wait(ctx)
	return p.Output(), err
}

func (th *theatre) mustService(command string, flags ...string) string {
	th.t.Helper()
	out, err := th.service(command, flags...)
	if err != nil {
		th.t.Fatalf("service %s: %v\n%s", command, err, out)
	}
	return out
}

func (th *theatre) machine() *reprisev1.Machine {
	th.t.Helper()
	m, err := th.GetMachine(th.ctx)
	th.must(err)
	return m
}

// B11: the service has no desktop; its helper in the user's session has.
func TestService_B11_ItsHelperDrivesTheDesktop(t *testing.T) {
	th := openService(t, three)
	if n := len(th.helpers()); n != 0 {
		t.Errorf("a service that is not started has %d helpers", n)
	}
	th.mustService("start")
	th.settled()
	if n := len(th.helpers()); n != 1 {
		t.Errorf("it has %d helpers, not one", n)
	}
	if out := th.mustService("status"); !strings.Contains(out, "running") {
		t.Errorf("status says %q", out)
	}
	th.mustService("stop")
	if n := len(th.helpers()); n != 0 {
		t.Errorf("a service that was stopped has left %d helpers", n)
	}
	th.nothingDown()
}

// B11: a service that would drive the desktop itself finds none, does nothing and says so.
func TestService_B11_ItDoesNotDriveTheDesktopItself(t *testing.T) {
	th := openService(t, three)
	if out, err := th.service("install", append(th.AgentFlags(), "--force", "--driver", "windows")...); err == nil || !strings.Contains(out, "a service sees no desktop") {
		t.Errorf("install with driver windows: %v\n%s", err, out)
	}
	// Somebody may write it into the settings all the same.
	settings, err := os.OpenFile(filepath.Join(os.Getenv("WINEPREFIX"), "drive_c/ProgramData/reprise/agent.yaml"), os.O_WRONLY|os.O_APPEND, 0)
	th.must(err)
	_, err = settings.WriteString("\ndriver: windows\n")
	th.must(errors.Join(err, settings.Close()))
	th.mustService("start")
	var m *reprisev1.Machine
	th.until("the machine is connected", func() bool {
		m = th.machine()
		return m.GetConnected() && m.GetDesktopState() != nil
	})
	if m.GetDesktopState().GetKind() == reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE {
		t.Errorf("the desktop of a service is %v", m.GetDesktopState())
	}
	th.mustService("stop")
	if got := th.counted(); len(got) > 0 {
		t.Errorf("the desktop counted %q", got)
	}
	if a := firstAction(th.get(), 1); a.GetDeliveries() > 0 {
		t.Errorf("the first step was delivered %d times", a.GetDeliveries())
	}
}

// B11, B19: the helper dies in the middle of an action. A person is asked, nothing runs
// twice, no key stays down, and the next helper goes on.
func TestService_B19_AHelperKilledInTheMiddleLeavesNothingDownAndNothingRunsTwice(t *testing.T) {
	th := openService(t, long)
	th.mustService("start")
	th.until("a part of the text is typed", func() bool {
		seen := th.counted()
		return len(seen) == middleStep && len(seen[middleStep-1]) > len("note typed né€")
	})
	th.killHelper()
	r := th.paused(reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN)
	if got := stepOf(r.GetPause().GetActionToDecide()); got != middleStep {
		t.Errorf("the person is asked about step %d, want %d", got, middleStep)
	}
	th.until("another helper is there", func() bool { return len(th.helpers()) == 1 })
	th.until("the machine takes input", func() bool {
		return th.machine().GetDesktopState().GetKind() == reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE
	})
	th.decideOnWindows()
	th.settled()
}

// A service that is stopped in the middle of an action lets it come to its end or to a
// safe point, and goes on from there when it is started again.
func TestService_StoppedInTheMiddleItEndsInOrder(t *testing.T) {
	th := openService(t, three)
	th.mustService("start")
	th.until("the first step has its effect", func() bool { return len(th.counted()) > 0 })
	th.mustService("stop")
	th.nothingDown()
	th.mustService("start")
	th.settled()
}
