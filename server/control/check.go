package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/internal/kind"
	"github.com/reprise-rpa/reprise/internal/runnable"
	"github.com/reprise-rpa/reprise/server/evidence"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// actionList is the actions of a request.
type actionList struct {
	field   string // of the request, such as workflow.actions
	actions []*reprisev1.Action
	monitor *reprisev1.MonitorResolution // where an action names none of its own
}

func (l actionList) at(i int) string { return fmt.Sprintf("%s[%d]", l.field, i) }

// check refuses what the schema's own limits cannot say.
func (l actionList) check() error {
	var faults validation.Faults
	names := map[string]int{}
	for i, a := range l.actions {
		if first, ok := names[a.GetName()]; ok && a.GetName() != "" {
			faults.Add(l.at(i)+".name", fmt.Sprintf("action %d has the name %q already", first, a.GetName()), "")
		}
		names[a.GetName()] = i
		checkAction(a, l.at(i), &faults)
	}
	return faults.Err()
}

func checkAction(a *reprisev1.Action, field string, faults *validation.Faults) {
	k := kind.Of(a)
	switch {
	case k.Name == "":
		faults.Add(field+".kind", "exactly one kind must be set", "")
	case k.ServerSide && a.GetPauseForHuman() == nil:
		faults.Add(field+"."+k.Name, "this server executes no "+k.Name+" actions", "")
	}
	for _, f := range runnable.Faults(a) {
		why := f.Why
		if len(f.Needed) > 0 {
			why += " (one of " + strings.Join(f.Needed, ", ") + " would do)"
		}
		faults.Add(field+"."+f.Path, why, "")
	}
	for _, p := range places(a) {
		if img := p.GetAnchorImage(); img != nil && img.GetSha256() == "" {
			faults.Add(field+"."+p.field+".anchor_image.sha256", "the picture's digest is missing; reprisectl sets it", "")
		}
	}
}

// place is where an action goes, and the field that says so.
type place struct {
	field string
	*reprisev1.Target
}

func places(a *reprisev1.Action) [2]place {
	return [2]place{{"target", a.GetTarget()}, {"drag.to", a.GetDrag().GetTo()}}
}

// checkWorld refuses actions that the machine or the store of pictures, as they
// are now, make impossible.
func (s *Service) checkWorld(machineID string, l actionList) error {
	if err := checkMonitors(s.cfg.Registry.Machine(machineID), l); err != nil {
		return err
	}
	return s.checkPictures(l)
}

// checkMonitors refuses an action that goes to a monitor which the machine's
// desktop does not have. Nothing is known of the monitors of a machine whose agent
// is away or says nothing of them, or whose desktop cannot take input: there the
// agent decides when the action comes.
func checkMonitors(m registry.Machine, l actionList) error {
	if m.SessionID == "" || len(m.Info.Monitors) == 0 || !takesInput(m.Info) {
		return nil
	}
	unknown := func(r *reprisev1.MonitorResolution) bool {
		return r != nil && !slices.ContainsFunc(m.Info.Monitors, func(mon registry.Monitor) bool { return mon.Index == int(r.GetIndex()) })
	}
	const why = "the machine's desktop has no monitor with this index"
	var faults validation.Faults
	byDefault := false
	for i, a := range l.actions {
		own := a.GetMonitorResolution()
		switch {
		case !kind.Of(a).Visual: // it goes to no monitor
		case unknown(own):
			faults.Add(l.at(i)+".monitor_resolution.index", why, "")
		case own == nil && !byDefault && unknown(l.monitor):
			byDefault = true // said once, not for each action
			faults.Add("workflow.monitor_resolution.index", why, "")
		}
	}
	return faults.Err()
}

// takesInput says whether a desktop takes input, as far as is known.
func takesInput(i registry.Info) bool {
	switch reprisev1.DesktopStateKind(i.DesktopKind) {
	case reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_UNSPECIFIED, reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE:
		return true
	}
	return false
}

// checkPictures refuses actions whose anchors an agent could not fetch, and keeps
// the others from being forgotten before a replay names them.
func (s *Service) checkPictures(l actionList) error {
	there := map[string]bool{}
	for i, a := range l.actions {
		for _, p := range places(a) {
			digest := p.GetAnchorImage().GetSha256()
			if digest == "" || there[digest] {
				continue
			}
			err := s.cfg.Pictures.Touch(digest)
			if errors.Is(err, evidence.ErrNotFound) {
				return &rpcstatus.Coded{Code: codes.FailedPrecondition, Reason: "PICTURE_MISSING",
					Err: fmt.Errorf("%s: the anchor picture %s was not uploaded", l.at(i), digest)}
			}
			if err != nil {
				return err
			}
			there[digest] = true
		}
	}
	return nil
}
