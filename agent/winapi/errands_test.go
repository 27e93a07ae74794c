package winapi

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// looping is a thread that works until last is done, upon each word on wake.
func looping(e *errands) (last func(), serve func(made chan<- error)) {
	wake, over := make(chan struct{}, 8), false
	e.wake = func() { wake <- struct{}{} }
	return func() { over = true }, func(made chan<- error) {
		made <- nil
		for !over {
			<-wake
			e.work()
		}
	}
}

func TestAThreadDoesWhatItIsAskedInOrderUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newErrands("the thread of the test")
		last, serve := looping(e)
		if err := e.begin(serve); err != nil {
			t.Fatal(err)
		}
		var did []int
		for i := range 3 {
			if err := e.run(func() { did = append(did, i) }); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // ended again, it has ended already
			if err := e.end(last); err != nil {
				t.Errorf("end: %v", err)
			}
		}
		if err := e.run(func() { did = append(did, 9) }); !errors.Is(err, errLoopEnded) || len(did) != 3 {
			t.Errorf("after its end: %v, %v", err, did)
		}
	})
}

func TestAThreadThatHangsHoldsNobodyUpForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newErrands("the thread of the test")
		last, serve := looping(e)
		if err := e.begin(serve); err != nil {
			t.Fatal(err)
		}
		free, began := make(chan struct{}), time.Now()
		if err := e.run(func() { <-free }); !errors.Is(err, ErrHung) || time.Since(began) != loopPatience {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(free)
		if err := e.end(last); err != nil {
			t.Errorf("end: %v", err)
		}
	})
}

func TestAThreadThatCannotBeginSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("no window can be made")
		e := newErrands("the thread of the test")
		if err := e.begin(func(made chan<- error) { made <- want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if err := newErrands("another").begin(func(chan<- error) { time.Sleep(time.Minute) }); !errors.Is(err, ErrHung) {
			t.Errorf("%v, want %v", err, ErrHung)
		}
		time.Sleep(time.Hour) // it has ended
	})
}
