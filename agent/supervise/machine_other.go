//go:build !windows

package supervise

import (
	"context"
	"net"
)

// NewMachine returns ErrUnsupported: there are no user sessions here. On Windows it is
// this machine, whose helpers are started with the command, the program first.
func NewMachine([]string) (Machine, error) { return nil, ErrUnsupported }

func dial(context.Context, invitation) (net.Conn, error) { return nil, ErrUnsupported }
