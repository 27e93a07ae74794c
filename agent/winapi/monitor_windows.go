package winapi

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	procEnumDisplayMonitors = user32.NewProc("EnumDisplayMonitors")
	procGetMonitorInfo      = user32.NewProc("GetMonitorInfoW")
	procGetDpiForMonitor    = shcore.NewProc("GetDpiForMonitor")
)

// monitorListing is to monitors what listing is to windows.
var monitorListing struct {
	sync.Mutex
	found    []uintptr
	callback func() uintptr
}

func init() {
	monitorListing.callback = sync.OnceValue(func() uintptr {
		return windows.NewCallback(func(monitor, _, _, _ uintptr) uintptr {
			monitorListing.found = append(monitorListing.found, monitor)
			return 1
		})
	})
}

// Monitors are the monitors, in the order in which Windows names them.
func (System) Monitors() ([]Monitor, error) {
	handles, err := monitorHandles()
	if err != nil {
		return nil, err
	}
	list := make([]Monitor, 0, len(handles))
	for _, h := range handles {
		info := emptyMonitor()
		if _, err := try(procGetMonitorInfo, h, uintptr(unsafe.Pointer(&info))); err != nil {
			return nil, err
		}
		list = append(list, info.asMonitor(dpiOf(h)))
	}
	return list, nil
}

func monitorHandles() ([]uintptr, error) {
	monitorListing.Lock()
	defer monitorListing.Unlock()
	monitorListing.found = nil
	if _, err := try(procEnumDisplayMonitors, 0, 0, monitorListing.callback(), 0); err != nil {
		return nil, err
	}
	return monitorListing.found, nil
}

// dpiOf is a monitor's effective resolution; 96 where Windows does not tell.
func dpiOf(monitor uintptr) int {
	const effective = 0 // MDT_EFFECTIVE_DPI
	var x, y uint32
	if procGetDpiForMonitor.Find() != nil {
		return 96
	}
	if failed, _, _ := procGetDpiForMonitor.Call(monitor, effective, uintptr(unsafe.Pointer(&x)), uintptr(unsafe.Pointer(&y))); failed != 0 || x == 0 {
		return 96
	}
	return int(x)
}
