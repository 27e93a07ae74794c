package winapi

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// preshutdownInfo is SERVICE_PRESHUTDOWN_INFO of winsvc.h.
type preshutdownInfo struct {
	timeout uint32 // ms
}

// SetPreshutdownTimeout sets how long a shutdown of the machine waits for a service to
// stop that was told of it before all others (SERVICE_CONTROL_PRESHUTDOWN). Unless it is
// set that is 10 s, and 3 min before build 15063.
func SetPreshutdownTimeout(s *mgr.Service, wait time.Duration) error {
	info := preshutdownInfo{timeout: uint32(wait.Milliseconds())}
	err := windows.ChangeServiceConfig2(s.Handle, windows.SERVICE_CONFIG_PRESHUTDOWN_INFO, (*byte)(unsafe.Pointer(&info)))
	if err != nil {
		return fmt.Errorf("ChangeServiceConfig2: %w", err)
	}
	return nil
}
