// Package core stands in for the core: the mutants of a test change it.
package core

// Keeps says whether schedule number seed keeps its promise.
func Keeps(seed int) bool {
	return seed > 0
}
