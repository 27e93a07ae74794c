package winapi

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// The libraries come from the system's own folder, whatever lies beside the program.
var (
	user32   = windows.NewLazySystemDLL("user32.dll")
	gdi32    = windows.NewLazySystemDLL("gdi32.dll")
	imm32    = windows.NewLazySystemDLL("imm32.dll")
	shcore   = windows.NewLazySystemDLL("shcore.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	wtsapi32 = windows.NewLazySystemDLL("wtsapi32.dll")
)

// errSilent stands for an error that Windows gives no number for.
var errSilent = errors.New("windows gives no reason")

// try calls a procedure that answers 0 when it fails. lxn/win throws the last error
// away; this keeps it.
//
//go:uintptrescapes
func try(p *windows.LazyProc, args ...uintptr) (uintptr, error) {
	if err := p.Find(); err != nil {
		return 0, fmt.Errorf("%s: %w (%w)", p.Name, ErrNotHere, err)
	}
	r, _, last := p.Call(args...)
	if r == 0 {
		return 0, failure(p.Name, last)
	}
	return r, nil
}

// ask calls a procedure whose answer is a value and no failure; 0 where it is missing.
//
//go:uintptrescapes
func ask(p *windows.LazyProc, args ...uintptr) uintptr {
	if p.Find() != nil {
		return 0
	}
	r, _, _ := p.Call(args...)
	return r
}

func failure(name string, last error) error {
	var number syscall.Errno
	switch {
	case !errors.As(last, &number) || number == 0:
		return fmt.Errorf("%s: %w", name, errSilent)
	case number == windows.ERROR_CALL_NOT_IMPLEMENTED || number == windows.ERROR_NOT_SUPPORTED:
		return fmt.Errorf("%s: %w (%w)", name, ErrNotHere, last)
	case number == windows.ERROR_INVALID_WINDOW_HANDLE:
		return fmt.Errorf("%s: %w (%w)", name, ErrGone, last)
	}
	return fmt.Errorf("%s: %w", name, last)
}
