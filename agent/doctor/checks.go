package doctor

import (
	"context"
	"runtime"
	"strings"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
)

// checks are all checks, in their order: the machine, its desktop, the agent's files,
// the server. Their ids are stable.
var checks = []check{
	{id: "version", why: "people who help need to know it", look: lookVersion},
	{id: "settings", why: "the agent does not start with settings that are wrong", look: lookSettings},
	{id: "service", why: "a service starts with the machine and again when it dies; only as LocalSystem may it start a helper for a user, and in session 0 it sees no desktop itself", look: lookService},
	{id: "session", why: "the hands and eyes live in one user's session, and there must be one that a screen shows", look: lookSession},
	{id: "lock", why: "on a locked desktop nothing is executed; it locks by itself when nobody uses it", look: lookLock},
	{id: "power", why: "a machine that sleeps is away; a monitor that is switched off may take its part of the desktop with it", look: lookPower},
	{id: "desktop", why: "input goes to one desktop at a time; a consent prompt or the lock screen is another one", look: lookDesktop},
	{id: "rights", why: "Windows drops input to a program with more rights than the sender's, and says nothing", look: lookRights},
	{id: "display", why: "places are in physical pixels: the program must be told them unscaled, and enough of them", look: lookDisplay},
	{id: "viewer", why: "what runs in a remote viewer is seen and typed into only through its window", look: lookViewer},
	{id: "automation", why: "targets with uiaTarget are looked for by UI Automation", look: lookAutomation},
	{id: "signs", why: "the stop key and the pause for a person's own input need hooks, the state and \"stop now\" need the notification area", look: lookSigns},
	{id: "token", why: "who has the machine's token is the machine, for the server", look: lookToken},
	{id: "secrets", why: "who can read the secrets has them", only: func(s Settings) bool { return s.SecretsDir != "" }, look: lookSecrets},
	{id: "state-dir", why: "what was done is remembered there, so that nothing is done twice; without it the agent executes nothing", look: lookStateDir},
	{id: "log-file", why: "an agent that can't write its log does not start", only: func(s Settings) bool { return s.LogFile != "" }, look: lookLogFile},
	{id: "spool", why: "one agent at a time uses a memory, and a damaged one is never worked around", look: lookSpool},
	{id: "server", why: "actions come from it", look: lookServer},
	{id: "certificate", why: "when it ends no agent connects any more", look: lookCertificate},
	{id: "access", why: "the server takes the machine's agent by its token", look: lookAccess},
	{id: "clock", why: "times in logs and evidence are compared; nothing is decided by them", look: lookClock},
	{id: "idle", why: "what lies between may close streams on which nobody says anything; actions sent into that gap come late", only: func(s Settings) bool { return s.Idle > 0 }, look: lookIdle},
	{id: "input", why: "only input that was sent and seen shows that it arrives", only: func(s Settings) bool { return s.SelfTest }, look: lookInput},
}

// IDs are the ids of all checks, those included that are made on request alone.
func IDs() []string {
	list := make([]string, len(checks))
	for i, c := range checks {
		list[i] = c.id
	}
	return list
}

func lookVersion(context.Context, Facts, Settings) answer {
	return ok("%s, %s/%s", buildinfo.Version(), runtime.GOOS, runtime.GOARCH)
}

func lookSettings(_ context.Context, _ Facts, s Settings) answer {
	source := s.Source
	if source == "" {
		source = "flags and environment"
	}
	if len(s.Faults) > 0 {
		return fault("give the flags, the configuration file or the variables that the agent is started with; `reprise-agent run --help` lists them",
			"%s (%s)", strings.Join(s.Faults, "; "), source)
	}
	return ok("driver %s, server %s, from %s", s.Driver, s.Server, source)
}
