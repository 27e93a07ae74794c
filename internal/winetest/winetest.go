// Package winetest holds what the tests of the Windows programs need on a machine
// that runs them under Wine: a library that Wine 8 lacks, several monitors on an
// X server, and a summary of a test run. They are aids to tests; nothing of them is
// shipped, and no program of the product imports them.
//
// It decides the bytes of each; tools/wine decides when they are needed.
package winetest
