//go:build !windows

package main

import "errors"

func openWindows(*ledger) (desk, error) { return nil, errors.New("it runs on Windows alone") }
