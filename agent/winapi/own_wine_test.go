//go:build windows && wine

package winapi

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// rightsOf is the owner and the access list of a file, as SDDL.
func rightsOf(t *testing.T, path string) string {
	t.Helper()
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	return sd.String()
}

// ownable is a new folder with a file, which everybody may read. Of a list Wine keeps
// what its owner and everybody may, and of the owner nothing.
func ownable(t *testing.T) (folder, file string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "folder")
	file = filepath.Join(folder, "file")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, file} {
		if rights := rightsOf(t, path); !strings.Contains(rights, ";;;WD)") {
			t.Fatalf("everybody is out of %s before: %s", path, rights)
		}
	}
	return folder, file
}

func TestNobodyElseGetsIntoWhatIsOwned(t *testing.T) {
	for _, account := range []string{"", `NT AUTHORITY\LocalService`, `.\` + os.Getenv("USERNAME")} {
		folder, file := ownable(t)
		if err := (System{}).Own(folder, account); err != nil {
			t.Errorf("account %q: %v", account, err)
		}
		if rights := rightsOf(t, folder); strings.Contains(rights, "WD") || !strings.Contains(rights, "(A;OICI;FA;;;SY)") {
			t.Errorf("account %q: the folder's rights are %s", account, rights)
		}
		if rights := rightsOf(t, file); !strings.Contains(rights, "WD") {
			t.Errorf("account %q: what is in the folder was changed too: %s", account, rights)
		}
		if err := (System{}).Own(file, account); err != nil {
			t.Errorf("account %q: %v", account, err)
		}
		if rights := rightsOf(t, file); strings.Contains(rights, "WD") || !strings.Contains(rights, "(A;;FA;;;SY)") {
			t.Errorf("account %q: the file's rights are %s", account, rights)
		}
	}
}

func TestOwningNeedsAnAccountThatIsAUsers(t *testing.T) {
	folder, _ := ownable(t)
	for _, account := range []string{"Everyone", "Administrators", `.\nobody-of-this-name`} {
		if err := (System{}).Own(folder, account); err == nil || !strings.Contains(err.Error(), account) {
			t.Errorf("account %s: %v", account, err)
		}
	}
	if rights := rightsOf(t, folder); !strings.Contains(rights, ";;;WD)") {
		t.Errorf("the folder was changed: %s", rights)
	}
}

func TestAFileThatHasAnotherNameIsNotOwned(t *testing.T) {
	folder, file := ownable(t)
	if err := os.Link(file, filepath.Join(folder, "other")); err != nil {
		t.Fatal(err)
	}
	if err := (System{}).Own(file, ""); err == nil || !strings.Contains(err.Error(), "hard link") {
		t.Errorf("own of a hard link: %v", err)
	}
	if rights := rightsOf(t, file); !strings.Contains(rights, ";;;WD)") {
		t.Errorf("the file was changed: %s", rights)
	}
	if err := (System{}).Own(filepath.Join(folder, "none"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("own of nothing: %v", err)
	}
}

func TestALinkIsNotOwnedAndNotFollowed(t *testing.T) {
	folder, _ := ownable(t)
	link := folder + "-link"
	if err := os.Symlink(folder, link); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	if _, err := os.Lstat(link); err != nil {
		t.Skipf("this system only says that it makes links, as Wine 8 does: %v", err)
	}
	if err := (System{}).Own(link, ""); err == nil || !strings.Contains(err.Error(), "reparse point") {
		t.Errorf("own of a link: %v", err)
	}
	if rights := rightsOf(t, folder); !strings.Contains(rights, ";;;WD)") {
		t.Errorf("where the link leads was changed: %s", rights)
	}
}

func TestLinksAreToldFromFilesAndFolders(t *testing.T) {
	const file, folder, link = windows.FILE_ATTRIBUTE_ARCHIVE, windows.FILE_ATTRIBUTE_DIRECTORY, windows.FILE_ATTRIBUTE_REPARSE_POINT
	for _, c := range []struct {
		attributes, names uint32
		folder, refused   bool
	}{
		{file, 1, false, false},
		{file, 2, false, true},
		{folder, 1, true, false},
		{folder, 3, true, false}, // as Wine counts the folders in it
		{file | link, 1, false, true},
		{folder | link, 1, false, true}, // a junction
	} {
		if is, err := isFolder(c.attributes, c.names); is != c.folder || (err != nil) != c.refused {
			t.Errorf("attributes %#x, %d names: a folder %v, %v", c.attributes, c.names, is, err)
		}
	}
}

// What is set is read by Windows as it was meant: Wine keeps less of it.
func TestTheRightsOfWhatIsOwnedAreThoseOfNobodyElse(t *testing.T) {
	for want, got := range map[string]string{
		"O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)":                      ownedBy("", true),
		"O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)":                              ownedBy("", false),
		"O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;S-1-5-21-1-2-3-1004)": ownedBy("S-1-5-21-1-2-3-1004", false),
	} {
		sd, err := windows.SecurityDescriptorFromString(got)
		if err != nil || sd.String() != want {
			t.Errorf("%s: %v, want %s", got, err, want)
			continue
		}
		if control, _, err := sd.Control(); err != nil || control&windows.SE_DACL_PROTECTED == 0 {
			t.Errorf("%s inherits more: %#x, %v", got, control, err)
		}
	}
}

func TestOwningTurnsOnThePrivilegesOfARestore(t *testing.T) {
	folder, _ := ownable(t)
	if err := (System{}).Own(folder, ""); err != nil {
		t.Fatal(err)
	}
	var size uint32
	buffer := make([]uint64, 512) // aligned
	if err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenPrivileges, (*byte)(unsafe.Pointer(&buffer[0])), 4096, &size); err != nil {
		t.Fatal(err)
	}
	on := map[windows.LUID]bool{}
	for _, one := range (*windows.Tokenprivileges)(unsafe.Pointer(&buffer[0])).AllPrivileges() {
		on[one.Luid] = one.Attributes&windows.SE_PRIVILEGE_ENABLED != 0
	}
	for name, luid := range map[string]uint32{"take ownership": 9, "backup": 17, "restore": 18} { // wdm.h
		if !on[windows.LUID{LowPart: luid}] {
			t.Errorf("the privilege %s is off", name)
		}
	}
}
