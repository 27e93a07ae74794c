//go:build unix

package main

import "syscall"

// privateFiles makes every file and folder that the program creates readable by
// its owner alone: the journal holds what workflows type.
func privateFiles() { syscall.Umask(0o077) }
