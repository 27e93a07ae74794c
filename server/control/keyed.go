package control

import "sync"

// keyedMutex is one lock per key, gone when nobody holds it.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*countedMutex
}

type countedMutex struct {
	sync.Mutex
	users int
}

// lock locks a key and returns what unlocks it.
func (k *keyedMutex) lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = map[string]*countedMutex{}
	}
	m := k.locks[key]
	if m == nil {
		m = &countedMutex{}
		k.locks[key] = m
	}
	m.users++
	k.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(k.locks, key)
		}
	}
}
