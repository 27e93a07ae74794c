package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/supervise"
)

func lookService(_ context.Context, f Facts, s Settings) answer {
	info, err := f.Service()
	switch {
	case errors.Is(err, service.ErrNotElevated):
		return unknown("run doctor in a console that was opened with \"Run as administrator\"", "only an administrator may ask for the service")
	case err != nil:
		return without(err)
	case !info.Installed && s.Driver == driverSession:
		return warning("`reprise-agent service install`, unless something else starts `reprise-agent run`",
			"it is not installed, though the driver is session")
	case !info.Installed:
		return ok("it is not installed; the agent runs in the user's session by itself")
	case s.Driver != driverSession:
		return fault("one of them is enough: `reprise-agent service uninstall`, or set driver session for the service and start no other agent",
			"it is installed, and the driver is %s: a service sees no desktop in session 0, and two agents hold one machine in turn", s.Driver)
	}
	return judgeService(info)
}

// judgeService judges a service that starts helpers.
func judgeService(info service.Info) answer {
	how := sentence(info.State, info.StartType, accountOf(info))
	reason := info.Explained().Reason
	switch {
	case !service.IsLocalSystem(info.Account):
		return fault("`reprise-agent service install --force` without --account",
			"it runs as %s: only LocalSystem may start a helper in a user's session", info.Account)
	case info.State == service.Stopped.String() && reason != "":
		return fault("mend what it says, then `reprise-agent service start`", "it has ended with a fault: %s", reason)
	case info.State != service.Running.String():
		return warning("`reprise-agent service start`; a paused one goes on with `sc continue reprise-agent`", "%s", how)
	case info.StartType == "manual" || info.StartType == "disabled":
		return warning("`sc config reprise-agent start= delayed-auto`", "%s: after a restart of the machine nobody starts it", how)
	}
	return ok("%s", how)
}

func accountOf(info service.Info) string {
	if info.Account == "" {
		return "this Windows does not tell its account"
	}
	return "as " + info.Account
}

func lookSession(ctx context.Context, f Facts, s Settings) answer {
	all, err := f.Sessions(ctx, s.User)
	switch {
	case err != nil:
		return without(err)
	case s.Driver == driverSession:
		return judgeChosen(all)
	case s.Driver == driverWindows && all.Own == 0:
		return fault("start the agent in the session of the user whose desktop it drives, or as a service with driver session",
			"this process is in session 0, the services' own, where there is no desktop for people; %s", listed(all))
	case s.Driver == driverWindows:
		for _, one := range all.List {
			if one.ID == all.Own {
				return judgeSession(one, all)
			}
		}
	}
	return ok("%s", listed(all))
}

// judgeChosen judges the session in which the helper would live.
func judgeChosen(all Sessions) answer {
	if all.Chosen == nil {
		return warning("log the user on whose desktop is driven; work waits until then, and nothing is lost",
			"no helper can live anywhere: %s; %s", all.Why, listed(all))
	}
	return judgeSession(*all.Chosen, all)
}

func judgeSession(one supervise.Session, all Sessions) answer {
	switch {
	case one.State == supervise.Disconnected:
		return warning(fmt.Sprintf("connect to it again, or bring it to the machine's own screen: `tscon %d /dest:console`", one.ID),
			"no screen shows %s: nothing is executed until one does; %s", one, listed(all))
	case one.Locked:
		return warning("unlock it; for a desktop without people switch the lock off, see check lock",
			"%s is locked: nothing is executed until it is unlocked; %s", one, listed(all))
	}
	return ok("hands and eyes are in %s; %s", one, listed(all))
}

// listed names all sessions.
func listed(all Sessions) string {
	var parts []string
	for _, s := range all.List {
		if s.Unseen != nil {
			parts = append(parts, fmt.Sprintf("%d, not known: %v", s.ID, s.Unseen))
			continue
		}
		if s.User == "" {
			parts = append(parts, fmt.Sprintf("%d of nobody", s.ID))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d of %s, %s", s.ID, s.Account(), shown(s)))
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	return fmt.Sprintf("sessions: %s; this process is in %d", strings.Join(parts, ", "), all.Own)
}

func shown(s supervise.Session) string {
	switch {
	case s.State == supervise.Disconnected:
		return "disconnected"
	case s.Locked:
		return "locked"
	case s.State == supervise.Active:
		return "active"
	}
	return "without a logon"
}

func lookLock(_ context.Context, f Facts, s Settings) answer {
	p, err := f.LockPolicy()
	if err != nil {
		return without(err)
	}
	locks := p.locks()
	if len(locks) == 0 {
		return ok("nothing locks the session of this user by itself")
	}
	toDo := "on a desktop without people switch it off; where a policy sets it, ask for an exception for this machine"
	if s.Driver == driverSession {
		toDo += "; run doctor as the user whose desktop is driven, since the screen saver is each user's own"
	}
	return warning(toDo, "%s", strings.Join(locks, "; "))
}

// locks is what locks or ends a session, for people.
func (p LockPolicy) locks() []string {
	var said []string
	say := func(after time.Duration, format string) {
		if after > 0 {
			said = append(said, fmt.Sprintf(format, after))
		}
	}
	saver := "the screen saver locks it after %v without input"
	if p.ByPolicy {
		saver += ", set by a group policy"
	}
	say(p.ScreenSaver, saver)
	limit := p.MachineInactivity
	if limit > 0 && p.SaverTimeout > 0 {
		// Windows then counts the time of a screen saver that is off as well.
		limit = min(limit, p.SaverTimeout)
	}
	say(limit, "the machine's inactivity limit locks it after %v without input (InactivityTimeoutSecs)")
	say(p.DeviceLock, "the device management locks it after %v without input (MaxInactivityTimeDeviceLock)")
	say(p.RemoteIdle, "a remote session is disconnected after %v without input (MaxIdleTime)")
	say(p.RemoteGone, "a disconnected session is ended after %v, with all programs in it (MaxDisconnectionTime)")
	return said
}

func lookPower(_ context.Context, f Facts, _ Settings) answer {
	p, err := f.Power()
	if err != nil {
		return without(err)
	}
	said := append(p.Plugged.saves("plugged in"), p.Battery.saves("on battery")...)
	if len(said) == 0 {
		return ok("neither the machine nor its monitors are switched off for want of input")
	}
	toDo := "`powercfg /change monitor-timeout-ac 0`, or leave it where people sit at the machine"
	if p.Plugged.Sleep > 0 || p.Plugged.Hibernate > 0 {
		toDo = "`powercfg /change standby-timeout-ac 0`, `powercfg /change hibernate-timeout-ac 0`, `powercfg /change monitor-timeout-ac 0`"
	}
	if p.Plugged == (PowerPlan{}) {
		return ok("plugged in nothing is switched off; %s", strings.Join(said, "; "))
	}
	return warning(toDo, "%s", strings.Join(said, "; "))
}

func (p PowerPlan) saves(where string) []string {
	var said []string
	for _, one := range []struct {
		what  string
		after time.Duration
	}{{"the machine sleeps", p.Sleep}, {"the machine hibernates", p.Hibernate}, {"the monitor is switched off", p.Screen}} {
		if one.after > 0 {
			said = append(said, fmt.Sprintf("%s %s after %v", where, one.what, one.after))
		}
	}
	return said
}

// named is a name for people, or what stands for one that is empty.
func named(name, empty string) string { return cmp.Or(name, empty) }
