package doctor

import (
	"context"
	"image"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/supervise"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// facts are those that a test tells.
type facts struct {
	service    service.Info
	sessions   Sessions
	lock       LockPolicy
	power      Power
	desktop    Desktop
	display    Display
	windows    Windows
	automation error
	signs      Signs
	tried      Tried
	token      Token
	others     []string
	state      State
	logFile    error
	reached    Reached
	idled      Idled

	err error // of all that may have one; nil: none
}

var _ Facts = (*facts)(nil)

func (f *facts) Service() (service.Info, error) { return f.service, f.err }
func (f *facts) Sessions(context.Context, string) (Sessions, error) {
	return f.sessions, f.err
}
func (f *facts) LockPolicy() (LockPolicy, error)          { return f.lock, f.err }
func (f *facts) Power() (Power, error)                    { return f.power, f.err }
func (f *facts) Desktop(context.Context) (Desktop, error) { return f.desktop, f.err }
func (f *facts) Display(context.Context) (Display, error) { return f.display, f.err }
func (f *facts) Windows(context.Context) (Windows, error) { return f.windows, f.err }
func (f *facts) Signs() (Signs, error)                    { return f.signs, f.err }
func (f *facts) TryInput(context.Context) (Tried, error)  { return f.tried, f.err }
func (f *facts) Token(string) Token                       { return f.token }
func (f *facts) Others(string) ([]string, error)          { return f.others, f.err }
func (f *facts) State(string) State                       { return f.state }
func (f *facts) LogFile(string) error                     { return f.logFile }
func (f *facts) Reach(context.Context, Settings) Reached  { return f.reached }
func (f *facts) Idle(context.Context, Settings) Idled     { return f.idled }
func (f *facts) Automation(context.Context) error {
	if f.err != nil {
		return f.err
	}
	return f.automation
}

// primary is the monitor of a machine that is well.
var primary = driver.Monitor{Index: 1, Bounds: image.Rect(0, 0, 1920, 1080), Scale: 1, Primary: true}

// ann is the session of a user who is at work.
var ann = supervise.Session{ID: 1, User: "ann", Domain: "DESK", Console: true}

// well are the facts of a machine on which nothing is wrong.
func well() *facts {
	return &facts{
		service:  service.Info{Installed: true, State: "running", StartType: "automatic (delayed)", Account: "LocalSystem"},
		sessions: Sessions{Own: 1, List: []supervise.Session{ann}, Chosen: &ann},
		desktop:  Desktop{Input: "Default", State: desktop.State{Kind: desktop.Active}},
		display:  Display{Awareness: winapi.AwarePerMonitorV2, Monitors: []driver.Monitor{primary}},
		windows: Windows{Own: winapi.IntegrityMedium, List: []Window{
			{Window: driver.Window{Title: "notes - Notepad", Process: "notepad.exe", Bounds: image.Rect(0, 0, 400, 300), Active: true}, Level: winapi.IntegrityMedium},
		}},
		signs:   Signs{Unseen: true},
		tried:   Tried{Want: "é", Got: "é"},
		state:   State{Free: 5 << 30, Actions: 3},
		reached: Reached{Stage: answered, Secure: true, Serving: true, Chain: chain("CN=server", 100*day)},
		idled:   Idled{Lived: selfTestIdle},
	}
}

// settled are the settings of an agent that is a service.
func settled() Settings {
	return Settings{
		Server: "reprise.example:7443", CAFile: "ca.pem", TokenFile: "token", StateDir: "state", LogFile: "agent.log", SecretsDir: "secrets",
		Driver: driverSession, TypeMode: "scan_codes", MinDisplay: image.Pt(1200, 800), Idle: selfTestIdle, SelfTest: true,
	}
}
