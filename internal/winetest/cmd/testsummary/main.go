// Command testsummary reads what go test -json says and tells how each package did,
// how many tests ran, and why those were skipped that were. It ends with 1 when one
// failed, or none ran. It is an aid to tests.
package main

import (
	"fmt"
	"os"

	"github.com/reprise-rpa/reprise/internal/winetest"
)

func main() {
	sum, err := winetest.Summarize(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}
	if err != nil || sum.Failed || sum.Total.Run() == 0 {
		os.Exit(1)
	}
}
