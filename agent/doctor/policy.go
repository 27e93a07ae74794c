package doctor

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// registry is what is read of the registry; winapi.System has it.
type registry interface {
	// RegistryText reads a text. False: it is not there.
	RegistryText(h winapi.Hive, path, name string) (string, bool, error)
	// RegistryNumber reads a number. False: it is not there.
	RegistryNumber(h winapi.Hive, path, name string) (uint64, bool, error)
}

// Where Windows keeps what locks a session.
const (
	usersDesktop   = `Control Panel\Desktop`
	policysDesktop = `Software\Policies\Microsoft\Windows\Control Panel\Desktop`            // ControlPanelDisplay.admx
	machinePolicy  = `Software\Microsoft\Windows\CurrentVersion\Policies\System`            // Interactive logon: Machine inactivity limit
	deviceLock     = `Software\Microsoft\PolicyManager\current\device\DeviceLock`           // the DeviceLock policies of device management
	remoteSessions = `Software\Policies\Microsoft\Windows NT\Terminal Services`             // TerminalServer.admx
	remoteListener = `System\CurrentControlSet\Control\Terminal Server\WinStations\RDP-Tcp` // what holds without a policy
)

// reading reads several values and keeps the errors.
type reading struct {
	registry
	errs []error
}

func (r *reading) text(h winapi.Hive, path, name string) (string, bool) {
	value, found, err := r.RegistryText(h, path, name)
	r.errs = append(r.errs, err)
	return strings.TrimSpace(value), found && err == nil
}

// number is a number; 0 when it is not there.
func (r *reading) number(h winapi.Hive, path, name string) time.Duration {
	value, _, err := r.RegistryNumber(h, path, name)
	r.errs = append(r.errs, err)
	if err != nil || value > 1<<32-1 { // no more than a DWORD
		return 0
	}
	return time.Duration(value)
}

// policied is a setting of the user's desktop: the group policy's, else the user's.
func (r *reading) policied(name string) (value string, byPolicy bool) {
	if value, found := r.text(winapi.CurrentUser, policysDesktop, name); found {
		return value, true
	}
	value, _ = r.text(winapi.CurrentUser, usersDesktop, name)
	return value, false
}

// readLockPolicy puts together what locks a session. Values that are read take part
// even when others are not to be had; those are the error if nothing locks it.
func readLockPolicy(from registry) (LockPolicy, error) {
	r := &reading{registry: from}
	p := LockPolicy{
		MachineInactivity: r.number(winapi.LocalMachine, machinePolicy, "InactivityTimeoutSecs") * time.Second,
		DeviceLock:        r.number(winapi.LocalMachine, deviceLock, "MaxInactivityTimeDeviceLock") * time.Minute,
		RemoteIdle:        r.remote("MaxIdleTime"),
		RemoteGone:        r.remote("MaxDisconnectionTime"),
	}
	r.screenSaver(&p)
	if err := errors.Join(r.errs...); err != nil && len(p.locks()) == 0 {
		return LockPolicy{}, err
	}
	return p, nil
}

// remote is a limit of remote sessions: a policy's, of the machine before the user's,
// else the listener's. They are in milliseconds.
func (r *reading) remote(name string) time.Duration {
	return time.Millisecond * cmp.Or(
		r.number(winapi.LocalMachine, remoteSessions, name),
		r.number(winapi.CurrentUser, remoteSessions, name),
		r.number(winapi.LocalMachine, remoteListener, name),
	)
}

// screenSaver fills in what locks by the screen saver: it must be on, ask for the
// password, have a time, and be there.
func (r *reading) screenSaver(p *LockPolicy) {
	on, onPolicy := r.policied("ScreenSaveActive")
	secure, securePolicy := r.policied("ScreenSaverIsSecure")
	timeout, _ := r.policied("ScreenSaveTimeOut")
	program, _ := r.policied("SCRNSAVE.EXE")
	seconds, err := strconv.ParseUint(timeout, 10, 31)
	if err != nil {
		return // without a time there is none
	}
	p.SaverTimeout = time.Duration(seconds) * time.Second
	if on == "1" && secure == "1" && program != "" {
		p.ScreenSaver, p.ByPolicy = p.SaverTimeout, onPolicy || securePolicy
	}
}

// powerSettings is what is asked of the power plan; winapi.System has it.
type powerSettings interface {
	// PowerSetting is the value of a setting, plugged in or on battery.
	PowerSetting(group, setting winapi.PowerGUID, onBattery bool) (uint32, error)
}

// readPower puts together after which time what is switched off. It is an error only
// when nothing could be read.
func readPower(from powerSettings) (Power, error) {
	var p Power
	var errs []error
	read := 0
	for _, one := range []struct {
		group, setting winapi.PowerGUID
		plugged, batt  *time.Duration
	}{
		{winapi.PowerVideo, winapi.PowerVideoOff, &p.Plugged.Screen, &p.Battery.Screen},
		{winapi.PowerSleep, winapi.PowerStandby, &p.Plugged.Sleep, &p.Battery.Sleep},
		{winapi.PowerSleep, winapi.PowerHibernate, &p.Plugged.Hibernate, &p.Battery.Hibernate},
	} {
		for _, source := range []struct {
			onBattery bool
			to        *time.Duration
		}{{false, one.plugged}, {true, one.batt}} {
			seconds, err := from.PowerSetting(one.group, one.setting, source.onBattery)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			read++
			*source.to = time.Duration(seconds) * time.Second
		}
	}
	if read == 0 {
		return Power{}, errs[0]
	}
	return p, nil
}
