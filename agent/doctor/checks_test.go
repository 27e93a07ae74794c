package doctor

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/supervise"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

const selfTestIdle = 90 * time.Second

// found examines and returns one finding.
func found(t *testing.T, f *facts, s Settings, id string) Finding {
	t.Helper()
	all, err := Examine(t.Context(), f, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("no finding %s", id)
	}
	return all[i]
}

func TestOfAMachineOnWhichNothingIsWrongAllChecksSaySo(t *testing.T) {
	s := settled()
	clock := 20 * time.Millisecond
	f := well()
	f.reached.Clock, f.reached.Precision = &clock, 500*time.Millisecond
	all, err := Examine(t.Context(), f, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(IDs()) {
		t.Errorf("%d findings of %d checks", len(all), len(IDs()))
	}
	for _, one := range all {
		if one.Result != OK || one.ToDo != "" || one.Why == "" || one.Found == "" {
			t.Errorf("%+v", one)
		}
	}
	if got := Worst(all); got != OK {
		t.Errorf("altogether %s", got)
	}
}

// one is a fact or a setting that is otherwise, and what a check makes of it.
type one struct {
	name   string
	change func(*facts, *Settings)
	result Result
	says   string // part of what was found or is to be done
}

// judged holds each check to what it makes of each case.
func judged(t *testing.T, id string, cases []one) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, s := well(), settled()
			c.change(f, &s)
			got := found(t, f, s, id)
			if got.Result != c.result || !strings.Contains(got.Found+"\n"+got.ToDo, c.says) {
				t.Errorf("%+v\nwant %s with %q", got, c.result, c.says)
			}
			if (got.Result == Fault || got.Result == Warning) && got.ToDo == "" {
				t.Error("it does not say what to do")
			}
		})
	}
}

func fails(err error) func(*facts, *Settings) { return func(f *facts, _ *Settings) { f.err = err } }

// What can't be had is neither good nor bad, and says so.
func TestWithoutItsFactsACheckSaysThatItDoesNotKnow(t *testing.T) {
	for _, id := range []string{"service", "session", "lock", "power", "desktop", "rights", "display", "viewer", "automation", "signs", "input"} {
		t.Run(id, func(t *testing.T) {
			judged(t, id, []one{
				{"it is not on this system", fails(fmt.Errorf("x: %w", ErrNotHere)), NotHere, "no such thing"},
				{"this Windows does not have the call", fails(winapi.ErrNotHere), NotHere, ""},
				{"it could not be found out", fails(errors.New("the call broke")), Unknown, "the call broke"},
			})
		})
	}
	judged(t, "token", []one{{"who may read it is not known", fails(errors.New("no list")), Unknown, "no list"}})
	judged(t, "secrets", []one{{"who may read them is not known", fails(errors.New("no list")), Unknown, "no list"}})
}

func TestSettingsAreJudged(t *testing.T) {
	judged(t, "settings", []one{
		{"all faults are named", func(_ *facts, s *Settings) { s.Faults = []string{"a is wrong", "b is wrong"} }, Fault, "a is wrong; b is wrong"},
		{"where they come from is said", func(_ *facts, s *Settings) { s.Source = "agent.yaml" }, OK, "agent.yaml"},
	})
}

func TestB11_TheServiceIsHeldToWhatStartsHelpers(t *testing.T) {
	judged(t, "service", []one{
		{"another account can't start a helper", func(f *facts, _ *Settings) { f.service.Account = `DESK\ann` }, Fault, "only LocalSystem"},
		{"LocalSystem by its other name", func(f *facts, _ *Settings) { f.service.Account = `nt authority\system` }, OK, ""},
		{"an account that is not told", func(f *facts, _ *Settings) { f.service.Account = "" }, OK, "does not tell its account"},
		{"a service drives no desktop itself", func(_ *facts, s *Settings) { s.Driver = driverWindows }, Fault, "sees no desktop in session 0"},
		{"none, and none is needed", func(f *facts, s *Settings) { f.service, s.Driver = service.Info{}, driverWindows }, OK, "not installed"},
		{"none, though the driver is a service's", func(f *facts, _ *Settings) { f.service = service.Info{} }, Warning, "service install"},
		{"stopped in order", func(f *facts, _ *Settings) { f.service.State = "stopped" }, Warning, "stopped"},
		{"ended with a fault", func(f *facts, _ *Settings) { f.service.State, f.service.LastExit = "stopped", 5 }, Fault, "exit code 5"},
		{"by hand alone", func(f *facts, _ *Settings) { f.service.StartType = "manual" }, Warning, "nobody starts it"},
		{"only an administrator may ask", fails(service.ErrNotElevated), Unknown, "administrator"},
	})
}

