// Package archtest holds the test of the directions in which packages may import
// each other. It has no code of its own: the rules are the test.
package archtest
