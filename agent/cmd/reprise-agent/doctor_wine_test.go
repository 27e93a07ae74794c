//go:build windows && wine

package main

import (
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/doctor"
)

// The whole command, on this Windows: its input arrives, and each check says something.
func TestDoctorExaminesAWindowsAndItsSelfTestTypes(t *testing.T) {
	args := []string{
		"--machine", "m", "--state-dir", t.TempDir(), "--server", "127.0.0.1:1", "--driver", "windows",
		"--min-display", "800x600", "--selftest", "--idle", "0s",
	}
	out, said, err := examined(t, t.TempDir(), nil, append(args, "--json")...)
	if exitCode(err) != exitFault || said == "" { // nothing listens at the server's address
		t.Errorf("%v, %q", err, said)
	}
	for id, want := range map[string]doctor.Result{
		"version": doctor.OK, "settings": doctor.OK, "service": doctor.OK, "session": doctor.OK, "desktop": doctor.OK, "display": doctor.OK,
		"rights": doctor.OK, "viewer": doctor.OK, "state-dir": doctor.OK, "spool": doctor.OK, "server": doctor.Fault, "access": doctor.Unknown, "input": doctor.OK,
	} {
		if got := reported(t, out, id); got.Result != want {
			t.Errorf("%s: %+v", id, got)
		}
	}
	for _, id := range []string{"lock", "power", "automation", "signs", "token", "certificate", "clock"} {
		t.Logf("%+v", reported(t, out, id)) // it depends on the Windows
	}
	if text, _, _ := examined(t, t.TempDir(), nil, args...); !strings.Contains(text, "ok        input        the pointer went one pixel and came back") {
		t.Errorf("%s", text)
	}
}
