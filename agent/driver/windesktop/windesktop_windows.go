package windesktop

import "github.com/reprise-rpa/reprise/agent/winapi"

var _ system = winapi.System{}

// New checks the configuration, all faults at once.
func New(config Config) (*Driver, error) { return newDriver(config, winapi.System{}) }
