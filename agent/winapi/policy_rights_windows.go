package winapi

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OwnSession is the session of this process; that of services is 0.
func (System) OwnSession() (uint32, error) {
	var own uint32
	if err := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &own); err != nil {
		return 0, fmt.Errorf("session of this process: %w", err)
	}
	return own, nil
}

// OwnIntegrity is the integrity level of this process.
func (System) OwnIntegrity() (uint32, error) { return ownIntegrity() }

// SplitElevated says whether this process has the one of its user's two tokens that has
// an administrator's rights, as after a consent of User Account Control. A user that
// has one token only has all rights, or none of them, everywhere.
func (System) SplitElevated() bool {
	const full = 2 // TokenElevationTypeFull of winnt.h
	var kind, size uint32
	err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenElevationType,
		(*byte)(unsafe.Pointer(&kind)), uint32(unsafe.Sizeof(kind)), &size)
	return err == nil && kind == full
}

// IntegrityOf is the integrity level of a process. ErrDenied: it does not let itself be
// asked, as one with more rights does not.
func (System) IntegrityOf(pid uint32) (uint32, error) {
	level, err := integrityOf(pid)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return 0, fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return level, err
}

// FreeSpace is how many bytes this process's user may still write on the disk of a
// folder that is there.
func (System) FreeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return free, nil
}

// everyone is the SID of everybody, [MS-DTYP] 2.4.2.4.
const everyone = "S-1-1-0"

// GrantsOn are the entries of a file's access list that allow something, inherited ones
// too. A file without a list is everybody's.
func (System) GrantsOn(path string) ([]Grant, error) {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, fmt.Errorf("access list of %s: %w", path, err)
	}
	list, _, err := sd.DACL()
	switch {
	case errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND), err == nil && list == nil:
		return []Grant{{SID: everyone, Rights: readingRights}}, nil
	case err != nil:
		return nil, fmt.Errorf("access list of %s: %w", path, err)
	}
	var grants []Grant
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return nil, fmt.Errorf("access list of %s: %w", path, err)
		}
		if entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		grants = append(grants, Grant{SID: sid.String(), Rights: uint32(entry.Mask)})
	}
	return grants, nil
}
