package winapi

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows"
)

// Own gives a file or folder to the administrators, and all rights there to them, to
// the system and to an account, if one is named, and to nobody else. A folder's rights
// are for what is made in it later; what is in it already keeps its own. All changes at
// once, or nothing. A link is opened itself and refused, as is a file that has another
// name elsewhere. This process's token has the privileges of a restore from then on.
//
// With these a handle for a new owner and list is given whatever the old list says, and
// SetKernelObjectSecurity sets them on it: Microsoft's article Q240184.
func (System) Own(path, account string) error {
	if err := own(path, account); err != nil {
		return fmt.Errorf("take over %s: %w", path, err)
	}
	return nil
}

func own(path, account string) error {
	sid, err := sidOfAccount(account)
	if err != nil {
		return err
	}
	if err := enable("SeTakeOwnershipPrivilege", "SeRestorePrivilege", "SeBackupPrivilege"); err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	file, err := windows.CreateFile(name, windows.WRITE_DAC|windows.WRITE_OWNER,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(file) }()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(file, &info); err != nil {
		return fmt.Errorf("what it is: %w", err)
	}
	folder, err := isFolder(info.FileAttributes, info.NumberOfLinks)
	if err != nil {
		return err
	}
	security, err := windows.SecurityDescriptorFromString(ownedBy(sid, folder))
	if err != nil {
		return fmt.Errorf("its rights: %w", err)
	}
	return windows.SetKernelObjectSecurity(file,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION, security)
}

// isFolder says whether a file is a folder, by its attributes and by how many names it
// has. A link of any kind is an error.
func isFolder(attributes, names uint32) (bool, error) {
	folder := attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0
	switch {
	case attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		return false, errors.New("it is a link (a reparse point): remove it")
	case !folder && names > 1:
		return false, errors.New("it has another name elsewhere (a hard link): remove it")
	}
	return folder, nil
}

// ownedBy is the owner and the protected access list of a file, as SDDL: [MS-DTYP]
// 2.5.1. Those of a folder are inherited by files (OI) and folders (CI).
func ownedBy(sid string, folder bool) string {
	inherited := ""
	if folder {
		inherited = "OICI"
	}
	sddl := "O:BAD:P"
	for _, who := range []string{"SY", "BA", sid} {
		if who != "" {
			sddl += "(A;" + inherited + ";FA;;;" + who + ")"
		}
	}
	return sddl
}

// Accounts of services whose names Windows translates, and whose SIDs it does not:
// [MS-DTYP] 2.4.2.4.
var serviceAccounts = map[string]string{
	`nt authority\localservice`:   "S-1-5-19",
	`nt authority\networkservice`: "S-1-5-20",
}

// sidOfAccount returns the SID of the account of a service; empty: none. A group is refused.
func sidOfAccount(account string) (string, error) {
	if account == "" {
		return "", nil
	}
	if sid, known := serviceAccounts[strings.ToLower(account)]; known {
		return sid, nil
	}
	name := account
	if local, is := strings.CutPrefix(account, `.\`); is {
		machine, err := windows.ComputerName()
		if err != nil {
			return "", fmt.Errorf("name of this machine: %w", err)
		}
		name = machine + `\` + local
	}
	sid, _, kind, err := windows.LookupSID("", name)
	if err != nil {
		return "", fmt.Errorf("account %s: %w", account, err)
	}
	const services = "S-1-5-80-" // virtual accounts, NT SERVICE\…
	if kind != windows.SidTypeUser && kind != windows.SidTypeComputer && !strings.HasPrefix(sid.String(), services) {
		return "", fmt.Errorf("account %s is a group, or no account: name a user's", account)
	}
	return sid.String(), nil
}

// enable turns on privileges that this process's token has. One that it lacks is no
// error: it may not be needed, and if it is Windows refuses what is done next.
func enable(privileges ...string) error {
	var token windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES, &token); err != nil {
		return fmt.Errorf("token of this process: %w", err)
	}
	defer func() { _ = token.Close() }()
	for _, one := range privileges {
		name, err := windows.UTF16PtrFromString(one)
		if err != nil {
			return err
		}
		on := windows.Tokenprivileges{PrivilegeCount: 1}
		on.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
		if err := windows.LookupPrivilegeValue(nil, name, &on.Privileges[0].Luid); err != nil {
			return fmt.Errorf("privilege %s: %w", one, err)
		}
		if err := windows.AdjustTokenPrivileges(token, false, &on, 0, nil, nil); err != nil {
			return fmt.Errorf("privilege %s: %w", one, err)
		}
	}
	return nil
}
