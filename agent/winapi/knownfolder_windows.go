package winapi

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// ProgramData is the folder for what programs keep for all users, FOLDERID_ProgramData of
// knownfolders.h. It is the machine's: no process's environment changes it.
func (System) ProgramData() (string, error) {
	path, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return "", fmt.Errorf("SHGetKnownFolderPath of ProgramData: %w", err)
	}
	return path, nil
}