func TestB11_TheSessionIsTheOneThatTheHelperWouldBeIn(t *testing.T) {
	gone, locked := ann, ann
	gone.State, locked.Locked = supervise.Disconnected, true
	own := func(s supervise.Session) func(*facts, *Settings) {
		return func(f *facts, settings *Settings) {
			f.sessions.List, settings.Driver = []supervise.Session{s}, driverWindows
		}
	}
	judged(t, "session", []one{
		{"nobody is logged on", func(f *facts, _ *Settings) { f.sessions = Sessions{Why: "nobody is logged on"} }, Warning, "nobody is logged on"},
		{"no screen shows it", func(f *facts, _ *Settings) { f.sessions.Chosen = &gone }, Warning, "tscon 1 /dest:console"},
		{"it is locked", func(f *facts, _ *Settings) { f.sessions.Chosen = &locked }, Warning, "is locked"},
		{"the agent itself in session 0", func(f *facts, s *Settings) { f.sessions.Own, s.Driver = 0, driverWindows }, Fault, "session 0"},
		{"its own session without a screen", own(gone), Warning, "no screen shows"},
		{"its own session", own(ann), OK, `DESK\ann`},
		{"another kind of desktop", func(_ *facts, s *Settings) { s.Driver = "virtual" }, OK, "sessions: 1 of"},
		{"a session of which Windows tells nothing", func(f *facts, _ *Settings) {
			f.sessions.List = append(f.sessions.List, supervise.Session{ID: 7, Unseen: errors.New("access is denied")})
		}, OK, "7, not known: access is denied"},
	})
}

func TestB01_WhatLocksByItselfIsNamed(t *testing.T) {
	judged(t, "lock", []one{
		{"a screen saver", func(f *facts, _ *Settings) { f.lock.ScreenSaver = 10 * time.Minute }, Warning, "10m0s"},
		{"a policy's screen saver", func(f *facts, _ *Settings) { f.lock.ScreenSaver, f.lock.ByPolicy = time.Minute, true }, Warning, "group policy"},
		{"the machine's limit", func(f *facts, _ *Settings) { f.lock.MachineInactivity = 15 * time.Minute }, Warning, "after 15m0s without input (InactivityTimeoutSecs)"},
		{"the machine's limit counts the time of a screen saver that is off", func(f *facts, _ *Settings) {
			f.lock.MachineInactivity, f.lock.SaverTimeout = 15*time.Minute, time.Minute
		}, Warning, "after 1m0s without input (InactivityTimeoutSecs)"},
		{"a screen saver that locks nothing", func(f *facts, _ *Settings) { f.lock.SaverTimeout = time.Minute }, OK, "nothing locks"},
		{"a device management", func(f *facts, _ *Settings) { f.lock.DeviceLock = time.Minute }, Warning, "device management"},
		{"a remote session that is cut", func(f *facts, _ *Settings) { f.lock.RemoteIdle = time.Hour }, Warning, "MaxIdleTime"},
		{"a session that is ended", func(f *facts, _ *Settings) { f.lock.RemoteGone = time.Hour }, Warning, "MaxDisconnectionTime"},
	})
}

