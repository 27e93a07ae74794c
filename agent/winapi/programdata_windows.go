package winapi

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// ProgramData is the folder for what programs keep for all users. It is the machine's: no
// process's environment changes it. It is read where Windows keeps it: the call for known
// folders loads shell32 and with it user32, by which a service takes the desktop of
// services, and under Wine its children do, whatever desktop is named for them.
func (System) ProgramData() (string, error) {
	const path, name = `SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList`, "ProgramData"
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", fmt.Errorf("the folder ProgramData: open %s: %w", path, err)
	}
	defer func() { _ = key.Close() }() // nothing was changed
	folder, _, err := key.GetStringValue(name)
	if err != nil {
		return "", fmt.Errorf("the folder ProgramData: read %s of %s: %w", name, path, err)
	}
	const drive = "%SystemDrive%"
	if len(folder) >= len(drive) && strings.EqualFold(folder[:len(drive)], drive) {
		system, err := windows.GetSystemWindowsDirectory()
		if err != nil {
			return "", fmt.Errorf("the folder of Windows: %w", err)
		}
		folder = filepath.VolumeName(system) + folder[len(drive):]
	}
	if !filepath.IsAbs(folder) {
		return "", fmt.Errorf("the folder ProgramData: %s of %s is %q, no full path", name, path, folder)
	}
	return folder, nil
}
