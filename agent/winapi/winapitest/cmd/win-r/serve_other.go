//go:build !windows

package main

import "errors"

func serve() error { return errors.New("it runs on Windows alone") }
