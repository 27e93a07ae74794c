//go:build !windows

package main

import (
	"context"
	"errors"
)

func serve(context.Context) error { return errors.New("it runs on Windows alone") }
