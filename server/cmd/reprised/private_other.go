//go:build !unix

package main

// privateFiles does nothing where a folder's access list decides.
func privateFiles() {}
