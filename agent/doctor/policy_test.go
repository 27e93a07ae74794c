package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// hive is a registry: texts and numbers by hive, path and name.
type hive map[string]any

func key(h winapi.Hive, path, name string) string {
	return map[winapi.Hive]string{winapi.CurrentUser: "HKCU", winapi.LocalMachine: "HKLM"}[h] + `\` + path + `\` + name
}

func (r hive) RegistryText(h winapi.Hive, path, name string) (string, bool, error) {
	return value[string](r[key(h, path, name)])
}

func (r hive) RegistryNumber(h winapi.Hive, path, name string) (uint64, bool, error) {
	n, found, err := value[int](r[key(h, path, name)])
	return uint64(n), found, err //nolint:gosec // no test has a negative one
}

func value[T any](v any) (T, bool, error) {
	var zero T
	if err, failed := v.(error); failed {
		return zero, false, err
	}
	found, ok := v.(T)
	return found, ok, nil
}

// with adds values to a screen saver that locks after ten minutes.
func with(values hive) hive {
	all := hive{
		`HKCU\Control Panel\Desktop\ScreenSaveActive`: "1", `HKCU\Control Panel\Desktop\ScreenSaverIsSecure`: "1",
		`HKCU\Control Panel\Desktop\ScreenSaveTimeOut`: "600", `HKCU\Control Panel\Desktop\SCRNSAVE.EXE`: "ribbons.scr",
	}
	for k, v := range values {
		all[k] = v
	}
	return all
}

func TestB01_WhatLocksIsReadWhereWindowsKeepsIt(t *testing.T) {
	const policy = `HKCU\Software\Policies\Microsoft\Windows\Control Panel\Desktop\`
	const saved = 10 * time.Minute
	for _, c := range []struct {
		name string
		reg  hive
		want LockPolicy
	}{
		{"nothing is set", hive{}, LockPolicy{}},
		{"a screen saver that locks", with(nil), LockPolicy{ScreenSaver: saved, SaverTimeout: saved}},
		{"one that is off", with(hive{`HKCU\Control Panel\Desktop\ScreenSaveActive`: "0"}), LockPolicy{SaverTimeout: saved}},
		{"one that asks for no password", with(hive{`HKCU\Control Panel\Desktop\ScreenSaverIsSecure`: "0"}), LockPolicy{SaverTimeout: saved}},
		{"one without a program", with(hive{`HKCU\Control Panel\Desktop\SCRNSAVE.EXE`: ""}), LockPolicy{SaverTimeout: saved}},
		{"one without a time", with(hive{`HKCU\Control Panel\Desktop\ScreenSaveTimeOut`: "soon"}), LockPolicy{}},
		{"a policy wins over the user", with(hive{policy + "ScreenSaveTimeOut": "60", policy + "ScreenSaveActive": "1"}), LockPolicy{ScreenSaver: time.Minute, SaverTimeout: time.Minute, ByPolicy: true}},
		{"a policy switches it off", with(hive{policy + "ScreenSaveActive": "0"}), LockPolicy{SaverTimeout: saved}},
		{"a policy makes it ask for the password", with(hive{`HKCU\Control Panel\Desktop\ScreenSaverIsSecure`: "0", policy + "ScreenSaverIsSecure": "1"}), LockPolicy{ScreenSaver: saved, SaverTimeout: saved, ByPolicy: true}},
		{"the machine's limit in seconds", hive{`HKLM\Software\Microsoft\Windows\CurrentVersion\Policies\System\InactivityTimeoutSecs`: 900}, LockPolicy{MachineInactivity: 15 * time.Minute}},
		{"the device's in minutes", hive{`HKLM\Software\Microsoft\PolicyManager\current\device\DeviceLock\MaxInactivityTimeDeviceLock`: 5}, LockPolicy{DeviceLock: 5 * time.Minute}},
		{"remote sessions' in milliseconds, the machine's policy first", hive{
			`HKLM\Software\Policies\Microsoft\Windows NT\Terminal Services\MaxIdleTime`:                      60000,
			`HKCU\Software\Policies\Microsoft\Windows NT\Terminal Services\MaxIdleTime`:                      120000,
			`HKLM\System\CurrentControlSet\Control\Terminal Server\WinStations\RDP-Tcp\MaxDisconnectionTime`: 3600000,
		}, LockPolicy{RemoteIdle: time.Minute, RemoteGone: time.Hour}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readLockPolicy(c.reg)
			if err != nil || got != c.want {
				t.Errorf("%v\n%s", err, cmp.Diff(c.want, got))
			}
		})
	}
}

func TestARegistryThatCannotBeReadIsNoPromiseThatNothingLocks(t *testing.T) {
	denied := errors.New("denied")
	limit := `HKLM\Software\Microsoft\Windows\CurrentVersion\Policies\System\InactivityTimeoutSecs`
	if _, err := readLockPolicy(hive{limit: denied}); !errors.Is(err, denied) {
		t.Errorf("error %v", err)
	}
	if got, err := readLockPolicy(with(hive{limit: denied})); err != nil || got.ScreenSaver == 0 {
		t.Errorf("what could be read is lost: %+v, %v", got, err)
	}
}

// plan is a power plan: seconds by setting, on battery the same and one more.
type plan map[winapi.PowerGUID]uint32

func (p plan) PowerSetting(_, setting winapi.PowerGUID, onBattery bool) (uint32, error) {
	seconds, there := p[setting]
	switch {
	case !there:
		return 0, winapi.ErrNotHere
	case onBattery:
		return seconds + 1, nil
	}
	return seconds, nil
}

func TestThePowerPlanIsReadAsFarAsItIsThere(t *testing.T) {
	got, err := readPower(plan{winapi.PowerVideoOff: 60, winapi.PowerStandby: 600, winapi.PowerHibernate: 0})
	want := Power{
		Plugged: PowerPlan{Screen: time.Minute, Sleep: 10 * time.Minute},
		Battery: PowerPlan{Screen: 61 * time.Second, Sleep: 601 * time.Second, Hibernate: time.Second},
	}
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if got, err = readPower(plan{winapi.PowerStandby: 5}); err != nil || got.Plugged.Sleep != 5*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = readPower(plan{}); !errors.Is(err, winapi.ErrNotHere) {
		t.Errorf("error %v", err)
	}
}

func TestB26_CrowdsThatMayReadAreNamedAndSingleUsersAreNot(t *testing.T) {
	const read, execute, all = 0x120089, 0x1200a0, 0x10000000
	got := readers([]winapi.Grant{
		{SID: "S-1-5-18", Rights: all}, {SID: "S-1-5-21-1-2-3-1001", Rights: read},
		{SID: "S-1-1-0", Rights: execute}, {SID: "S-1-5-32-545", Rights: read}, {SID: "S-1-5-32-545", Rights: read}, {SID: "S-1-5-11", Rights: all},
	})
	if diff := cmp.Diff([]string{"all users of the machine", "all users that have a password"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
