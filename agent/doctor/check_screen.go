package doctor

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func lookDesktop(ctx context.Context, f Facts, s Settings) answer {
	d, err := f.Desktop(ctx)
	switch {
	case err != nil:
		return without(err)
	case d.State.Usable():
		return ok("input arrives on the desktop %s", named(d.Input, "without a name"))
	case d.State.Kind == desktop.ElevatedWindow:
		return warning("see check rights", "%s: %s", d.State.Kind, d.State.Detail)
	case d.State.Kind == desktop.Disconnected && s.Driver == driverX11:
		return fault("start the display; name it with --display, or DISPLAY of the environment; let the agent's user in, such as with XAUTHORITY of the user whose display it is",
			"the display can't be opened: %s", d.State.Detail)
	}
	return fault("do what it says; the table of states is in docs/windows.md", "%s: %s", d.State.Kind, d.State.Detail)
}

func lookRights(ctx context.Context, f Facts, s Settings) answer {
	w, err := f.Windows(ctx)
	if err != nil {
		return without(err)
	}
	own, whose := w.Own, "this process"
	if s.Driver == driverSession {
		whose = "the helper"
	}
	if s.Driver == driverSession && w.Elevated {
		own = winapi.IntegrityMedium
	}
	if own == 0 {
		return unknown("", "Windows does not tell the integrity level of this process")
	}
	base := fmt.Sprintf("%s has level %s", whose, level(own))
	var above, compared []string
	for _, one := range w.List {
		if s.Window != "" && !strings.Contains(strings.ToLower(one.Title), strings.ToLower(s.Window)) {
			continue
		}
		compared = append(compared, one.described())
		if one.Denied || one.Level > own {
			above = append(above, one.described())
		}
	}
	switch {
	case s.Window != "" && len(compared) == 0:
		return unknown("open the window, or give another part of its title", "no window has %q in its title; %s", s.Window, base)
	case len(above) > 0 && s.Window != "":
		return fault("start that program without an administrator's rights, or the agent with driver windows from an elevated console",
			"%s; out of its reach: %s", base, strings.Join(above, ", "))
	case len(above) > 0:
		return warning("replay nothing into them; while one is in front the machine is not ready",
			"%s; out of its reach: %s", base, strings.Join(above, ", "))
	case s.Window != "":
		return ok("%s; within its reach: %s", base, strings.Join(compared, ", "))
	}
	return ok("%s, and no window has more; --window TITLE compares with one", base)
}

// described is a window with its rights, for people.
func (w Window) described() string {
	rights := "level " + level(w.Level)
	if w.Denied {
		rights = "level kept from us"
	}
	return fmt.Sprintf("%q of %s, %s", w.Title, named(w.Process, "an unknown program"), rights)
}

// level is the name of an integrity level, [MS-DTYP] 2.4.2.4.
func level(l uint32) string {
	switch {
	case l == 0:
		return "unknown"
	case l < winapi.IntegrityLow:
		return "untrusted"
	case l < winapi.IntegrityMedium:
		return "low"
	case l < winapi.IntegrityHigh:
		return "medium"
	case l < winapi.IntegritySystem:
		return "high"
	}
	return "system"
}

func lookDisplay(ctx context.Context, f Facts, s Settings) answer {
	d, err := f.Display(ctx)
	if err != nil {
		return without(err)
	}
	if len(d.Monitors) == 0 {
		return fault("connect one, or a plug that pretends to be one, or connect to the session", "there is no monitor")
	}
	var list []string
	scaled, mixed := false, false
	for _, m := range d.Monitors {
		list = append(list, describeMonitor(m))
		scaled = scaled || m.Scale != 1
		mixed = mixed || m.Scale != d.Monitors[0].Scale
	}
	all := strings.Join(list, ", ")
	if d.Awareness != "" {
		all = fmt.Sprintf("DPI awareness %s; %s", d.Awareness, all)
	}
	size := d.Monitors[0].Bounds.Size()
	switch {
	case size.X < s.MinDisplay.X || size.Y < s.MinDisplay.Y:
		return fault("give the primary monitor a higher resolution, or set min-display lower",
			"the primary monitor is smaller than %dx%d; %s", s.MinDisplay.X, s.MinDisplay.Y, all)
	case d.Awareness == winapi.Unaware && scaled:
		return fault("set all monitors to 100 %", "Windows stretches pixels for this process, so that clicks go elsewhere; %s", all)
	case d.Awareness == winapi.AwareSystem && mixed:
		return warning("give all monitors the same scale", "Windows knows one scale for this process, and the monitors have several; %s", all)
	}
	return ok("%s", all)
}

func describeMonitor(m driver.Monitor) string {
	text := fmt.Sprintf("monitor %d: %dx%d at %d,%d, %.0f %%", m.Index, m.Bounds.Dx(), m.Bounds.Dy(), m.Bounds.Min.X, m.Bounds.Min.Y, m.Scale*100)
	if m.Primary {
		text += ", primary"
	}
	return text
}

