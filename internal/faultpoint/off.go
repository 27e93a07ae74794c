//go:build !faultpoint

package faultpoint

// Enabled says whether this build has fault points.
const Enabled = false

// Hit does nothing in this build.
func Hit(string, string) {}
