//go:build !windows

package main

// programData is what the folder mostly is on the system that has one.
func programData() (string, error) { return `C:\ProgramData`, nil }