// viewers are the programs that show another machine's desktop, by the names of their
// executables in lower case, and for people.
var viewers = map[string]string{
	"mstsc.exe": "Remote Desktop", "msrdc.exe": "Windows App", "msrdcw.exe": "Windows App", "windows365.exe": "Windows App",
	"wfica32.exe": "Citrix Workspace", "cdviewer.exe": "Citrix Desktop Viewer",
	"vmware-view.exe": "VMware Horizon", "horizon-client.exe": "Omnissa Horizon", "vmware-remotemks.exe": "VMware Horizon", "vmrc.exe": "VMware Remote Console",
	"teamviewer.exe": "TeamViewer", "anydesk.exe": "AnyDesk", "rustdesk.exe": "RustDesk",
	"vncviewer.exe": "VNC Viewer", "tvnviewer.exe": "TightVNC", "remote-viewer.exe": "Virt Viewer", "pcoip_client.exe": "Teradici PCoIP", "vpxclient.exe": "Parallels Client",
}

func lookViewer(ctx context.Context, f Facts, s Settings) answer {
	w, err := f.Windows(ctx)
	if err != nil {
		return without(err)
	}
	d, err := f.Display(ctx)
	if err != nil {
		return without(err)
	}
	var said, toDo []string
	for _, one := range w.List {
		name, known := viewers[strings.ToLower(one.Process)]
		if !known {
			continue
		}
		text, todo := judgeViewer(one, d.Monitors)
		said = append(said, fmt.Sprintf("%s, %q, %s", name, one.Title, text))
		toDo = append(toDo, todo)
	}
	if len(said) == 0 {
		return ok("no viewer of remote desktops is open")
	}
	if s.TypeMode == typeCharacters {
		toDo = append(toDo, "set type-mode scan_codes: viewers pass keys on, and most of them no characters")
	}
	toDo = slices.Compact(slices.DeleteFunc(toDo, func(t string) bool { return t == "" }))
	if len(toDo) == 0 {
		return ok("%s", strings.Join(said, "; "))
	}
	return warning(strings.Join(toDo, "; "), "%s", strings.Join(said, "; "))
}

// judgeViewer says how a viewer's window lies, and what to do about it.
func judgeViewer(w Window, monitors []driver.Monitor) (text, toDo string) {
	full, partly := onAll(w.Bounds, monitors)
	switch {
	case w.Bounds.Empty():
		return "is an icon: most viewers stop drawing then", "open it out of its icon"
	case partly:
		return fmt.Sprintf("lies partly off the screen at %v: targets there can't be seen or clicked", w.Bounds), "move it onto the screen, best full screen"
	case !full:
		return "is not full screen: key combinations such as Win+R and Alt+Tab stay on this machine in many viewers", "make it full screen"
	case !w.Active:
		return "is full screen, and another window has the keyboard", ""
	}
	return "is full screen and has the keyboard", ""
}

func lookAutomation(ctx context.Context, f Facts, _ Settings) answer {
	switch err := f.Automation(ctx); {
	case err == nil:
		return ok("it answers")
	case errors.Is(err, driver.ErrUnsupported), errors.Is(err, winapi.ErrNotHere):
		return answer{result: NotHere, found: fmt.Sprintf("this system has no UI Automation: %v", err), toDo: "use other targets than uiaTarget"}
	default:
		return without(err)
	}
}

func lookSigns(_ context.Context, f Facts, _ Settings) answer {
	signs, err := f.Signs()
	switch {
	case err != nil:
		return without(err)
	case signs.Hooks != nil:
		return warning("run the agent as the user who is logged on, in that user's session",
			"mouse and keyboard cannot be watched, so there is no stop key and no pause for own input: %v", signs.Hooks)
	case signs.Tray != nil:
		return warning("start the taskbar (explorer.exe); the icon comes with it", "hooks work; no icon shows: %v", signs.Tray)
	case !signs.Unseen:
		return ok("hooks and icon work; this Windows can't keep a notice out of pictures, so it is taken away while one is taken")
	}
	return ok("hooks and icon work, and pictures leave notices out")
}

func lookInput(ctx context.Context, f Facts, _ Settings) answer {
	const toDo = "see checks desktop and rights; programs that guard against input of others must let reprise-agent.exe pass"
	t, err := f.TryInput(ctx)
	switch {
	case err != nil:
		return without(err)
	case t.Pointer != nil:
		return fault(toDo, "the pointer does not go where it is sent: %v", t.Pointer)
	case t.Typing != nil:
		return fault(toDo, "nothing can be typed into a window of our own: %v", t.Typing)
	case t.Got != t.Want:
		return fault(toDo, "typed into a window of our own: %q; arrived: %q", t.Want, t.Got)
	}
	return ok("the pointer went one pixel and came back; all of %q arrived", t.Want)
}

// onAll says whether a window covers a whole monitor, and whether a part of it lies on
// none.
func onAll(r image.Rectangle, monitors []driver.Monitor) (full, partly bool) {
	seen := 0
	for _, m := range monitors {
		common := r.Intersect(m.Bounds)
		full = full || (common == m.Bounds && !m.Bounds.Empty())
		seen += common.Dx() * common.Dy()
	}
	return full, seen < r.Dx()*r.Dy()
}
