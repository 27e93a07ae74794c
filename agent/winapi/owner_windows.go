package winapi

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// OwnedByAdministrators says whether a file or folder belongs to the administrators or
// to the system: no other user can make such a one.
func (System) OwnedByAdministrators(path string) (bool, error) {
	security, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false, fmt.Errorf("the owner of %s: %w", path, err)
	}
	owner, _, err := security.Owner()
	if err != nil {
		return false, fmt.Errorf("the owner of %s: %w", path, err)
	}
	return owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) || owner.IsWellKnown(windows.WinLocalSystemSid), nil
}
