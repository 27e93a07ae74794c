// Command sim stands in for the simulator: a schedule is a number.
package main

import (
	"flag"
	"fmt"
	"os"

	"standin/core"
)

func main() {
	first := flag.Int("first", 1, "the first seed")
	seeds := flag.Int("seeds", 1, "how many")
	flag.Bool("shrink", true, "there is nothing to shrink")
	flag.Parse()
	for seed := *first; seed < *first+*seeds; seed++ {
		if !core.Keeps(seed) {
			fmt.Printf("seed %d\nbroken: X1 it keeps nothing\n", seed)
			os.Exit(1)
		}
	}
}
