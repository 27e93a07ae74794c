package winapi

import "fmt"

var (
	procSetProcessDpiAwarenessContext = user32.NewProc("SetProcessDpiAwarenessContext")
	procGetThreadDpiAwarenessContext  = user32.NewProc("GetThreadDpiAwarenessContext")
	procAreDpiAwarenessContextsEqual  = user32.NewProc("AreDpiAwarenessContextsEqual")
	procSetProcessDpiAwareness        = shcore.NewProc("SetProcessDpiAwareness")
	procSetProcessDPIAware            = user32.NewProc("SetProcessDPIAware")
)

// AwareOfDPI makes Windows speak to this process in physical pixels: per monitor in
// its second version, else per monitor, else as the system is. It returns which it
// got; call it once, before anything else here. An error says that Windows will
// stretch pixels, and that it can be lived with at 100 % alone.
func (System) AwareOfDPI() (string, error) { return awareOfDPI(dpiCalls{}) }

// Awareness is what AwareOfDPI got, or a manifest gave: Unaware also where Windows does not
// tell.
func (System) Awareness() string { return awareness(dpiCalls{}) }

type dpiCalls struct{}

func (dpiCalls) setContext(c dpiContext) error {
	_, err := try(procSetProcessDpiAwarenessContext, uintptr(c))
	return err
}

func (dpiCalls) setAware() error {
	const perMonitor = 2 // PROCESS_PER_MONITOR_DPI_AWARE
	if procSetProcessDpiAwareness.Find() == nil {
		if failed, _, _ := procSetProcessDpiAwareness.Call(perMonitor); failed == 0 {
			return nil
		}
	}
	_, err := try(procSetProcessDPIAware)
	return err
}

func (dpiCalls) hasContext(c dpiContext) (bool, error) {
	if err := procAreDpiAwarenessContextsEqual.Find(); err != nil {
		return false, fmt.Errorf("awareness: %w (%w)", ErrNotHere, err)
	}
	now, err := try(procGetThreadDpiAwarenessContext)
	if err != nil {
		return false, err
	}
	return ask(procAreDpiAwarenessContextsEqual, now, uintptr(c)) != 0, nil
}
