package session

import (
	"errors"
	"testing"
	"time"
)

// moment is what a watch is asked or told, so long after the stream's start.
type moment struct {
	after    time.Duration
	welcomed bool
	pong     uint64
	ping     uint64 // that Due returns
	err      error  // that Due returns
}

// A watch whose session must be welcomed in 5 s, with pings after 10 s that are
// answered in 7 s. It is asked at each moment, after it was told.
func TestWhatAWatchDecides(t *testing.T) {
	tests := []struct {
		name    string
		moments []moment
		next    time.Duration
	}{
		{"it waits for the welcome", []moment{{after: 5*time.Second - 1}}, 5 * time.Second},
		{"and not for ever", []moment{{after: 5 * time.Second, err: ErrNotOpened}}, 5 * time.Second},
		{"an answer is no welcome", []moment{{after: time.Second, pong: 1}, {after: 5 * time.Second, err: ErrNotOpened}}, 5 * time.Second},
		{"the first ping counts from the welcome", []moment{{after: 3 * time.Second, welcomed: true}, {after: 13*time.Second - 1}}, 13 * time.Second},
		{"it has its time from then", []moment{{welcomed: true}, {after: 10 * time.Second, ping: 1}, {after: 17*time.Second - 1}}, 17 * time.Second},
		{"and ends the session after it", []moment{{welcomed: true}, {after: 10 * time.Second, ping: 1}, {after: 17 * time.Second, err: ErrPingTimeout}}, 17 * time.Second},
		{"the next one counts from the answer", []moment{{welcomed: true}, {after: 10 * time.Second, ping: 1}, {after: 12 * time.Second, pong: 1}}, 22 * time.Second},
		{
			"an answer is not undone by a later wrong one",
			[]moment{{welcomed: true}, {after: 10 * time.Second, ping: 1}, {after: 12 * time.Second, pong: 1}, {after: 13 * time.Second, pong: 99}, {after: 17 * time.Second}},
			22 * time.Second,
		},
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range tests {
		w := NewWatch(start.Add(5*time.Second), 10*time.Second, 7*time.Second)
		for _, m := range tt.moments {
			now := start.Add(m.after)
			if m.welcomed {
				w.Welcomed(now)
			}
			if m.pong != 0 {
				w.Pong(now, m.pong)
			}
			if ping, err := w.Due(now); ping != m.ping || !errors.Is(err, m.err) {
				t.Errorf("%s: after %v: ping %d, %v; want %d, %v", tt.name, m.after, ping, err, m.ping, m.err)
			}
		}
		if next := w.Next().Sub(start); next != tt.next {
			t.Errorf("%s: next after %v, want %v", tt.name, next, tt.next)
		}
	}
}
