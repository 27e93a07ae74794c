package mutants

import (
	"context"
	"sync"
)

// Each hunts mutants, several at a time, and tells of each one in the order of the
// list. It returns how many were caught.
func (h Hunt) Each(ctx context.Context, list []Mutant, atOnce int, tell func(Result)) int {
	results := make([]chan Result, len(list))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	next := make(chan int)
	var hunters sync.WaitGroup
	for range min(atOnce, len(list)) {
		hunters.Go(func() {
			for i := range next {
				results[i] <- h.Catch(ctx, list[i])
			}
		})
	}
	hunters.Go(func() {
		defer close(next)
		for i := range list {
			next <- i
		}
	})
	caught := 0
	for _, result := range results {
		r := <-result
		if r.Caught {
			caught++
		}
		tell(r)
	}
	hunters.Wait()
	return caught
}
