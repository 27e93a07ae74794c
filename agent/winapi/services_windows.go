package winapi

import (
	"fmt"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// ServicesToLook connects to the service control manager with no more rights than every
// user has: to look at services, not to change one. Package mgr asks for all rights.
func ServicesToLook() (*mgr.Mgr, error) {
	handle, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return nil, fmt.Errorf("OpenSCManager: %w", err)
	}
	return &mgr.Mgr{Handle: handle}, nil
}

// ServiceToLook opens a service with no more rights than to look at it.
func ServiceToLook(m *mgr.Mgr, name string) (*mgr.Service, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, fmt.Errorf("service name %q: %w", name, err)
	}
	handle, err := windows.OpenService(m.Handle, text, windows.SERVICE_QUERY_STATUS|windows.SERVICE_QUERY_CONFIG)
	if err != nil {
		return nil, fmt.Errorf("OpenService: %w", err)
	}
	return &mgr.Service{Name: name, Handle: handle}, nil
}
