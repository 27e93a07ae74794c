//go:build !unix

package main

// held knows nothing where the journal locks nothing.
func held(string) error { return nil }
