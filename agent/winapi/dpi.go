package winapi

import (
	"errors"
	"fmt"
)

// Awareness names in which pixels Windows speaks to this process.
const (
	AwarePerMonitorV2 = "per-monitor-v2"
	AwarePerMonitor   = "per-monitor"
	AwareSystem       = "system"
	Unaware           = "unaware"
)

// dpiContext is a DPI_AWARENESS_CONTEXT of windef.h.
type dpiContext int

// The contexts, the best first.
var dpiContexts = []struct {
	context dpiContext
	name    string
}{{-4, AwarePerMonitorV2}, {-3, AwarePerMonitor}, {-2, AwareSystem}}

// dpiSystem is what awareness needs of Windows.
type dpiSystem interface {
	// setContext asks for a context, once in a process's life.
	setContext(c dpiContext) error
	// setAware asks for per-monitor awareness, then for the system's, by the calls that
	// older Windows have.
	setAware() error
	// hasContext says whether the process has a context; an error: it can't be told.
	hasContext(c dpiContext) (bool, error)
}

// awareOfDPI asks for the best awareness that is to be had, and says which it is.
func awareOfDPI(s dpiSystem) (string, error) {
	var errs []error
	for _, c := range dpiContexts {
		err := s.setContext(c.context)
		if err == nil {
			return c.name, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
	}
	// Refused, or decided already, by a manifest for example: what counts is what is.
	older := s.setAware()
	if is := awareness(s); is != Unaware {
		return is, nil
	}
	if older == nil {
		return AwareSystem, nil
	}
	return Unaware, fmt.Errorf("become aware of DPI: %w", errors.Join(append(errs, older)...))
}

// awareness is in which pixels Windows speaks to the process, as far as it tells.
func awareness(s dpiSystem) string {
	for _, c := range dpiContexts {
		if has, err := s.hasContext(c.context); err == nil && has {
			return c.name
		}
	}
	return Unaware
}
