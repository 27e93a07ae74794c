package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// The hot key: MOD_WIN and MOD_NOREPEAT of winuser.h, and the code of R.
const (
	modWin, modNoRepeat = 0x0008, 0x4000
	keyR                = 'R'
)

var procRegisterHotKey = windows.NewLazySystemDLL("user32.dll").NewProc("RegisterHotKey")

// serve takes the hot key and says "ready", then opens a dialog each time that it is
// pressed and says "opened".
func serve(ctx context.Context) error {
	runtime.LockOSThread() // the hot key is this thread's
	if ok, _, err := procRegisterHotKey.Call(0, 1, modWin|modNoRepeat, keyR); ok == 0 {
		return fmt.Errorf("register the hot key: %w", err)
	}
	fmt.Println("ready")
	var m win.MSG
	for win.GetMessage(&m, 0, 0, 0) > 0 {
		if m.Message != win.WM_HOTKEY {
			continue
		}
		// RunFileDlg is exported by its number.
		dialog := exec.CommandContext(ctx, "rundll32.exe", "shell32.dll,#61")
		if err := dialog.Start(); err != nil {
			return fmt.Errorf("open the Run dialog: %w", err)
		}
		fmt.Println("opened")
		go func() { _ = dialog.Wait() }() // what became of the dialog is for the person at it
	}
	return nil
}
