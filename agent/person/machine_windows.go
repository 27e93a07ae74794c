package person

import "github.com/reprise-rpa/reprise/agent/winapi"

func newMachine() (machine, error) {
	loop, err := winapi.StartLoop()
	if err != nil {
		return nil, err
	}
	return loop, nil
}
