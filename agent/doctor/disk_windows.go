package doctor

import "github.com/reprise-rpa/reprise/agent/winapi"

// disk is what the system tells of files.
type disk struct{}

func (disk) freeSpace(folder string) (uint64, error) { return winapi.System{}.FreeSpace(folder) }

// Others implements FileFacts by the access list.
func (disk) Others(path string) ([]string, error) {
	grants, err := winapi.System{}.GrantsOn(path)
	if err != nil {
		return nil, err
	}
	return readers(grants), nil
}
