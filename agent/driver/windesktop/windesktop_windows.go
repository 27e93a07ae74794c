package windesktop

import "github.com/reprise-rpa/reprise/agent/winapi"

var _ system = winapi.System{}

// New checks the configuration, all faults at once, and makes the process aware of DPI: no
// window may have been made before.
func New(config Config) (*Driver, error) { return newDriver(config, winapi.System{}) }
