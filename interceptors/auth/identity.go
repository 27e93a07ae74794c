package auth

import (
	"context"
	"fmt"
)

// Role is what a caller may do.
type Role int

// The roles.
const (
	// RoleOperator is people and services: everything but driving a machine.
	RoleOperator Role = iota + 1
	// RoleAgent is the program on one machine: that machine's stream and pictures.
	RoleAgent
)

var roleNames = map[Role]string{RoleOperator: "operator", RoleAgent: "agent"}

func (r Role) String() string {
	if name, ok := roleNames[r]; ok {
		return name
	}
	return fmt.Sprintf("Role(%d)", int(r))
}

// MarshalText makes a role readable in files.
func (r Role) MarshalText() ([]byte, error) {
	if _, ok := roleNames[r]; !ok {
		return nil, fmt.Errorf("auth: unknown role %d", int(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText refuses a name that is no role.
func (r *Role) UnmarshalText(text []byte) error {
	for role, name := range roleNames {
		if name == string(text) {
			*r = role
			return nil
		}
	}
	return fmt.Errorf("auth: unknown role %q", text)
}

// Identity is who calls.
type Identity struct {
	Role    Role
	Machine string // the one machine of an agent; empty for others
	Name    string // for people: log lines, "paused by"
}

// MayDrive says whether the caller is the agent of machine.
func (id Identity) MayDrive(machine string) bool {
	return id.Role == RoleAgent && id.Machine == machine && machine != ""
}

// mayCall is the table of permissions.
func (id Identity) mayCall(service string) bool {
	switch id.Role {
	case RoleOperator:
		return service != agentService
	case RoleAgent:
		return service == agentService || service == evidenceService
	default:
		return false
	}
}

type (
	identityKey struct{}
	recordKey   struct{}
)

// With returns a context in which From finds id. Handlers get it from the
// interceptors; tests of handlers make their own.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// From returns who calls; false where no token is needed.
func From(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// record lets an interceptor that stands outside of this one learn who called.
type record struct {
	id    Identity
	known bool
}

// WithRecord returns a context in which the caller will be recorded. Recorded
// reads it, in the same goroutine, after the call has returned.
func WithRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordKey{}, &record{})
}

// Recorded returns the caller that was authenticated under a context made by
// WithRecord; false when there was none.
func Recorded(ctx context.Context) (Identity, bool) {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return Identity{}, false
	}
	return r.id, r.known
}