func TestWhatSwitchesTheMachineOffIsNamed(t *testing.T) {
	judged(t, "power", []one{
		{"it sleeps", func(f *facts, _ *Settings) { f.power.Plugged.Sleep = time.Hour }, Warning, "standby-timeout-ac 0"},
		{"it hibernates", func(f *facts, _ *Settings) { f.power.Plugged.Hibernate = time.Hour }, Warning, "hibernates after 1h"},
		{"its monitor goes off", func(f *facts, _ *Settings) { f.power.Plugged.Screen = time.Hour }, Warning, "monitor-timeout-ac 0"},
		{"only on battery", func(f *facts, _ *Settings) { f.power.Battery.Sleep = time.Hour }, OK, "on battery the machine sleeps"},
	})
}

func TestB01_ADesktopThatTakesNoInputIsAFault(t *testing.T) {
	state := func(k desktop.Kind) func(*facts, *Settings) {
		return func(f *facts, _ *Settings) { f.desktop.State = desktop.State{Kind: k, Detail: "do this"} }
	}
	judged(t, "desktop", []one{
		{"locked", state(desktop.Locked), Fault, "locked: do this"},
		{"a consent prompt", state(desktop.SecureDesktop), Fault, "secure desktop"},
		{"a window with more rights in front", state(desktop.ElevatedWindow), Warning, "see check rights"},
		{"usable", func(*facts, *Settings) {}, OK, "Default"},
		{"disconnected", state(desktop.Disconnected), Fault, "the table of states"},
		{"an X display that can't be opened", func(f *facts, s *Settings) {
			state(desktop.Disconnected)(f, s)
			s.Driver = driverX11
		}, Fault, "name it with --display"},
	})
}

func TestB17_AWindowOutOfReachIsNamedWithBothLevels(t *testing.T) {
	above := func(window string, w Window) func(*facts, *Settings) {
		return func(f *facts, s *Settings) {
			w.Title, w.Process = "Payroll", "pay.exe"
			f.windows.List, s.Window = append(f.windows.List, w), window
		}
	}
	judged(t, "rights", []one{
		{"the named window has more", above("payroll", Window{Level: winapi.IntegrityHigh}), Fault, `the helper has level medium; out of its reach: "Payroll" of pay.exe, level high`},
		{"the named window hides its rights", above("pay", Window{Denied: true}), Fault, "kept from us"},
		{"the named window has no more", above("pay", Window{Level: winapi.IntegrityLow}), OK, "level low"},
		{"some window has more", above("", Window{Level: winapi.IntegritySystem}), Warning, "level system"},
		{"another one than the named window has more", above("notepad", Window{Level: winapi.IntegrityHigh}), OK, "notepad.exe"},
		{"no window is called so", above("ledger", Window{}), Unknown, `"ledger"`},
		{"an agent of an elevated console reaches it", func(f *facts, s *Settings) {
			above("pay", Window{Level: winapi.IntegrityHigh})(f, s)
			f.windows.Own, s.Driver = winapi.IntegrityHigh, driverWindows
		}, OK, "this process has level high"},
		{"the helper does not have the console's rights", func(f *facts, s *Settings) {
			above("pay", Window{Level: winapi.IntegrityHigh})(f, s)
			f.windows.Own, f.windows.Elevated = winapi.IntegrityHigh, true
		}, Fault, "the helper has level medium"},
		{"the helper has all rights of a user who always has them", func(f *facts, s *Settings) {
			above("pay", Window{Level: winapi.IntegrityHigh})(f, s)
			f.windows.Own = winapi.IntegrityHigh
		}, OK, "the helper has level high"},
		{"our own level is not told", func(f *facts, s *Settings) { f.windows.Own, s.Driver = 0, driverWindows }, Unknown, "does not tell"},
	})
}

