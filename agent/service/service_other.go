//go:build !windows

package service

import (
	"context"
	"log/slog"
)

// Connect is ErrUnsupported on this system.
func Connect() (*Service, error) { return nil, ErrUnsupported }

// ConnectToLook is ErrUnsupported: services are of Windows.
func ConnectToLook() (*Service, error) { return nil, ErrUnsupported }

// OpenEvents is ErrUnsupported on this system.
func OpenEvents() (*EventLog, error) { return nil, ErrUnsupported }

// Run is ErrUnsupported on this system.
func Run(context.Context, Program, Sink) error { return ErrUnsupported }

// EventLog is the Windows Event Log; there is none on this system.
type EventLog struct{}

// Write implements Sink.
func (*EventLog) Write(uint32, slog.Level, string) error { return ErrUnsupported }

// Close ends the connection.
func (*EventLog) Close() error { return nil }

// OwnedByAdministrators is ErrUnsupported on this system.
func OwnedByAdministrators(string) (bool, error) { return false, ErrUnsupported }

func own(string, string) error { return ErrUnsupported }
