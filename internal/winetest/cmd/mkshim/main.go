// Command mkshim writes the library that Wine 8 lacks and Go programs need. It is an
// aid to tests, for a Wine prefix and no real Windows.
package main

import (
	"fmt"
	"os"

	"github.com/reprise-rpa/reprise/internal/winetest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mkshim FILE, such as …/system32/"+winetest.ShimName)
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], winetest.Shim(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "mkshim:", err)
		os.Exit(1)
	}
}
