// Package id makes ids: short, sortable by time, unique without asking anybody.
package id

import "github.com/rs/xid"

// New returns a fresh id with a prefix that says what it names, such as r for a
// replay. It holds no '-'.
func New(prefix string) string { return prefix + xid.New().String() }
