package main

import "github.com/reprise-rpa/reprise/agent/winapi"

// programData is the folder for what programs keep for all users. A console and a
// service, whose variables may differ, are told the same one.
func programData() (string, error) { return winapi.System{}.ProgramData() }
