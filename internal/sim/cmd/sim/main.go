// Command sim plays drawn plans of faults against the cores of server and agent and
// says which rule of the contract breaks, if any does.
//
//	sim --seeds 5000     the seeds 1 to 5000
//	sim --seed 17        one, with its story
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-rpa/reprise/internal/sim"
)

func main() {
	seeds := flag.Uint64("seeds", 1000, "how many `plans` to play")
	first := flag.Uint64("first", 1, "the first seed")
	seed := flag.Uint64("seed", 0, "play this `plan` alone and tell its story")
	shrink := flag.Bool("shrink", true, "make a plan that breaks a rule smaller before its story is told")
	flag.Parse()
	if *seed > 0 {
		os.Exit(one(*seed, *shrink))
	}
	os.Exit(many(*first, *seeds, *shrink))
}

// one plays a plan and tells its story.
func one(seed uint64, shrink bool) int {
	p := sim.Draw(seed)
	res := sim.Run(p, true)
	if res.Broken != nil && shrink {
		p = sim.Shrink(p, res.Broken.Rule, 2000)
		res = sim.Run(p, true)
	}
	fmt.Print(res.Tell(p))
	if res.Broken != nil {
		fmt.Println(res.Broken)
		return 1
	}
	fmt.Printf("seed %d: no rule is broken\n", seed)
	return 0
}

// sum is what all plans together came to.
type sum struct {
	schedules, actions, inputs uint64
	faults                     map[sim.What]int
	broken                     []failure
}

type failure struct {
	seed   uint64
	broken *sim.Broken
}

func many(first, seeds uint64, shrink bool) int {
	total := play(first, seeds)
	faults, names := 0, slices.Sorted(maps.Keys(total.faults))
	kinds := make([]string, 0, len(names))
	for _, n := range names {
		faults += total.faults[n]
		kinds = append(kinds, fmt.Sprintf("%s %d", n, total.faults[n]))
	}
	fmt.Printf("%d schedules, %d actions, %d executions, %d faults:\n  %s\n", total.schedules, total.actions, total.inputs, faults, strings.Join(kinds, ", "))
	lost, doubled, reordered, other := 0, 0, 0, 0
	for _, f := range total.broken {
		switch f.broken.Rule {
		case "lost":
			lost++
		case "I8":
			doubled++
		case "I7":
			reordered++
		default:
			other++
		}
	}
	fmt.Printf("lost %d, doubled %d, reordered %d, other rules broken %d\n", lost, doubled, reordered, other)
	if len(total.broken) == 0 {
		return 0
	}
	slices.SortFunc(total.broken, func(a, b failure) int { return int(a.seed) - int(b.seed) })
	worst := total.broken[0]
	fmt.Printf("the first of them is seed %d; its story, made as short as it gets:\n\n", worst.seed)
	one(worst.seed, shrink)
	return 1
}

// play plays the plans, as many at once as there are processors. A broken rule ends
// it.
func play(first, seeds uint64) sum {
	total := sum{faults: map[sim.What]int{}}
	var mu sync.Mutex
	next, stop := first, false
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				over := stop || seed >= first+seeds
				mu.Unlock()
				if over {
					return
				}
				res := sim.Run(sim.Draw(seed), false)
				mu.Lock()
				total.add(seed, res)
				stop = stop || res.Broken != nil
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return total
}

func (s *sum) add(seed uint64, res sim.Result) {
	s.schedules++
	s.actions += uint64(res.Actions)
	s.inputs += uint64(res.Inputs)
	for what, n := range res.Faults {
		s.faults[what] += n
	}
	if res.Broken != nil {
		s.broken = append(s.broken, failure{seed, res.Broken})
	}
}
