//go:build !faultpoint

package faultpoint

// Enabled says whether this build has fault points.
const Enabled = false

// Hit does nothing in this build.
func Hit(string, string) {}

// Handed is empty in this build.
func Handed() string { return "" }

// Take does nothing in this build.
func Take(string) error { return nil }
