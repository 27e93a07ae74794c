package winapi

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

var (
	powrprof               = windows.NewLazySystemDLL("powrprof.dll")
	procPowerGetActive     = powrprof.NewProc("PowerGetActiveScheme")
	procPowerReadPlugged   = powrprof.NewProc("PowerReadACValueIndex")
	procPowerReadOnBattery = powrprof.NewProc("PowerReadDCValueIndex")
)

var hives = map[Hive]registry.Key{CurrentUser: registry.CURRENT_USER, LocalMachine: registry.LOCAL_MACHINE}

// RegistryText reads a value of the registry that is a text. False: it is not there.
func (System) RegistryText(h Hive, path, name string) (value string, found bool, err error) {
	found, err = readValue(h, path, name, func(k registry.Key) (err error) {
		value, _, err = k.GetStringValue(name)
		return err
	})
	return value, found, err
}

// RegistryNumber reads a value of the registry that is a number. False: it is not there.
func (System) RegistryNumber(h Hive, path, name string) (value uint64, found bool, err error) {
	found, err = readValue(h, path, name, func(k registry.Key) (err error) {
		value, _, err = k.GetIntegerValue(name)
		return err
	})
	return value, found, err
}

func readValue(h Hive, path, name string, read func(registry.Key) error) (bool, error) {
	key, err := registry.OpenKey(hives[h], path, registry.QUERY_VALUE)
	if err == nil {
		err = read(key)
		_ = key.Close()
	}
	switch {
	case errors.Is(err, registry.ErrNotExist), errors.Is(err, windows.ERROR_PATH_NOT_FOUND):
		return false, nil
	case err != nil:
		return false, fmt.Errorf(`registry, %s\%s: %w`, path, name, err)
	}
	return true, nil
}

// PowerSetting is the value of a setting in the power plan that is in force, plugged in
// or on battery. ErrNotHere: this Windows does not tell.
func (System) PowerSetting(group, setting PowerGUID, onBattery bool) (uint32, error) {
	read := procPowerReadPlugged
	if onBattery {
		read = procPowerReadOnBattery
	}
	for _, p := range []*windows.LazyProc{procPowerGetActive, read} {
		if err := p.Find(); err != nil {
			return 0, fmt.Errorf("power settings: %w (%w)", ErrNotHere, err)
		}
	}
	var plan *windows.GUID
	if code, _, _ := procPowerGetActive.Call(0, uintptr(unsafe.Pointer(&plan))); code != 0 {
		return 0, powerFailure(code)
	}
	if plan == nil {
		return 0, fmt.Errorf("power settings: %w", ErrNotHere)
	}
	defer func() { _, _ = windows.LocalFree(windows.Handle(unsafe.Pointer(plan))) }()
	var value uint32
	code, _, _ := read.Call(0, uintptr(unsafe.Pointer(plan)), uintptr(unsafe.Pointer(&group)),
		uintptr(unsafe.Pointer(&setting)), uintptr(unsafe.Pointer(&value)))
	if code != 0 {
		return 0, powerFailure(code)
	}
	return value, nil
}

// powerFailure is the error of a call that answers with its code.
func powerFailure(code uintptr) error {
	number := windows.Errno(code)
	if number == windows.ERROR_CALL_NOT_IMPLEMENTED || number == windows.ERROR_FILE_NOT_FOUND {
		return fmt.Errorf("power settings: %w (%w)", ErrNotHere, number)
	}
	return fmt.Errorf("power settings: %w", number)
}
