package control

import (
	"fmt"
	"sync"
	"testing"
)

// A watcher that never looks holds up nobody, and learns all of what it missed.
func TestWhoeverTouchesIsNeverHeldUp(t *testing.T) {
	var c Changes
	asleep := c.subscribe()
	defer asleep.end()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				c.Touch(fmt.Sprint("m", (i*j)%10))
			}
		})
	}
	all.Wait()
	<-asleep.wake
	if ids := asleep.take(); len(ids) != 10 {
		t.Errorf("%v", ids)
	}
	if ids := asleep.take(); len(ids) != 0 {
		t.Errorf("told twice: %v", ids)
	}
}

// What is touched after a watcher took what there was wakes it again.
func TestNoTouchIsLostBetweenTwoLooks(t *testing.T) {
	var c Changes
	w := c.subscribe()
	c.Touch("a")
	<-w.wake
	w.take()
	c.Touch("b")
	<-w.wake
	if _, ok := w.take()["b"]; !ok {
		t.Error("b is lost")
	}
	w.end()
	c.Touch("c")
	if len(w.wake) != 0 || len(c.watchers) != 0 {
		t.Error("a watcher that has ended is woken")
	}
}