func TestB03_TheDisplayIsJudgedInPhysicalPixels(t *testing.T) {
	scaled := func(awareness string, scales ...float64) func(*facts, *Settings) {
		return func(f *facts, _ *Settings) {
			f.display.Awareness, f.display.Monitors = awareness, nil
			for i, scale := range scales {
				m := primary
				m.Index, m.Scale, m.Primary = i+1, scale, i == 0
				f.display.Monitors = append(f.display.Monitors, m)
			}
		}
	}
	judged(t, "display", []one{
		{"no monitor", scaled(winapi.AwarePerMonitorV2), Fault, "no monitor"},
		{"too small", func(_ *facts, s *Settings) { s.MinDisplay = image.Pt(1921, 1080) }, Fault, "smaller than 1921x1080"},
		{"not aware, at 150 %", scaled(winapi.Unaware, 1.5), Fault, "stretches"},
		{"not aware, at 100 %", scaled(winapi.Unaware, 1), OK, "unaware"},
		{"one scale known, two there", scaled(winapi.AwareSystem, 1, 1.5), Warning, "150 %"},
		{"one scale known, one there", scaled(winapi.AwareSystem, 1.5, 1.5), OK, ""},
		{"a system that scales nothing", scaled("", 1), OK, "monitor 1: 1920x1080 at 0,0, 100 %, primary"},
		{"each known", scaled(winapi.AwarePerMonitor, 1, 1.5), OK, "monitor 2: 1920x1080 at 0,0, 150 %"},
	})
}

func TestB24_AViewerIsToBeFullScreenAndTypedIntoByKeys(t *testing.T) {
	shows := func(process string, bounds image.Rectangle, active bool) func(*facts, *Settings) {
		return func(f *facts, _ *Settings) {
			f.windows.List = append(f.windows.List, Window{Window: driver.Window{Title: "host", Process: process, Bounds: bounds, Active: active}})
			second := primary
			second.Index, second.Primary, second.Bounds = 2, false, image.Rect(-1024, 0, 0, 768)
			f.display.Monitors = append(f.display.Monitors, second)
		}
	}
	judged(t, "viewer", []one{
		{"none", func(*facts, *Settings) {}, OK, "no viewer"},
		{"full screen in front", shows("mstsc.exe", primary.Bounds, true), OK, "is full screen and has the keyboard"},
		{"full screen on the other monitor", shows("CDViewer.exe", image.Rect(-1024, 0, 0, 768), false), OK, "another window has the keyboard"},
		{"across both monitors", shows("wfica32.exe", image.Rect(-1024, 0, 1920, 1080), true), Warning, "partly off the screen"},
		{"partly off the screen", shows("anydesk.exe", image.Rect(1000, 100, 2000, 900), true), Warning, "partly off the screen"},
		{"a window", shows("vmware-view.exe", image.Rect(100, 100, 900, 800), true), Warning, "make it full screen"},
		{"an icon", shows("TeamViewer.exe", image.Rectangle{}, false), Warning, "is an icon"},
		{"typed into as characters", func(f *facts, s *Settings) {
			shows("mstsc.exe", primary.Bounds, true)(f, s)
			s.TypeMode = typeCharacters
		}, Warning, "type-mode scan_codes"},
	})
}

func TestAutomationThatThereIsNotIsNoFault(t *testing.T) {
	judged(t, "automation", []one{
		{"none", func(f *facts, _ *Settings) { f.automation = fmt.Errorf("x: %w", driver.ErrUnsupported) }, NotHere, "other targets"},
		{"it hangs", func(f *facts, _ *Settings) { f.automation = driver.ErrHung }, Unknown, "does not answer"},
	})
}

func TestTheSignsAreJudgedByWhatThePersonIsLeftWith(t *testing.T) {
	judged(t, "signs", []one{
		{"no hooks", func(f *facts, _ *Settings) { f.signs.Hooks = errors.New("denied") }, Warning, "no stop key"},
		{"no icon", func(f *facts, _ *Settings) { f.signs.Tray = errors.New("no taskbar") }, Warning, "no icon shows: no taskbar"},
		{"an older Windows", func(f *facts, _ *Settings) { f.signs.Unseen = false }, OK, "taken away while one is taken"},
	})
}

func TestB17_InputThatDoesNotArriveIsAFault(t *testing.T) {
	judged(t, "input", []one{
		{"the pointer stands still", func(f *facts, _ *Settings) { f.tried.Pointer = errors.New("it is elsewhere") }, Fault, "it is elsewhere"},
		{"nothing is taken", func(f *facts, _ *Settings) { f.tried.Typing = driver.ErrBlocked }, Fault, "refused"},
		{"another text arrives", func(f *facts, _ *Settings) { f.tried.Got = "e" }, Fault, `"é"; arrived: "e"`},
	})
}
